"""httpx's transport for one probed request: httpcore's pool on the dating backend."""

import ssl
from collections.abc import Iterator

import httpcore
import httpx

from ssediag.capture.backend import ProbeBackend
from ssediag.capture.dial import HttpVersion, Route


class ProbeTransport(httpx.BaseTransport):
    """Sends over ``backend``, the way ``route`` says. Raises httpcore's and h2's own errors.

    Nothing of the environment (proxies, netrc) has a say. Raises ValueError for a proxy that is not
    an http:// URL.
    """

    def __init__(
        self,
        backend: ProbeBackend,
        route: Route,
        *,
        scheme: str,
        ssl_context: ssl.SSLContext | None,
    ) -> None:
        version = route.http_version
        http1 = version is not HttpVersion.PRIOR_KNOWLEDGE
        http2 = not http1 or (scheme == "https" and version is not HttpVersion.HTTP_1_1)
        self._pool: httpcore.ConnectionPool
        if route.proxy is None:
            self._pool = httpcore.ConnectionPool(
                ssl_context=ssl_context, http1=http1, http2=http2, network_backend=backend
            )
            return
        proxy = httpx.Proxy(route.proxy)
        if proxy.url.scheme != "http":
            raise ValueError("not an http:// proxy")
        self._pool = httpcore.HTTPProxy(
            proxy_url=_core_url(proxy.url),
            proxy_auth=proxy.raw_auth,
            ssl_context=ssl_context,
            http1=http1,
            http2=http2,
            network_backend=backend,
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send and return once the head of the answer is there."""
        response = self._pool.handle_request(
            httpcore.Request(
                request.method,
                _core_url(request.url),
                headers=request.headers.raw,
                content=request.stream,
                extensions=request.extensions,
            )
        )
        return httpx.Response(
            response.status,
            headers=response.headers,
            stream=_Body(response),
            extensions=response.extensions,
            request=request,
        )

    def close(self) -> None:
        """Close the pool."""
        self._pool.close()


class _Body(httpx.SyncByteStream):
    """The answer's body as httpcore frames it, content codings left alone."""

    def __init__(self, response: httpcore.Response) -> None:
        self._response = response

    def __iter__(self) -> Iterator[bytes]:
        return self._response.iter_stream()

    def close(self) -> None:
        self._response.close()


def _core_url(url: httpx.URL) -> httpcore.URL:
    return httpcore.URL(
        scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path
    )
