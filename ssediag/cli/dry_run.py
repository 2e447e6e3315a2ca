"""What would be sent, with secrets masked: for ``--dry-run``."""

from collections.abc import Iterator
from urllib.parse import urlsplit

from ssediag.capture.redact import redact_headers, redact_url
from ssediag.jobs.targets import Plan, Target
from ssediag.report.wording import clean


def dry_run_text(plan: Plan) -> str:
    """Every hop's request as it would go out, one after another."""
    blocks = ["\n".join(_lines(target)) for target in plan.targets]
    upto = f"up to {plan.max_run_count} runs at each hop, interleaved"
    return "\n\n".join([*blocks, f"({upto}; nothing was sent)"])


def _lines(target: Target) -> Iterator[str]:
    request = target.request
    if request is None:
        yield f"{target.hop.name}: read from a recording"
        return
    parts = urlsplit(request.url)
    shown = urlsplit(redact_url(request.url))
    path = (shown.path or "/") + (f"?{shown.query}" if shown.query else "")
    yield f"{target.hop.name}: {target.hop.target}"
    if target.route.connect_to is not None:
        yield "  dialled at {}:{}".format(*target.route.connect_to)
    if target.route.proxy is not None:
        proxy = redact_url(target.route.proxy)
        yield f"  through the proxy {proxy} (from {target.route.proxy_source})"
    yield f"  {request.method} {clean(path)}"
    yield f"  Host: {parts.netloc.rpartition('@')[2]}"
    for name, value in redact_headers(request.headers):
        yield f"  {clean(name)}: {clean(value)}"
    if request.body is not None:
        yield f"  ({len(request.body)} bytes of body)"
