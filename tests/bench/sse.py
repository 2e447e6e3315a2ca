"""How fast events are decoded and placed, against other decoders, side by side in one run.

``python -m tests.bench.sse``. Each decoder gets the same bytes in the same pieces: ours gives
events with their offsets, the others give events; those that read text get decoded text, which is
their real use. Best of several interleaved rounds. Exit code 1 if what must hold does not.
"""

import sys
from collections.abc import Callable, Iterable, Iterator
from time import perf_counter_ns

import sseclient
from httpx_sse._decoders import SSEDecoder, SSELineDecoder
from openai._streaming import SSEDecoder as OpenAIDecoder

from ssediag.decode.sse import EventStreamDecoder

EVENT = (
    b'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":'
    b'[{"index":0,"delta":{"content":"token"},"finish_reason":null}],"usage":null,"service":"x"}\n\n'
)
EVENT_COUNT = 20_000
ROUNDS = 5
SIZES = {"1 event": len(EVENT), "1448 B": 1448, "64 KiB": 65_536}


def ours(pieces: list[bytes]) -> int:
    decoder = EventStreamDecoder()
    for piece in pieces:
        decoder.feed(piece)
    return len(decoder.events)


def httpx_sse(pieces: list[bytes]) -> int:
    lines, decoder, count = SSELineDecoder(), SSEDecoder(), 0
    for piece in pieces:
        for line in lines.decode(piece.decode()):
            count += decoder.decode(line.rstrip("\n")) is not None
    return count


def sseclient_py(pieces: list[bytes]) -> int:
    class Source:
        def __iter__(self) -> Iterator[bytes]:
            return iter(pieces)

        def close(self) -> None:
            """Nothing is open."""

    return sum(1 for _ in sseclient.SSEClient(Source()).events())


def openai(pieces: list[bytes]) -> int:
    def read() -> Iterable[bytes]:
        return iter(pieces)

    return sum(1 for _ in OpenAIDecoder().iter_bytes(iter(read())))


DECODERS: dict[str, Callable[[list[bytes]], int]] = {
    "ssediag": ours,
    "httpx-sse": httpx_sse,
    "sseclient-py": sseclient_py,
    "openai": openai,
}


def main() -> None:
    body = EVENT * EVENT_COUNT
    checks = []
    print(f"{'events per second':<20}" + "".join(f"{name:>14}" for name in DECODERS))
    for title, size in SIZES.items():
        pieces = [body[at : at + size] for at in range(0, len(body), size)]
        best = dict.fromkeys(DECODERS, float("inf"))
        for _ in range(ROUNDS):
            for name, decode in DECODERS.items():
                began = perf_counter_ns()
                count = decode(pieces)
                best[name] = min(best[name], perf_counter_ns() - began)
                if count != EVENT_COUNT:
                    sys.exit(f"{name} found {count} events")
        rates = {name: EVENT_COUNT / taken * 1e9 for name, taken in best.items()}
        print(f"{title:<20}" + "".join(f"{rates[name]:>14,.0f}" for name in DECODERS))
        ratio = rates["ssediag"] / rates["httpx-sse"]
        checks.append((title, ratio, 2.5 if title == "1 event" else 1.0))
    for title, ratio, least in checks:
        held = "yes" if ratio >= least else "NO "
        print(f"  {held}  {title}: {ratio:.2f}x httpx-sse (at least {least})")
    sys.exit(0 if all(ratio >= least for _, ratio, least in checks) else 1)


if __name__ == "__main__":
    main()
