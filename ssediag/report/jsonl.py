"""JSON Lines: a line per event of every run, and the report as the last line."""

from collections.abc import Iterator, Sequence
from typing import Any

from ssediag.model.diagnosis import Context, Diagnosis
from ssediag.model.stream import Stream
from ssediag.report.json import json_document, json_text


def jsonl_report(
    diagnosis: Diagnosis, context: Context, streams: Sequence[Stream]
) -> Iterator[str]:
    """The lines, without their ends. ``data`` is there only if it was kept."""
    for stream in streams:
        for index in range(len(stream.events)):
            yield json_text(_event(stream, index))
    yield json_text({"summary": json_document(diagnosis, context)})


def _event(stream: Stream, index: int) -> dict[str, Any]:
    events, reads = stream.events, stream.reads
    read = events.data_read[index]
    return {
        "hop": stream.hop.name,
        "run": stream.run,
        "experiment": stream.experiment,
        "index": index,
        "kind": events.kind[index].value,
        "arrival_ns": reads.latest_ns[read],
        "earliest_epoch_ns": stream.began_epoch_ns + reads.earliest_ns[read],
        "latest_epoch_ns": stream.began_epoch_ns + reads.latest_ns[read],
        "quality": reads.quality[read].value,
        "read_index": read,
        "event_bytes": events.size_bytes[index],
        "data": None if events.data is None else events.data[index],
    }
