"""``probe --follow`` as a user runs it: a line per connection, a summary, exit codes."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ssediag.capture.store import read_recording
from tests.jobs.scripted import STREAM, Answer, served

NO_CONTENT = Answer(status="204 No Content", headers=())
CUT = Answer(
    "retry: 100\nid: 1\ndata: a\n\nid: 2\ndata: b\n\n", headers=(STREAM, "Content-Length: 999")
)
REST = Answer("id: 3\ndata: c\n\ndata: [DONE]\n\n")


def ssediag(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "ssediag", *words],
        capture_output=True, text=True, check=False, timeout=60, stdin=subprocess.DEVNULL,
    )  # fmt: skip


def test_a_line_for_each_connection_and_a_summary() -> None:
    with served(CUT, REST) as server:
        shown = ssediag("probe", "--follow", server.url)
    assert shown.returncode == 0
    assert shown.stderr == ""
    first, second, empty, *summary = shown.stdout.splitlines()
    assert first.startswith("#1 ")
    assert first.endswith("cut: shorter than it was announced, again in 100 ms")
    assert "from id 2, 2 events in" in second
    assert "after an outage of" in second
    assert empty == ""
    assert summary[0] == "The stream goes on where it was, whenever it was asked again"
    assert summary[1].startswith("1 reconnect as an EventSource, 4 events, longest outage ")
    assert summary[2] == "0 events missing, 0 events twice (by the events' ids)"


def test_json_has_every_connection(tmp_path: Path) -> None:
    recording, lines = tmp_path / "r.jsonl", tmp_path / "lines.jsonl"
    with served(CUT, REST) as server:
        shown = ssediag(
            "probe", "--follow", f"gate={server.url}?api_key=c4n4ry", "-f", "json",
            "-o", f"jsonl={lines}", "--save", str(recording),
        )  # fmt: skip
    document = json.loads(shown.stdout)
    assert (document["schema_version"], document["kind"]) == (1, "follow")
    assert (document["verdict"], document["exit_code"]) == ("streams", 0)
    assert document["reconnect_count"] == 1
    assert document["longest_outage_ms"] >= 100
    cut, rest = document["connections"]
    assert (cut["end"], cut["wait_ms"], cut["sent_last_event_id"]) == ("cut", 100.0, None)
    assert (rest["end"], rest["wait_ms"], rest["sent_last_event_id"]) == ("done", None, "2")
    assert cut["asked_at"] < rest["asked_at"]
    assert document["continuity"] == {
        "basis": "id", "duplicate_count": 0, "missing_count": 0, "restarted_connections": [],
    }  # fmt: skip
    *connections, last = [json.loads(line) for line in lines.read_text("utf-8").splitlines()]
    assert connections == document["connections"]
    assert last == {"summary": document}
    assert [len(stream.events) for stream in read_recording(recording)] == [2, 2]
    assert "c4n4ry" not in shown.stdout + lines.read_text("utf-8") + recording.read_text("utf-8")


def test_a_stream_that_begins_anew_is_a_fault() -> None:
    with served(CUT, CUT, NO_CONTENT) as server:
        shown = ssediag("probe", "--follow", server.url)
    assert shown.returncode == 3
    assert "from its start again: #2" in shown.stdout


def test_what_never_was_a_stream_is_not_measured() -> None:
    with served(Answer("{}", headers=("Content-Type: application/json",))) as server:
        shown = ssediag("probe", "--follow", server.url, "-f", "jsonl")
    assert shown.returncode == 4
    connection, _ = [json.loads(line) for line in shown.stdout.splitlines()]
    assert connection["reason"] == "status 200, application/json"


def test_the_number_of_reconnects_makes_it_a_fetch_client() -> None:
    with served(CUT) as server:
        shown = ssediag("probe", "--reconnects", "0", server.url)
    assert shown.returncode == 3
    assert "0 reconnects as a fetch client, 2 events" in shown.stdout


def test_a_server_cannot_write_to_the_terminal() -> None:
    nasty = "id: \x1b[31m\u202e\ndata: a\n\n"
    with served(Answer(f"retry: 100\n{nasty}"), Answer(nasty), NO_CONTENT) as server:
        shown = ssediag("probe", "--follow", server.url)
    assert not any(letter in shown.stdout for letter in "\x1b\u202e")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_it_with_its_summary(number: signal.Signals, code: int) -> None:
    answers = [CUT, Answer("retry: 60000\n\n" + REST.body.partition("data: [")[0])]
    with served(*answers) as server, subprocess.Popen(
        [sys.executable, "-m", "ssediag", "probe", "--follow", "--timeout", "5m", server.url],
        stdout=subprocess.PIPE, text=True,
    ) as running:  # fmt: skip
        assert running.stdout is not None
        assert "#1" in running.stdout.readline()
        assert "again in 60 s" in running.stdout.readline()
        running.send_signal(number)
        out, _ = running.communicate(timeout=20)
    assert running.returncode == code
    assert "stopped: interrupted" in out


def test_only_one_live_hop_is_followed() -> None:
    shown = ssediag("compare", "--follow", "http://127.0.0.1:9/", "http://127.0.0.1:9/b")
    assert shown.returncode == 2
    assert "one live URL" in shown.stderr


def test_a_file_that_cannot_be_written_is_said_before_anything_is_sent(tmp_path: Path) -> None:
    with served() as server:
        shown = ssediag("probe", "--follow", server.url, "-o", f"json={tmp_path}/no/file")
    assert shown.returncode == 74
    assert shown.stdout == ""
