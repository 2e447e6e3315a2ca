"""A folder to run a real proxy in: its configuration with ports filled in, and its command."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

_CONFIGS = Path(__file__).parent / "configs"
_COMMANDS: dict[str, tuple[str, ...]] = {
    "nginx": ("-p", "{folder}", "-e", "stderr", "-c", "{folder}/nginx.conf"),
    "haproxy": ("-db", "-f", "{folder}/haproxy.cfg"),
    "envoy": (
        *("-c", "{folder}/envoy.yaml"),
        *("--concurrency", "1", "--disable-hot-restart", "--log-level", "error"),
    ),
    "traefik": ("--configfile={folder}/traefik.yaml",),
    "caddy": ("run", "--config", "{folder}/Caddyfile", "--adapter", "caddyfile"),
}
_CERTIFICATE = "@FOLDER@/cert.pem"
# nginx.org/en/docs/http/ngx_http_v2_module.html: "http2 on" came with 1.25.1.
_HTTP2_DIRECTIVE_SINCE = (1, 25, 1)


@dataclass(frozen=True, slots=True)
class Command:
    """How to run a proxy: its arguments, its scheme, and what it needs in the environment."""

    arguments: tuple[str, ...]
    scheme: str
    environment: dict[str, str]


def labels(product: str) -> list[str]:
    """Give the names of a product's configurations; empty for an unknown product."""
    return sorted(path.name for path in (_CONFIGS / product).glob("*") if path.is_dir())


def fill(
    folder: Path, program: Path, product: str, label: str, *, listen_port: int, upstream_port: int
) -> Command:
    """Write the configuration ``label`` into ``folder``; give the command that runs it there.

    Where the configuration names a certificate, one is made with the openssl program. Raises
    OSError and subprocess.CalledProcessError.
    """
    texts = {path.name: path.read_text("utf-8") for path in (_CONFIGS / product / label).iterdir()}
    is_tls = any(_CERTIFICATE in text for text in texts.values())
    values = {
        "@LISTEN@": str(listen_port),
        "@UPSTREAM@": str(upstream_port),
        "@FOLDER@": str(folder),
    }
    if is_tls:
        values |= _http2_words(program)
        _make_certificate(folder)
    for name, text in texts.items():
        (folder / name).write_text(_filled(text, values), "utf-8")
    arguments = tuple(part.format(folder=folder) for part in _COMMANDS[product])
    home = {name: str(folder) for name in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME")}
    return Command((str(program), *arguments), "https" if is_tls else "http", home)


def _filled(text: str, values: dict[str, str]) -> str:
    for name, value in values.items():
        text = text.replace(name, value)
    return text


def _http2_words(program: Path) -> dict[str, str]:
    """Say HTTP/2 in the words of this nginx: on the listen line, or as a directive."""
    shown = subprocess.run([program, "-v"], capture_output=True, text=True, check=True).stderr
    words = shown.rpartition("/")[2].split()
    version = tuple(int(part) for part in words[0].split(".") if part.isdecimal())
    if version < _HTTP2_DIRECTIVE_SINCE:
        return {"@LISTEN_HTTP2@": " http2", "@HTTP2_ON@": ""}
    return {"@LISTEN_HTTP2@": "", "@HTTP2_ON@": "http2 on;"}


def _make_certificate(folder: Path) -> None:
    command = ["openssl", "req", "-x509", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    command += ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
    command += ["-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"]
    command += ["-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem")]
    subprocess.run(command, capture_output=True, check=True)
