"""One reader of a stamped stream, in a process of its own: prints its arrival errors as JSON.

``python -m tests.bench.clock.readers NAME URL [--hog]``; an error is the time that the reader
gives an event less the time that the server wrote into it, in nanoseconds.
"""

import asyncio
import json
import re
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from typing import Any

from ssediag.measure import cadence
from ssediag.measure.arrivals import arrivals_of
from ssediag.model.recording import Quality
from ssediag.model.stream import Stream

SENT = re.compile(r'"last_sent":"(\d{19})","ts":"(\d{19})"')
STAMP = re.compile(rb'"ts":"(\d{19})"')
DAY_NS = 86_400 * 1_000_000_000
BODY = b'{"model":"m","messages":[{"role":"user","content":"x"}],"stream":true}'


def read_ssediag(url: str) -> dict[str, Any]:
    from ssediag.capture.dial import HttpVersion, Route
    from ssediag.capture.http import capture
    from ssediag.decode.unwrap import Unwrapper, unwrap
    from ssediag.model.recording import Hop
    from ssediag.model.request import Limits, Request

    version = HttpVersion.HTTP_1_1 if url.endswith("#h1") else HttpVersion.AUTO
    headers = (("Content-Type", "application/json"),)
    recording = capture(
        Hop("hop", url, 0), Request("POST", url.partition("#")[0], headers, BODY), Limits(),
        run=1, experiment=None, route=Route(verify=False, http_version=version),
        watch=Unwrapper(),
    )  # fmt: skip
    return judge(unwrap(recording, with_data=True))


def judge(stream: Stream) -> dict[str, Any]:
    """What ssediag says of each event and of each gap, against what the server knows.

    An event that is ``unknown`` has no error: nothing is claimed of it but its interval.
    """
    arrivals = arrivals_of(stream)
    together_ns = cadence.cadence_of(arrivals).together_ns
    sendings = sendings_of(stream)
    errors, outside, calls = [], 0, Counter[str]()
    for index, (before_ns, after_ns) in sendings.items():
        read = stream.events.data_read[index]
        earliest_ns = stream.began_epoch_ns + stream.reads.earliest_ns[read]
        latest_ns = stream.began_epoch_ns + stream.reads.latest_ns[read]
        outside += latest_ns < before_ns or earliest_ns > after_ns
        if stream.reads.quality[read] is not Quality.UNKNOWN:
            errors.append(latest_ns - before_ns)
    for left, right in pairwise(sendings):
        near_ns = sendings[right][0] - sendings[left][1]
        far_ns = sendings[right][1] - sendings[left][0]
        pair = (arrivals.event_delivery[left], arrivals.event_delivery[right])
        # One gap at a time; the stream's own threshold.
        together, apart, undated = cadence._gaps(
            replace(arrivals, event_delivery=pair), together_ns
        )
        calls["undated"] += undated
        calls["together"] += together
        calls["wrongly together"] += together and near_ns > together_ns
        calls["apart"] += apart
        calls["wrongly apart"] += apart and far_ns <= together_ns
    return {"errors": errors, "outside": outside, "events": len(sendings), "calls": calls}


def sendings_of(stream: Stream) -> dict[int, tuple[int, int]]:
    """When the send of each stamped event began, and when it had returned, by its index.

    The last one's end is in no event, so it is left out.
    """
    found = {}
    for index, text in enumerate(stream.events.data or ()):
        stamps = SENT.search(text)
        if stamps is not None:
            found[index] = int(stamps[1]), int(stamps[2])
    return {left: (found[left][1], found[right][0]) for left, right in pairwise(found)}


def _client_arguments() -> dict[str, Any]:
    return {"verify": False, "timeout": 60}


def read_httpx(url: str) -> dict[str, Any]:
    import httpx

    errors: list[int] = []

    async def run() -> None:
        async with (
            httpx.AsyncClient(http2=not url.endswith("#h1"), **_client_arguments()) as client,
            client.stream("POST", url.partition("#")[0], content=BODY) as response,
        ):
            async for data in response.aiter_raw():
                now_ns = time.time_ns()
                errors.extend(now_ns - int(stamp) for stamp in STAMP.findall(data))

    asyncio.run(run())
    return {"errors": errors}


def read_httpx_sse(url: str) -> dict[str, Any]:
    import httpx
    import httpx_sse

    errors: list[int] = []

    async def run() -> None:
        async with (
            httpx.AsyncClient(http2=not url.endswith("#h1"), **_client_arguments()) as client,
            httpx_sse.aconnect_sse(client, "POST", url.partition("#")[0], content=BODY) as source,
        ):
            async for event in source.aiter_sse():
                now_ns = time.time_ns()
                errors.extend(now_ns - int(s) for s in STAMP.findall(event.data.encode()))

    asyncio.run(run())
    return {"errors": errors}


def read_openai(url: str) -> dict[str, Any]:
    import openai

    errors: list[int] = []

    async def run() -> None:
        http = openai.DefaultAsyncHttpxClient(verify=False, http2=not url.endswith("#h1"))
        base_url = url.partition("#")[0].removesuffix("/chat/completions")
        client = openai.AsyncOpenAI(base_url=base_url, api_key="x", max_retries=0, http_client=http)
        stream = await client.chat.completions.create(
            model="m", messages=[{"role": "user", "content": "x"}], stream=True
        )
        async for chunk in stream:
            now_ns = time.time_ns()
            stamp = (chunk.model_extra or {}).get("ts")
            if stamp:
                errors.append(now_ns - int(stamp))

    asyncio.run(run())
    return {"errors": errors}


def read_curl(url: str) -> dict[str, Any]:
    version = "--http2" if url.startswith("https:") and not url.endswith("#h1") else "--http1.1"
    words = ["curl", "-skN", version, "-d", BODY.decode(), "--trace-ascii", "-", "--trace-time",
             "-o", "/dev/null", url.partition("#")[0]]  # fmt: skip
    out = subprocess.run(words, capture_output=True, check=True).stdout.decode("latin-1")
    midnight_ns = time.time_ns() // DAY_NS * DAY_NS
    errors: list[int] = []
    for block in re.split(r"^(?=\d\d:\d\d:\d\d\.\d{6} )", out, flags=re.MULTILINE):
        timed = re.match(r"(\d\d):(\d\d):(\d\d)\.(\d{6}) <= Recv data", block)
        if timed:
            hours, minutes, seconds, micros = (int(part) for part in timed.groups())
            at_ns = midnight_ns + ((hours * 60 + minutes) * 60 + seconds) * 10**9 + micros * 1000
            shown = "".join(re.findall(r"^[0-9a-f]{4}: (.*)$", block, flags=re.MULTILINE))
            errors.extend(at_ns - int(stamp) for stamp in STAMP.findall(shown.encode()))
    # its clock is off by a constant of up to a second: the smallest error is taken for zero
    return {"errors": [error - min(errors) for error in errors]}


READERS = {
    "ssediag (kernel)": read_ssediag,
    "httpx aiter_raw": read_httpx,
    "httpx-sse": read_httpx_sse,
    "openai SDK": read_openai,
    "curl --trace-time": read_curl,
}


def main() -> None:
    name, url, *flags = sys.argv[1:]
    stop = threading.Event()

    def hog() -> None:
        number = 0
        while not stop.is_set():
            number = (number * 3 + 1) & 0xFFFF

    hogging = threading.Thread(target=hog)
    if "--hog" in flags:
        hogging.start()
    try:
        print(json.dumps(READERS[name](url)))
    finally:
        stop.set()


if __name__ == "__main__":
    main()
