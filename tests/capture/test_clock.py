import socket
import sys

import pytest

from ssediag.capture import clock, tcp_info

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Linux dates what is received")


def test_bytes_over_loopback_come_with_a_kernel_time() -> None:
    assert clock.kernel_stamps_work()


def test_the_floor_is_measured_and_above_zero() -> None:
    floor_ns = clock.clock_floor_ns()
    assert floor_ns is not None
    assert 0 < floor_ns < 100_000_000


def test_the_kernel_counts_bytes_and_segments() -> None:
    assert clock.tcp_info_works()


def test_the_wait_for_a_processor_can_be_read() -> None:
    assert clock.run_queue_readable()


def test_a_unix_socket_has_neither_stamps_nor_counters() -> None:
    with socket.socket(socket.AF_UNIX) as connection:
        assert not clock.enable_kernel_stamps(connection)
        assert tcp_info.counting(connection)() == b""


def test_control_messages_of_another_kind_are_no_stamp() -> None:
    assert clock.kernel_stamp_ns([(socket.SOL_SOCKET, 1, b"\x00" * 16)]) is None


def test_an_older_kernels_shorter_answer_is_no_count() -> None:
    assert tcp_info.counters(b"\x01" * 104) is None


def test_a_fin_is_not_counted_as_a_byte() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.socket() as receiver:
        receiver.connect(listener.getsockname())
        sender, _ = listener.accept()
        with sender:
            sender.send(b"abc")
        count = tcp_info.counting(receiver)
        assert receiver.recv(10) == b"abc"
        assert receiver.recv(10) == b""
        counted = tcp_info.counters(count())
    assert counted == tcp_info.Counters(3, 1, 0)
