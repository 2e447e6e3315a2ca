import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h2.config
import h2.connection
import h2.errors
import h2.events
import pytest

from ssediag.capture.dial import HttpVersion, Route
from ssediag.model.recording import Closing, NotMeasured, Quality, Recording, Stage
from ssediag.model.request import Limits

Serve = Callable[..., str]
Probe = Callable[..., Recording]
MS = 1_000_000
TRUSTING = Route(verify=False)
PRIOR_KNOWLEDGE = Route(http_version=HttpVersion.PRIOR_KNOWLEDGE)


def serve_http2(peer: Any, *bodies: bytes, end: bool = True) -> h2.connection.H2Connection:
    """Speak HTTP/2 until the request is complete, then send each body in a frame of its own."""
    state = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False))
    state.initiate_connection()
    complete = False
    while not complete:
        peer.send(state.data_to_send(), pause=0)
        data = peer.connection.recv(65536)
        events = state.receive_data(data)
        complete = any(isinstance(event, h2.events.StreamEnded) for event in events)
    state.send_headers(1, [(":status", "200"), ("content-type", "text/event-stream")])
    peer.send(state.data_to_send())
    for body in bodies:
        state.send_data(1, body)
        peer.send(state.data_to_send())
    if end:
        state.end_stream(1)
        peer.send(state.data_to_send())
    return state


def plaintext_of(recording: Recording) -> bytes:
    return b"".join(read.data for read in recording.reads)


def test_a_self_signed_certificate_is_not_trusted(
    serve: Serve, probe: Probe, certificate: Path
) -> None:
    recording = probe(f"https://{serve(lambda peer: peer.secure(certificate))}/")
    reason = "certificate verify failed: self-signed certificate"
    assert recording.not_measured == NotMeasured(Stage.TLS, reason)
    assert recording.reads == ()


def test_a_certificate_of_another_name_is_not_trusted(
    serve: Serve, probe: Probe, certificate: Path
) -> None:
    host, port = serve(lambda peer: peer.secure(certificate)).split(":")
    route = Route(ca_file=str(certificate), connect_to=(host, int(port)))
    recording = probe("https://api.example.invalid/", route=route)
    assert recording.not_measured.stage == Stage.TLS
    assert recording.not_measured.reason.startswith("certificate verify failed: Hostname mismatch")


@pytest.mark.parametrize("trust", ["anybody", "the authority"])
def test_plaintext_is_recorded_when_the_certificate_is_accepted(
    serve: Serve, probe: Probe, certificate: Path, trust: str
) -> None:
    def script(peer: Any) -> None:
        peer.secure(certificate)
        peer.answer(b"Content-Length: 18")
        peer.send(b"data: 1\n\n", b"data: 2\n\n", pause=0.05)

    route = TRUSTING if trust == "anybody" else Route(ca_file=str(certificate))
    recording = probe(f"https://{serve(script)}/", route=route)
    assert plaintext_of(recording).endswith(b"\r\n\r\ndata: 1\n\ndata: 2\n\n")
    assert [read.data for read in recording.reads[1:]] == [b"data: 1\n\n", b"data: 2\n\n"]
    assert {read.quality for read in recording.reads[1:]} == {Quality.EXACT}
    assert (recording.protocol, recording.closing) == ("http/1.1", Closing.FINISHED)
    assert recording.phases.connected_ns < recording.phases.secured_ns < 0


def test_two_records_in_one_segment_are_two_reads_of_one_arrival(
    serve: Serve, probe: Probe, certificate: Path
) -> None:
    def script(peer: Any) -> None:
        peer.secure(certificate)
        peer.answer(b"Content-Length: 18")
        peer.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)
        peer.send(b"data: 1\n\n", b"data: 2\n\n", pause=0)
        peer.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 0)

    recording = probe(f"https://{serve(script)}/", route=TRUSTING)
    first, second = recording.reads[1:]
    assert (first.data, second.data) == (b"data: 1\n\n", b"data: 2\n\n")
    assert (first.segment_count, second.segment_count) == (1, 0)
    assert (first.earliest_ns, first.latest_ns) == (second.earliest_ns, second.latest_ns)


def test_clear_text_on_the_port_is_named(serve: Serve, probe: Probe) -> None:
    def script(peer: Any) -> None:
        peer.connection.recv(65536)
        peer.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    recording = probe(f"https://{serve(script)}/")
    reason = "the port speaks plain HTTP, not TLS"
    assert recording.not_measured == NotMeasured(Stage.TLS, reason)


def test_tls_on_a_clear_text_port_is_named(serve: Serve, probe: Probe) -> None:
    def script(peer: Any) -> None:
        peer.read_request()
        peer.send(b"\x15\x03\x01\x00\x02\x02\x46")

    recording = probe(f"http://{serve(script)}/")
    reason = "the port speaks TLS, not plain HTTP"
    assert recording.not_measured == NotMeasured(Stage.HEADERS, reason)


def test_a_close_during_the_handshake(serve: Serve, probe: Probe) -> None:
    recording = probe(f"https://{serve(lambda peer: peer.connection.recv(65536))}/")
    reason = "the connection ended during the TLS handshake"
    assert recording.not_measured == NotMeasured(Stage.TLS, reason)


def test_silence_during_the_handshake(serve: Serve, probe: Probe) -> None:
    address = serve(lambda peer: peer.wait_for_close())
    recording = probe(f"https://{address}/", Limits(connect_ns=200 * MS))
    reason = "no TLS handshake within 200 ms"
    assert recording.not_measured == NotMeasured(Stage.TLS, reason)
    assert recording.closing == Closing.TIMED_OUT


def test_a_missing_ca_file_is_named(probe: Probe) -> None:
    recording = probe("https://127.0.0.1:1/", route=Route(ca_file="/nowhere/ca.pem"))
    reason = "cannot use the CA file /nowhere/ca.pem: No such file or directory"
    assert recording.not_measured == NotMeasured(Stage.TLS, reason)


def test_an_https_answer_through_a_proxy_leaves_the_proxys_own_out(
    serve: Serve, probe: Probe, certificate: Path
) -> None:
    def script(peer: Any) -> None:
        peer.read_request()
        peer.send(b"HTTP/1.1 200 Connection established\r\n\r\n")
        peer.request = b""
        peer.secure(certificate)
        peer.answer(b"Content-Length: 9")
        peer.send(b"data: 1\n\n")

    route = Route(verify=False, proxy=f"http://{serve(script)}")
    recording = probe("https://api.example.invalid/", route=route)
    assert recording.not_measured is None
    assert plaintext_of(recording).startswith(b"HTTP/1.1 200 OK\r\n")


def test_http_2_is_agreed_on_with_tls(serve: Serve, probe: Probe, certificate: Path) -> None:
    def script(peer: Any) -> None:
        peer.secure(certificate, "h2", "http/1.1")
        serve_http2(peer, b"data: 1\n\n", b"data: 2\n\n")

    recording = probe(f"https://{serve(script)}/", route=TRUSTING, method="POST", body=b"{}")
    assert (recording.protocol, recording.closing) == ("h2", Closing.FINISHED)
    assert [read.data.count(b"\n\n") for read in recording.reads][-3:] == [1, 1, 0]


def test_http_1_is_spoken_where_http_2_was_not_to_be_offered(
    serve: Serve, probe: Probe, certificate: Path
) -> None:
    def script(peer: Any) -> None:
        peer.secure(certificate, "h2", "http/1.1")
        peer.answer(b"Content-Length: 0")

    route = Route(verify=False, http_version=HttpVersion.HTTP_1_1)
    assert probe(f"https://{serve(script)}/", route=route).protocol == "http/1.1"


def test_http_2_with_prior_knowledge(serve: Serve, probe: Probe) -> None:
    def script(peer: Any) -> None:
        serve_http2(peer, b"data: 1\n\n", b"data: 2\n\n")

    recording = probe(f"http://{serve(script)}/", route=PRIOR_KNOWLEDGE)
    assert (recording.protocol, recording.closing) == ("h2", Closing.FINISHED)
    answers = [read for read in recording.reads if read.latest_ns >= 0]
    assert [read.data.count(b"\n\n") for read in answers][-3:] == [1, 1, 0]


def test_a_stream_reset_before_any_header_is_named(serve: Serve, probe: Probe) -> None:
    def script(peer: Any) -> None:
        state = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False))
        state.initiate_connection()
        while not any(
            isinstance(event, h2.events.StreamEnded)
            for event in state.receive_data(peer.connection.recv(65536))
        ):
            peer.send(state.data_to_send())
        state.reset_stream(1, h2.errors.ErrorCodes.REFUSED_STREAM)
        peer.send(state.data_to_send())
        peer.wait_for_close()

    recording = probe(f"http://{serve(script)}/", route=PRIOR_KNOWLEDGE)
    reason = "the peer reset the stream before any header: REFUSED_STREAM (7)"
    assert recording.not_measured == NotMeasured(Stage.HEADERS, reason)


def test_a_stream_reset_after_events_is_data(serve: Serve, probe: Probe) -> None:
    def script(peer: Any) -> None:
        state = serve_http2(peer, b"data: 1\n\n", end=False)
        state.reset_stream(1, h2.errors.ErrorCodes.INTERNAL_ERROR)
        peer.send(state.data_to_send())
        peer.wait_for_close()

    recording = probe(f"http://{serve(script)}/", route=PRIOR_KNOWLEDGE)
    assert (recording.closing, recording.not_measured) == (Closing.RESET, None)
    assert b"data: 1\n\n" in plaintext_of(recording)


def test_a_stream_that_goes_on_after_goaway_is_read_on(serve: Serve, probe: Probe) -> None:
    """A server that shuts down in order announces it and finishes its streams."""

    def script(peer: Any) -> None:
        serve_http2(peer, b"data: 1\n\n", end=False)
        goaway = b"\x00\x00\x08\x07\x00" + bytes(4) + b"\x00\x00\x00\x01" + bytes(4)
        last = b"\x00\x00\x09\x00\x01\x00\x00\x00\x01data: 2\n\n"
        peer.send(goaway, last)
        peer.connection.shutdown(socket.SHUT_WR)
        peer.wait_for_close()

    recording = probe(f"http://{serve(script)}/", route=PRIOR_KNOWLEDGE)
    assert (recording.closing, recording.not_measured) == (Closing.FIN, None)
    assert plaintext_of(recording).endswith(b"data: 2\n\n")


def test_http_2_frames_that_break_the_rules_end_the_capture(serve: Serve, probe: Probe) -> None:
    def script(peer: Any) -> None:
        serve_http2(peer, b"data: 1\n\n", end=False)
        peer.send(b"\x00\x00\x03\x06\x00\x00\x00\x00\x00abc")
        peer.wait_for_close()

    recording = probe(f"http://{serve(script)}/", route=PRIOR_KNOWLEDGE)
    assert recording.not_measured.stage == Stage.BODY
    assert recording.not_measured.reason.startswith("the framing broke: ")
