"""How fast events are decoded and dated, against other decoders, side by side in one run.

``python -m tests.bench.sse [--quick]`` needs the extra ``bench``. Every decoder gets the same bytes
in the same pieces. Ours gives events as bytes with their places, and each is tied to the piece that
brought its last byte that says something: that is its date. The others only give events; those that
read text get it decoded first, which is their real use. Nobody keeps what it gave. The figure is
the best of several interleaved rounds: other programs only ever take time away. Exit code 1 if
something that must hold does not.
"""

import sys
from bisect import bisect_left
from collections.abc import Callable, Iterator
from time import perf_counter_ns

import sseclient
from httpx_sse._decoders import SSEDecoder, SSELineDecoder
from openai._streaming import SSEDecoder as OpenAIDecoder

from ssediag.decode.sse import EventStreamDecoder

CHAT = (
    b'data: {"id":"chatcmpl-0123456789abcdefABCDEF01","object":"chat.completion.chunk","created":'
    b'1700000000,"model":"m-small-0001","system_fingerprint":"fp_0123456789","choices":[{"index":0,'
    b'"delta":{"content":" token"},"logprobs":null,"finish_reason":null}],"usage":null}\n\n'
)
NAMED = (
    b'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,'
    b'"delta":{"type":"text_delta","text":" token"}}\n\n'
)
STREAMS = {
    "chat": CHAT,
    "named events": NAMED,
    "chat, CR LF": CHAT.replace(b"\n", b"\r\n"),
}
ONE_EVENT = "1 event"
PIECE_BYTES = {ONE_EVENT: 0, "1 B": 1, "50 B": 50, "320 B": 320, "1448 B": 1448, "64 KiB": 65_536}
EVENT_COUNT = 4_000
DATED = "ssediag, dated"
PEER = "httpx-sse"


def ssediag_dated(pieces: list[bytes]) -> tuple[int, list[int]]:
    decoder = EventStreamDecoder()
    feed, events = decoder.feed, decoder.events
    ends: list[int] = []
    dates: list[int] = []
    end = 0
    for index, piece in enumerate(pieces):
        feed(piece)
        if events:
            for _, _, _, _, says, _ in events:
                dates.append(index if says > end else bisect_left(ends, says))
            events.clear()
        end += len(piece)
        ends.append(end)
    return len(dates), dates


def ssediag(pieces: list[bytes]) -> tuple[int, None]:
    decoder = EventStreamDecoder()
    feed, events = decoder.feed, decoder.events
    count = 0
    for piece in pieces:
        feed(piece)
        if events:
            count += len(events)
            events.clear()
    return count, None


def httpx_sse(pieces: list[bytes]) -> tuple[int, None]:
    decode_lines, decode = SSELineDecoder().decode, SSEDecoder().decode
    count = 0
    for piece in pieces:
        for line in decode_lines(piece.decode()):
            if decode(line) is not None:
                count += 1
    return count, None


class Source:
    """What sseclient-py reads: a response."""

    def __init__(self, pieces: list[bytes]) -> None:
        self._pieces = pieces

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._pieces)

    def close(self) -> None:
        """Nothing is open."""


def sseclient_py(pieces: list[bytes]) -> tuple[int, None]:
    return sum(1 for _ in sseclient.SSEClient(Source(pieces)).events()), None


def openai(pieces: list[bytes]) -> tuple[int, None]:
    return sum(1 for _ in OpenAIDecoder().iter_bytes(iter(pieces))), None


DECODERS: dict[str, Callable[[list[bytes]], tuple[int, list[int] | None]]] = {
    DATED: ssediag_dated,
    "ssediag": ssediag,
    PEER: httpx_sse,
    "sseclient-py": sseclient_py,
    "openai": openai,
}


def rates_of(event: bytes, piece_bytes: int, round_count: int) -> dict[str, float]:
    """Events per second of each decoder; ends the program if one is wrong."""
    body = event * EVENT_COUNT
    pieces = [body[at : at + piece_bytes] for at in range(0, len(body), piece_bytes)]
    said = len(event.rstrip(b"\r\n"))
    dates = [(at * len(event) + said - 1) // piece_bytes for at in range(EVENT_COUNT)]
    best_ns: dict[str, float] = dict.fromkeys(DECODERS, float("inf"))
    for _ in range(round_count):
        for name, decode in DECODERS.items():
            began_ns = perf_counter_ns()
            count, dated = decode(pieces)
            best_ns[name] = min(best_ns[name], perf_counter_ns() - began_ns)
            if count != EVENT_COUNT or (dated is not None and dated != dates):
                sys.exit(f"{name} is wrong")
    return {name: EVENT_COUNT / taken_ns * 1e9 for name, taken_ns in best_ns.items()}


def main() -> None:
    round_count = 3 if "--quick" in sys.argv else 9
    checks = []
    for stream, event in STREAMS.items():
        title = f"{stream}, {len(event)} B"
        print(f"{title:<22}" + "".join(f"{name:>16}" for name in DECODERS) + "  (events/s)")
        for pieces, piece_bytes in PIECE_BYTES.items():
            rates = rates_of(event, piece_bytes or len(event), round_count)
            print(f"  {pieces:<20}" + "".join(f"{rate:>16,.0f}" for rate in rates.values()))
            least = 2.5 if (stream, pieces) == ("chat", ONE_EVENT) else 1.0
            checks.append((f"{stream}, {pieces}", rates[DATED] / rates[PEER], least))
    print("\nmust hold")
    for title, ratio, least in checks:
        held = "yes" if ratio >= least else "NO "
        print(f"  {held}  {title}: dated {ratio:.2f}x {PEER}, at least {least}")
    sys.exit(0 if all(ratio >= least for _, ratio, least in checks) else 1)


if __name__ == "__main__":
    main()
