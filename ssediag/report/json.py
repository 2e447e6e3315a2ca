"""The JSON report, schema version 1: the contract that scripts rely on."""

import json
from typing import Any

from ssediag.model.diagnosis import (
    Attempt,
    Context,
    Culprit,
    Diagnosis,
    Evidence,
    Finding,
    FoundMechanism,
    HopResult,
    Metrics,
    StepResult,
    Unit,
)
from ssediag.report.wording import milliseconds, seconds

SCHEMA_VERSION = 1


def json_report(diagnosis: Diagnosis, context: Context) -> str:
    """The report as indented JSON. Times are milliseconds; what is absent is null."""
    return json_text(json_document(diagnosis, context), indent=2)


def json_text(document: dict[str, Any], *, indent: int | None = None) -> str:
    """``document`` as JSON of printable ASCII, fit for a terminal: json itself leaves DEL as is."""
    return json.dumps(document, indent=indent, ensure_ascii=True).replace("\x7f", "\\u007f")


def json_document(diagnosis: Diagnosis, context: Context) -> dict[str, Any]:
    """The report as plain values."""
    return {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "ssediag", "version": context.version},
        "command": context.command,
        "began_at": context.began_at,
        "environment": {
            "python": context.python,
            "platform": context.platform,
            "clock": context.clock,
            "rights": context.rights,
        },
        "verdict": diagnosis.verdict.value,
        "exit_code": diagnosis.exit_code,
        "culprit": _culprit(diagnosis.culprit),
        "hops": [_hop(hop) for hop in diagnosis.hops],
        "steps": [_step(step) for step in diagnosis.steps],
        "checks": [],
        "findings": [_finding(finding) for finding in diagnosis.findings],
        "experiments": [
            {"name": tried.name, "varied": tried.varied, "decided": tried.decided}
            for tried in diagnosis.experiments
        ],
        "cost": {
            "requests": diagnosis.cost.request_count,
            "tokens": diagnosis.cost.token_count,
            "seconds": seconds(diagnosis.cost.elapsed_ns),
        },
        "not_observable": list(diagnosis.not_observable),
    }


def _culprit(culprit: Culprit | None) -> dict[str, Any] | None:
    if culprit is None:
        return None
    return {
        "hop": culprit.hop,
        "step": {"inner": culprit.inner, "outer": culprit.hop},
        "mechanism": culprit.mechanism,
        "confidence": culprit.confidence,
        "alternatives": [
            {"mechanism": other.mechanism, "confidence": other.confidence}
            for other in culprit.alternatives
        ],
        "because": list(culprit.because),
    }


def _hop(result: HopResult) -> dict[str, Any]:
    product = result.product
    return {
        "name": result.hop.name,
        "target": result.hop.target,
        "position": result.hop.position,
        "role": result.hop.role.value,
        "protocol": result.protocol,
        "status": result.status,
        "dialect": result.dialect,
        "verdict": result.verdict.value,
        "product": (
            None if product is None else {"name": product.name, "because": product.because}
        ),
        "mechanisms": [_mechanism(mechanism) for mechanism in result.mechanisms],
        "metrics": _metrics(result.metrics),
        "attempts": [_attempt(attempt) for attempt in result.attempts],
        "headers": [list(pair) for pair in result.headers],
    }


def _mechanism(mechanism: FoundMechanism) -> dict[str, Any]:
    return {
        "id": mechanism.id,
        "confidence": mechanism.confidence,
        "origin": mechanism.origin.value,
        "parameters": dict(_parameter(name, value) for name, value in mechanism.parameters),
        "evidence": [_evidence(item) for item in mechanism.evidence],
        "fixes": [
            {
                "product": fix.product,
                "text": fix.text,
                "config": fix.config,
                "proof": fix.proof.value,
            }
            for fix in mechanism.fixes
        ],
    }


def _parameter(name: str, value: float) -> tuple[str, float]:
    if name.endswith("_ns"):
        return name.removesuffix("_ns") + "_ms", milliseconds(value)
    return name, round(value, 1)


def _evidence(evidence: Evidence) -> dict[str, Any]:
    if evidence.unit is not Unit.NS:
        return {
            "fact": evidence.fact,
            "value": _rounded(evidence.value),
            "unit": evidence.unit.value,
            "bound": _rounded(evidence.bound),
        }
    return {
        "fact": evidence.fact.removesuffix("_ns") + "_ms",
        "value": _in_ms(evidence.value),
        "unit": "ms",
        "bound": _in_ms(evidence.bound),
    }


def _rounded(value: float | str | None) -> float | str | None:
    return round(value, 4) if isinstance(value, float) else value


def _in_ms(value: float | str | None) -> float | str | None:
    return milliseconds(value) if isinstance(value, int | float) else value


def _ms(ns: int | None) -> float | None:
    return None if ns is None else milliseconds(ns)


def _metrics(metrics: Metrics) -> dict[str, Any]:
    return {
        "runs": metrics.run_count,
        "request_sent_ms": _ms(metrics.request_sent_ns),
        "headers_ms": _ms(metrics.headers_ns),
        "first_event_ms": _ms(metrics.first_event_ns),
        "first_token_ms": _ms(metrics.first_token_ns),
        "last_event_ms": _ms(metrics.last_event_ns),
        "closed_ms": _ms(metrics.closed_ns),
        "event_count": metrics.event_count,
        "token_event_count": metrics.token_event_count,
        "burst_count": metrics.burst_count,
        "events_per_burst_p50": metrics.events_per_burst_p50,
        "events_per_burst_max": metrics.events_per_burst_max,
        "burst_bytes_p50": metrics.burst_bytes_p50,
        "burst_period_ms_p50": _ms(metrics.burst_period_ns_p50),
        "gap_ms_p50": _ms(metrics.gap_ns_p50),
        "gap_ms_p95": _ms(metrics.gap_ns_p95),
        "longest_silence_ms": _ms(metrics.longest_silence_ns),
        "smoothness": metrics.smoothness,
        "clock": None if metrics.clock is None else metrics.clock.value,
        "floor_ms": _ms(metrics.floor_ns),
        "undated_share": _rounded(metrics.undated_share),
    }


def _attempt(attempt: Attempt) -> dict[str, Any]:
    return {
        "run": attempt.run,
        "experiment": attempt.experiment,
        "outcome": "ok" if attempt.outcome is None else attempt.outcome.value,
        "reason": attempt.reason,
        "ending": None if attempt.ending is None else attempt.ending.value,
    }


def _step(step: StepResult) -> dict[str, Any]:
    delay = step.added_delay_ns
    return {
        "inner": step.inner,
        "outer": step.outer,
        "pairing": step.pairing.value,
        "operator": step.operator,
        "added_first_event_ms": _ms(step.added_first_event_ns),
        "added_delay_ms": (
            None
            if delay is None
            else dict(zip(("p50", "p95", "max"), map(milliseconds, delay), strict=True))
        ),
        "headers_added": list(step.headers_added),
        "headers_removed": list(step.headers_removed),
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "id": finding.id,
        "severity": finding.severity.value,
        "hop": finding.hop,
        "file": None,
        "line": None,
        "affects": finding.affects,
        "summary": finding.summary,
        "evidence": finding.evidence,
        "fix": finding.fix,
    }
