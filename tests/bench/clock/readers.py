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
from itertools import pairwise
from typing import Any

STAMP = re.compile(rb'"ts":"(\d{19})"')
DAY_NS = 86_400 * 1_000_000_000
BODY = b'{"model":"m","messages":[{"role":"user","content":"x"}],"stream":true}'


def read_ssediag(url: str) -> dict[str, Any]:
    from ssediag.capture.dial import HttpVersion, Route
    from ssediag.capture.http import capture
    from ssediag.decode.unwrap import Unwrapper, unwrap
    from ssediag.diagnose.facts import run_facts
    from ssediag.model.recording import Hop, Quality
    from ssediag.model.request import Limits, Request

    version = HttpVersion.HTTP_1_1 if url.endswith("#h1") else HttpVersion.AUTO
    headers = (("Content-Type", "application/json"),)
    recording = capture(
        Hop("hop", url, 0), Request("POST", url.partition("#")[0], headers, BODY), Limits(),
        run=1, experiment=None, route=Route(verify=False, http_version=version),
        watch=Unwrapper(),
    )  # fmt: skip
    stream = unwrap(recording, with_data=True)
    reads, began_ns = stream.reads, stream.began_epoch_ns
    errors, outside, wrong, sent = [], 0, 0, []
    for text, read in zip(stream.events.data or (), stream.events.data_read, strict=True):
        found = STAMP.search(text.encode())
        if found is None:
            continue
        stamp = int(found[1])
        sent.append((stamp, read))
        errors.append(began_ns + reads.latest_ns[read] - stamp)
        # the server stamps before it sends: the way to us lies between stamp and arrival
        late = (
            reads.quality[read] is not Quality.UNKNOWN and stamp > began_ns + reads.latest_ns[read]
        )
        early = stamp < began_ns + reads.earliest_ns[read] - 1_000_000
        outside += late or early
    facts = run_facts(stream)
    together_ns = facts.cadence.together_ns
    for (left, left_read), (right, right_read) in pairwise(sent):
        dated = Quality.UNKNOWN not in {reads.quality[left_read], reads.quality[right_read]}
        close = reads.latest_ns[right_read] - reads.earliest_ns[left_read] <= together_ns
        wrong += dated and close and right - left > 2 * together_ns
    return {
        "errors": errors, "outside": outside, "wrong": wrong, "gaps": max(len(sent) - 1, 0),
        "undated": facts.cadence.undated_count,
    }  # fmt: skip


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
        # the SDK brings its own HTTP client; over TLS it would need the lab's authority
        client = openai.AsyncOpenAI(base_url=url.partition("#")[0], api_key="x", max_retries=0)
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
    version = "--http1.1" if url.endswith("#h1") else "--http2"
    words = ["curl", "-skN", version, "-d", BODY.decode(), "--trace-ascii", "-", "--trace-time",
             "-o", "/dev/null", url.partition("#")[0]]  # fmt: skip
    out = subprocess.run(words, capture_output=True, check=True).stdout.decode("latin-1")
    midnight_ns = time.time_ns() // DAY_NS * DAY_NS
    errors, at_ns = [], 0
    for line in out.splitlines():
        timed = re.match(r"(\d\d):(\d\d):(\d\d)\.(\d{6}) <= Recv data", line)
        if timed:
            hours, minutes, seconds, micros = (int(part) for part in timed.groups())
            at_ns = midnight_ns + ((hours * 60 + minutes) * 60 + seconds) * 10**9 + micros * 1000
        elif at_ns:
            errors.extend(at_ns - int(stamp) for stamp in STAMP.findall(line.encode("latin-1")))
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
