"""Read recordings back and judge them with the code that judges a live probe."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ssediag.capture.store import read_recording
from ssediag.diagnose.diagnosis import diagnose
from ssediag.jobs.compare import Measurement
from ssediag.model.stream import Stream


def diagnose_files(paths: Sequence[Path], allowed: frozenset[str]) -> Measurement:
    """Diagnose recording files. Raises RecordingError for a file that is none.

    The hops of one file keep their places. Hops of several files follow one another in the
    order of the files, inner first; a hop name that comes again is the same hop.
    """
    streams = merge([read_recording(path) for path in paths])
    elapsed_ns = sum(max(stream.phases.closed_ns or 0, 0) for stream in streams)
    return Measurement(
        diagnose(streams, elapsed_ns=elapsed_ns, allowed=allowed), tuple(streams), interrupted=False
    )


def merge(files: Sequence[Sequence[Stream]]) -> list[Stream]:
    """Give the hops of several recordings one order."""
    places: dict[str, int] = {}
    merged: list[Stream] = []
    for streams in files:
        for name in _names(streams):
            places.setdefault(name, len(places))
        for stream in streams:
            hop = replace(stream.hop, position=places[stream.hop.name])
            merged.append(replace(stream, hop=hop))
    return merged


def _names(streams: Sequence[Stream]) -> list[str]:
    ordered = sorted({stream.hop for stream in streams}, key=lambda hop: hop.position)
    return [hop.name for hop in ordered]
