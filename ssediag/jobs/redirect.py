"""Where a redirect leads, and what may be sent there: RFC 9110 15.4, and curl's habits."""

from dataclasses import replace
from urllib.parse import urljoin, urlsplit

from ssediag.capture.redact import is_credential_header
from ssediag.model.request import Request
from ssediag.model.stream import Stream

MAX_REDIRECT_COUNT = 5
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_KEEP_METHOD = frozenset({307, 308})
_BODY_HEADERS = frozenset({"content-type", "content-encoding", "content-language"})


def redirected(request: Request, answer: Stream) -> Request | None:
    """The request that ``answer`` sends us to make instead, or None if it is no redirect.

    303, and 301 or 302 after anything but GET and HEAD, turn into a GET without a body. A
    credential never follows to another host.
    """
    head = answer.head
    location = head.header("location") if head is not None else None
    if head is None or head.status not in _REDIRECTS or not location:
        return None
    url = urljoin(request.url, location)
    if urlsplit(url).scheme.lower() not in {"http", "https"} or not urlsplit(url).hostname:
        return None
    if head.status not in _KEEP_METHOD and request.method not in {"GET", "HEAD"}:
        kept = tuple(pair for pair in request.headers if pair[0].lower() not in _BODY_HEADERS)
        request = replace(request, method="GET", body=None, headers=kept)
    if not same_place(request.url, url):
        kept = tuple(pair for pair in request.headers if not is_credential_header(pair[0]))
        request = replace(request, headers=kept)
    return replace(request, url=url)


def same_place(left: str, right: str) -> bool:
    """Whether two URLs lead to one host without giving up TLS."""
    one, other = urlsplit(left), urlsplit(right)
    downgraded = one.scheme.lower() == "https" and other.scheme.lower() != "https"
    return one.hostname == other.hostname and not downgraded
