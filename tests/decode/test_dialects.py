"""What the payload formats say: which events are tokens, how many, and which end a stream."""

import json
from typing import Any

import pytest

from ssediag.decode.dialects import recognise
from ssediag.decode.dialects.openai_chat import read
from ssediag.model.stream import EventKind, Stream
from tests.decode.recordings import CHUNKED, LAST_CHUNK, chunk, taken

END = b"[DONE]"
FILTERS = {"choices": [], "object": "", "prompt_filter_results": [{"prompt_index": 0}]}


def delta(reason: str | None = None, usage: Any = None, **fields: Any) -> bytes:
    choice = {"index": 0, "delta": fields, "finish_reason": reason}
    return chunk_of([choice], usage)


def chunk_of(choices: list[dict[str, Any]], usage: Any = None) -> bytes:
    document = {"object": "chat.completion.chunk", "choices": choices, "usage": usage}
    return json.dumps(document).encode()


def counted(count: int) -> dict[str, int]:
    return {"prompt_tokens": 9, "completion_tokens": count}


def streamed(*events: bytes, **options: Any) -> Stream:
    body = b": ping\n\n" + b"".join(b"data: " + event + b"\n\n" for event in events)
    return taken(CHUNKED + chunk(body) + LAST_CHUNK, **options)


def kinds(stream: Stream) -> list[str]:
    return [kind.value for kind in stream.events.kind]


def test_an_openai_stream() -> None:
    stream = streamed(
        delta(role="assistant", content="", refusal=None), delta(content="One"),
        delta("length"), chunk_of([], counted(3)), END,
    )  # fmt: skip
    assert kinds(stream) == ["role", "token", "other", "usage", "end"]
    assert stream.events.token_count == (None,) * 5
    assert (stream.finish_reason, stream.usage_tokens) == ("length", 3)
    assert (stream.dialect, stream.terminator) == ("openai-chat", True)


def test_an_azure_stream_begins_with_filter_results() -> None:
    annotation = json.dumps({"object": "", "choices": [{"index": 0, "content_filter_offsets": {}}]})
    stream = streamed(
        json.dumps(FILTERS).encode(), delta(role="assistant", content=""), delta(content="One"),
        annotation.encode(), delta("stop"), END,
    )  # fmt: skip
    assert stream.dialect == "openai-chat"
    assert kinds(stream) == ["other", "role", "token", "other", "other", "end"]


def test_a_vllm_stream_tells_its_tokens_by_ids() -> None:
    def with_ids(ids: list[int], **fields: Any) -> bytes:
        choice = {"index": 0, "delta": fields, "finish_reason": None, "token_ids": ids}
        return chunk_of([choice], counted(1))

    stream = streamed(
        delta(role="assistant", content="", usage=counted(0)), with_ids([5, 6], reasoning="Hm"),
        with_ids([7], content="One"), END,
    )  # fmt: skip
    assert kinds(stream) == ["role", "reasoning", "token", "end"]
    assert stream.events.token_count == (None, 2, 1, None)


def test_usage_that_grows_tells_the_tokens_of_each_event() -> None:
    stream = streamed(
        delta(role="assistant", content="", usage=counted(0)),
        delta(content="One", usage=counted(2)), delta(content=" two", usage=counted(5)), END,
    )  # fmt: skip
    assert stream.events.token_count == (None, 2, 3, None)


def test_a_total_beside_the_last_text_is_not_the_tokens_of_that_text() -> None:
    stream = streamed(
        delta(content="One"), delta(content=" two"), delta("stop", counted(3), content="."), END,
    )  # fmt: skip
    assert stream.events.token_count == (None,) * 4
    assert stream.usage_tokens == 3


def test_usage_tells_tokens_again_once_it_was_brought_up_to_date() -> None:
    stream = streamed(
        delta(content="One"), delta(content=" two", usage=counted(2)),
        delta(content=" three", usage=counted(5)),
    )  # fmt: skip
    assert stream.events.token_count == (None, None, 3)


def test_a_litellm_stream_ends_with_usage_in_an_empty_choice() -> None:
    stream = streamed(
        delta(role="assistant", content="One"), delta(reasoning_content="hm", content=""),
        delta("stop"), delta(usage=counted(3)), END,
    )  # fmt: skip
    assert kinds(stream) == ["token", "reasoning", "other", "usage", "end"]
    assert stream.events.token_count == (None,) * 5


def test_log_probabilities_tell_the_tokens_of_an_event() -> None:
    choice = {"index": 0, "delta": {"content": "ab"}, "logprobs": {"content": [{}, {}]}}
    assert read(b"", chunk_of([choice]), 0).token_count == 2


def test_tool_calls_have_the_text_of_their_arguments() -> None:
    calls = [{"index": 0, "function": {"name": "f", "arguments": '{"a":'}}]
    reading = read(b"", delta(tool_calls=calls), 0)
    assert (reading.kind, reading.text_bytes) == (EventKind.TOOL, 5)


@pytest.mark.parametrize("ended", [True, False])
def test_an_error_inside_a_200_is_found(*, ended: bool) -> None:
    error = b'{"error":{"message":"boom","type":"server_error","code":500}}'
    stream = streamed(delta(content="One"), error, *([END] if ended else []))
    assert kinds(stream)[1] == "error"
    assert (stream.error, stream.terminator) == ("boom", ended)


def test_an_error_in_place_of_the_first_chunk_is_no_token() -> None:
    stream = streamed(b'{"error":{"message":"overloaded"}}')
    assert (kinds(stream), stream.error) == (["error"], "overloaded")


@pytest.mark.parametrize(
    ("named", "kind", "error"),
    [
        (b"event: error\ndata: it broke\n\n", "error", "it broke"),
        (b"event: error\ndata: [1]\n\n", "error", "[1]"),
        (b'event: error\ndata: {"type":"error","message":"boom"}\n\n', "error", "boom"),
        (b'event: ping\ndata: {"error":"boom"}\n\n', "error", "boom"),
        (b'event: ping\ndata: {"type":"ping"}\n\n', "keepalive", None),
    ],
)
def test_a_named_event_in_a_chat_stream_is_what_its_name_says(
    named: bytes, kind: str, error: str | None
) -> None:
    stream = taken(CHUNKED + chunk(b"data: " + delta(content="One") + b"\n\n" + named))
    assert (kinds(stream), stream.error) == (["token", kind], error)


@pytest.mark.parametrize(
    "data",
    [
        b"", b"{", b"[1]", b"7", b"null", b"\xff\xfe", b"[" * 100_000,
        b'{"n":' + b"9" * 5000 + b"}",
        b'{"choices":7}', b'{"choices":[7]}', b'{"choices":[{"delta":7}]}',
        b'{"choices":[{"delta":{"content":7}}],"usage":7}',
        b'{"choices":[{"delta":{"tool_calls":[7,{"function":7}]},"logprobs":7,"token_ids":7}]}',
    ],
)  # fmt: skip
def test_a_chunk_of_any_other_shape_is_no_token(data: bytes) -> None:
    reading = read(b"", data, 0)
    assert reading.kind in {EventKind.OTHER, EventKind.TOOL}
    assert (reading.text_bytes, reading.token_count) == (0, None)


def test_lone_surrogates_and_broken_text_are_counted_all_the_same() -> None:
    assert read(b"", b'{"choices":[{"delta":{"content":"\\ud83d"}}]}', 0).text_bytes == 3
    assert read(b"", b'{"choices":[{"delta":{"content":"a\xff"}}]}', 0).kind is EventKind.TOKEN


def test_a_plain_stream_is_of_tokens_but_for_pings_errors_and_its_end() -> None:
    body = (
        b"event: ping\ndata: {}\n\ndata: \n\ndata: abc\n\nevent: Heartbeat\ndata: 1\n\n"
        b"event: error\ndata: it broke\n\ndata: [DONE]\n\n"
    )
    stream = taken(CHUNKED + chunk(body) + LAST_CHUNK)
    assert kinds(stream) == ["keepalive", "other", "token", "keepalive", "error", "end"]
    assert stream.events.text_bytes == (0, 0, 3, 0, 0, 0)
    assert (stream.dialect, stream.error, stream.terminator) == ("sse-plain", "it broke", True)


def test_the_first_event_that_says_something_tells_the_dialect() -> None:
    assert recognise(b"", b"") is None
    assert recognise(b"ping", b'{"choices":[],"delta":1}') is None
    body = b"event: ping\ndata: {}\n\ndata: " + delta(content="One") + b"\n\n"
    stream = taken(CHUNKED + chunk(body) + LAST_CHUNK)
    assert (stream.dialect, stream.terminator) == ("openai-chat", False)
    assert kinds(stream) == ["keepalive", "token"]


@pytest.mark.parametrize(
    ("name", "kind"), [("sse-plain", "token"), ("openai-chat", "role"), ("auto", "role")]
)
def test_a_dialect_can_be_forced_by_name(name: str, kind: str) -> None:
    stream = streamed(delta(role="assistant", content=""), dialect=name)
    assert kinds(stream) == [kind]
