"""The result of a measurement: all that a report shows, and nothing it would have to work out."""

from dataclasses import dataclass
from enum import StrEnum

from ssediag.model.mechanism import Fix, Verdict
from ssediag.model.recording import Clock, Hop, Stage
from ssediag.model.stream import Ending


class Origin(StrEnum):
    """Whether a mechanism works at this hop or was already in what it received."""

    HERE = "here"
    INHERITED = "inherited"


class Pairing(StrEnum):
    """How two hops were compared: the same events on both sides, or separate runs."""

    SAME_STREAM = "same-stream"
    SEPARATE_RUNS = "separate-runs"


class Severity(StrEnum):
    """How much a finding weighs."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Unit(StrEnum):
    """Unit of an evidence value. Values in ``ns`` are shown in milliseconds."""

    NS = "ns"
    BYTES = "bytes"
    EVENTS = "events"
    COUNT = "count"
    SHARE = "share"
    RATIO = "ratio"
    WORD = "word"


@dataclass(frozen=True, slots=True)
class Evidence:
    """One fact a verdict stands on; ``bound`` is what it was held against."""

    fact: str
    value: float | str
    unit: Unit
    bound: float | str | None


@dataclass(frozen=True, slots=True)
class FoundMechanism:
    """A mechanism seen at a hop. ``parameters``: name and value; names ending ``_ns`` are times."""

    id: str
    confidence: float
    origin: Origin
    parameters: tuple[tuple[str, float], ...]
    evidence: tuple[Evidence, ...]
    fixes: tuple[Fix, ...]


@dataclass(frozen=True, slots=True)
class Alternative:
    """Another mechanism that explains the same arrivals."""

    mechanism: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Culprit:
    """The first step that turns per-token output into something else.

    ``hop`` is the outer end of the guilty step; ``inner`` is None when hop 0 itself does it.
    """

    hop: str
    inner: str | None
    mechanism: str
    confidence: float
    alternatives: tuple[Alternative, ...]
    because: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Product:
    """Who a hop is, and the header or body that says so."""

    name: str
    because: str


@dataclass(frozen=True, slots=True)
class Attempt:
    """One run at one hop: done (``outcome`` "ok"), or why not."""

    run: int
    experiment: str | None
    outcome: Stage | None  # None: ok
    reason: str | None
    ending: Ending | None


@dataclass(frozen=True, slots=True)
class Metrics:
    """Medians over the plain runs; counts are those of the median run. None: not measured."""

    run_count: int
    request_sent_ns: int | None = None
    headers_ns: int | None = None
    first_event_ns: int | None = None
    first_token_ns: int | None = None
    last_event_ns: int | None = None
    closed_ns: int | None = None
    event_count: int = 0
    token_event_count: int | None = None
    burst_count: int | None = None
    events_per_burst_p50: float | None = None
    events_per_burst_max: int | None = None
    burst_bytes_p50: float | None = None
    burst_period_ns_p50: int | None = None
    gap_ns_p50: int | None = None
    gap_ns_p95: int | None = None
    longest_silence_ns: int | None = None
    smoothness: float | None = None
    clock: Clock | None = None
    floor_ns: int | None = None
    undated_share: float | None = None


@dataclass(frozen=True, slots=True)
class HopResult:
    """Everything known about one hop.

    ``arrivals_ns`` are the arrival times of the median run's events, for the timeline;
    ``span_ns`` is how long that run was watched.
    """

    hop: Hop
    protocol: str | None
    status: int | None
    dialect: str | None
    verdict: Verdict
    product: Product | None
    mechanisms: tuple[FoundMechanism, ...]
    metrics: Metrics
    attempts: tuple[Attempt, ...]
    headers: tuple[tuple[str, str], ...]
    arrivals_ns: tuple[int, ...]
    span_ns: int | None


@dataclass(frozen=True, slots=True)
class StepResult:
    """What changed between two neighbouring hops. ``operator`` None: could not be told."""

    inner: str
    outer: str
    pairing: Pairing
    operator: str | None
    added_first_event_ns: int | None
    added_delay_ns: tuple[int, int, int] | None  # p50, p95, max; same-stream pairs only
    headers_added: tuple[str, ...]
    headers_removed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """Something worth saying that is not a rhythm. Never without evidence."""

    id: str
    severity: Severity
    hop: str | None
    affects: str
    summary: str
    evidence: str
    fix: str | None


@dataclass(frozen=True, slots=True)
class Experiment:
    """A variation that was tried: what was varied, and what it decided (None: nothing)."""

    name: str
    varied: str
    decided: str | None


@dataclass(frozen=True, slots=True)
class Cost:
    """What the measurement took."""

    request_count: int
    token_count: int
    elapsed_ns: int


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The whole answer. ``exit_code`` follows the contract's table."""

    verdict: Verdict
    exit_code: int
    culprit: Culprit | None
    hops: tuple[HopResult, ...]
    steps: tuple[StepResult, ...]
    findings: tuple[Finding, ...]
    experiments: tuple[Experiment, ...]
    cost: Cost
    not_observable: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Context:
    """Under what circumstances the answer was found; shown in every report.

    ``began_at`` is RFC 3339, ``command`` the command line with secrets masked.
    ``rights`` says what this process may do (``"none"``, ``"root"``…).
    """

    version: str
    command: str
    began_at: str
    python: str
    platform: str
    clock: str
    rights: str
