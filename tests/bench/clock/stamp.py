"""The stamping server in Python: over TLS, HTTP/1.1 and HTTP/2, and where there is no C compiler.

``python -m tests.bench.clock.stamp EVENTS GAP_NS GROUP [PEM]`` prints its port and niceness. The
stamps are taken around the whole of framing, encryption and send: they are inside the error.
"""

import os
import socket
import ssl
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import StreamEnded

EVENT = (
    '"id":"c","object":"chat.completion.chunk","created":1,"model":"m",'
    '"choices":[{"index":0,"delta":{"content":"token"},"finish_reason":null}],'
)
END = b"data: [DONE]\n\n"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
FIRST_WAIT_NS = 50_000_000
Send = Callable[[bytes], None]
Play = Callable[[Send], None]


def play(events: int, gap_ns: int, group: int, send: Send) -> None:
    """Send the stream; each event says when it was sent, and when the send before had returned."""
    began_ns = time.monotonic_ns() + FIRST_WAIT_NS
    sent_ns = 0
    for index in range(events):
        if index % group == 0:
            wait_ns = began_ns + index // group * gap_ns - time.monotonic_ns()
            time.sleep(max(wait_ns, 0) / 1e9)
        stamps = f'"last_sent":"{sent_ns:019}","ts":"{time.time_ns():019}"'
        send(f"data: {{{EVENT}{stamps}}}\n\n".encode())
        sent_ns = time.time_ns()
    send(END)


def speak_http1(connection: socket.socket, play_to: Play) -> None:
    request = b""
    while b"\r\n\r\n" not in request or not request.endswith(b"}"):
        got = connection.recv(65536)
        if not got:
            return
        request += got
    connection.sendall(HEAD)
    play_to(lambda event: connection.sendall(b"%x\r\n%b\r\n" % (len(event), event)))
    connection.sendall(b"0\r\n\r\n")


def speak_http2(connection: socket.socket, play_to: Play) -> None:
    http = H2Connection(H2Configuration(client_side=False))
    http.initiate_connection()

    def take() -> int | None:
        """Take what the client says; the stream whose request is whole, if one is now."""
        connection.sendall(http.data_to_send())
        asked = [e for e in http.receive_data(connection.recv(65536)) if isinstance(e, StreamEnded)]
        connection.sendall(http.data_to_send())
        return asked[0].stream_id if asked else None

    asked = None
    while asked is None:
        asked = take()
    stream_id = asked

    def send(event: bytes) -> None:
        while http.local_flow_control_window(stream_id) < len(event):
            take()
        http.send_data(stream_id, event)
        connection.sendall(http.data_to_send())

    http.send_headers(stream_id, [(":status", "200"), ("content-type", "text/event-stream")])
    play_to(send)
    http.end_stream(stream_id)
    connection.sendall(http.data_to_send())


def serve(raw: socket.socket, tls: ssl.SSLContext | None, play_to: Play) -> None:
    raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    # A reader that has what it wants may go at any time.
    with suppress(OSError), raw:
        connection = raw if tls is None else tls.wrap_socket(raw, server_side=True)
        alpn = connection.selected_alpn_protocol() if isinstance(connection, ssl.SSLSocket) else ""
        (speak_http2 if alpn == "h2" else speak_http1)(connection, play_to)
        if isinstance(connection, ssl.SSLSocket):
            connection = connection.unwrap()
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(65536):
            """Until the client has gone: closing before would reset what it has not read."""


def main() -> None:
    events, gap_ns, group = (int(word) for word in sys.argv[1:4])
    tls = None
    if len(sys.argv) > 4:
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(sys.argv[4])
        tls.set_alpn_protocols(["h2", "http/1.1"])
    with suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, 0, -20)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        print(listener.getsockname()[1], os.getpriority(os.PRIO_PROCESS, 0), flush=True)
        while True:
            raw, _ = listener.accept()
            threading.Thread(
                target=serve,
                args=(raw, tls, lambda send: play(events, gap_ns, group, send)),
                daemon=True,
            ).start()


if __name__ == "__main__":
    main()
