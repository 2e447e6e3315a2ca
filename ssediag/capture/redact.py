"""Hides secrets in what is stored or shown: URLs, header fields, command lines, messages.

When in doubt a value is masked: a masked harmless word costs a reader little, a key in a report
that is attached to a public issue costs its owner a lot.
"""

import re
import shlex
from collections.abc import Iterable, Sequence
from urllib.parse import quote, unquote, unquote_plus

MASK = "***"

# Parts of a name that make its value a secret, in a header field and in a query parameter.
_SECRET_PARTS = (
    "key",
    "token",
    "secret",
    "auth",
    "session",
    "password",
    "passwd",
    "passphrase",
    "credential",
    "cookie",
    "signature",
    "bearer",
    "jwt",
)
_SECRET_WORDS = frozenset({"pass", "pwd", "sid"})
# Short names that mean a secret in a query only: Azure's ``sig``, OAuth's ``code``, …
_SECRET_PARAMETERS = frozenset({"sig", "code", "otp", "pin", "hmac", "sas", "ticket"})
_SIGNED_URL_PREFIXES = ("x-amz-", "x-goog-")

# Fields whose names say "auth" or "key" and whose values are for everybody.
_PUBLIC_HEADERS = frozenset(
    {
        ":authority",
        "access-control-allow-credentials",
        "proxy-authenticate",
        "sec-websocket-key",
        "surrogate-key",
        "www-authenticate",
        "x-cache-key",
    }
)
# "tokens" as a quantity (rate limits, max_tokens) is what this tool is about, not a secret.
_TOKEN_COUNT = re.compile(r"limit|remaining|reset|max|count|usage|used|num")

_KNOWN_SCHEME = re.compile(
    r"\s*(bearer|basic|digest|negotiate|ntlm|dpop|hawk|token|key|api-?key|aws4-hmac-sha256)(?=\s)",
    re.IGNORECASE,
)
# Keys that give themselves away by their first letters, wherever they stand.
_KEY_SHAPE = re.compile(
    r"\b(?:sk|pk|rk|hf|gsk|ghp|gho|ghs|glpat|xai|nvapi|pplx|r8|xox[abp])[-_][\w\-]{8,}"
    r"|\bgithub_pat_\w{8,}|\bAKIA[0-9A-Z]{12,}|\bAIza[\w\-]{20,}|\beyJ[\w\-]{8,}\.[\w\-.]+"
)
_SCHEME = re.compile(r"[^/?#@]*://|//")
_PATH_PARAMETER = re.compile(r"(?<=[;/])([^=;/?]+)=[^;/?]*")
_NAME_INSIDE = re.compile(r"([\w.\-]+)[\"']?\s*[=:]")
_URL_PIECE = re.compile(r"[^\s<>\"']+")

# Options of curl and of ssediag, by what their value is.
_HEADER_OPTIONS = frozenset({"-H", "--header", "--proxy-header"})
_URL_OPTIONS = frozenset({"-x", "--proxy", "--preproxy", "-e", "--referer", "--url"})
_SECRET_OPTIONS = frozenset(
    {
        *("-d", "--data", "--data-raw", "--data-binary", "--data-urlencode", "--data-ascii"),
        *("--json", "-F", "--form", "--form-string", "--url-query", "--prompt"),
        *("-u", "--user", "-U", "--proxy-user", "-b", "--cookie", "--oauth2-bearer"),
        *("--pass", "--proxy-pass", "--tlspassword", "--proxy-tlspassword"),
        *("-E", "--cert", "--proxy-cert"),
    }
)
_CERTIFICATE_OPTIONS = frozenset({"-E", "--cert", "--proxy-cert"})
# The short options that take a value: in ``-sNH`` the H does and the letters before it do not.
_SHORT_WITH_VALUE = frozenset("AbcCdDeEFHKmoPQrtTuUwxXyYz")


def _names_secret(name: str) -> bool:
    lowered = name.strip().lower()
    if "tokens" in lowered and _TOKEN_COUNT.search(lowered):
        lowered = lowered.replace("tokens", "")
    words = re.split(r"[^a-z0-9]+", lowered)
    return any(part in lowered for part in _SECRET_PARTS) or not _SECRET_WORDS.isdisjoint(words)


def _is_secret_parameter(name: str) -> bool:
    lowered = name.strip().lower()
    words = re.split(r"[^a-z0-9]+", lowered)
    return (
        _names_secret(lowered)
        or lowered.startswith(_SIGNED_URL_PREFIXES)
        or not _SECRET_PARAMETERS.isdisjoint(words)
    )


def is_credential_header(name: str) -> bool:
    """Whether the header field ``name`` (any case) carries a secret by its name."""
    lowered = name.strip().lower()
    return lowered not in _PUBLIC_HEADERS and _names_secret(lowered)


def redact_url(url: str) -> str:
    """The URL with userinfo, secret-looking parameters and the fragment as ``***``.

    Takes anything, also what is no URL, a ``NAME=URL`` target or a path; never raises.
    """
    base, _, fragment = _without_userinfo(url).partition("#")
    place, mark, query = base.partition("?")
    place = _PATH_PARAMETER.sub(_mask_path_parameter, place)
    pairs = "&".join(_redact_pair(pair) for pair in query.split("&"))
    shown = place + mark + pairs
    # A fragment is never sent, but OAuth puts tokens there.
    return _KEY_SHAPE.sub(MASK, shown) + ("#" + MASK if fragment else "")


def _without_userinfo(url: str) -> str:
    scheme = _SCHEME.match(url)
    start = scheme.end() if scheme else 0
    end = min((at for mark in "/?#" if (at := url.find(mark, start)) >= 0), default=len(url))
    authority = url[start:end]
    if "@" in authority:
        cut = start + authority.rindex("@")
    elif _has_broken_port(authority) and "@" in url[end:]:
        # A password with an unescaped "/", "?" or "#" in it.
        cut = url.rindex("@")
    else:
        return url
    return url[:start] + MASK + url[cut:]


def _has_broken_port(authority: str) -> bool:
    _, colon, port = authority.rpartition(":")
    return bool(colon) and not port.isdecimal() and "]" not in port


def _mask_path_parameter(match: re.Match[str]) -> str:
    name = match[1]
    return f"{name}={MASK}" if _is_secret_parameter(unquote(name)) else match[0]


def _redact_pair(pair: str) -> str:
    name, equals, value = pair.partition("=")
    if equals and (_is_secret_parameter(unquote_plus(name)) or _carries_secret(value)):
        return f"{name}={MASK}"
    return pair


def _carries_secret(value: str) -> bool:
    """Whether a parameter's value is itself a URL, form or JSON text with a secret in it."""
    plain = unquote(unquote(value))
    if "://" in plain and "@" in plain:
        return True
    if _KEY_SHAPE.search(plain):
        return True
    return any(_is_secret_parameter(name) for name in _NAME_INSIDE.findall(plain))


def redact_headers(pairs: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """The header fields, credentials as ``***`` (``Bearer ***`` for a known scheme).

    Other values keep all but the secrets of the URLs in them (``Location``, ``Link``…).
    """
    return tuple((name, _redact_value(name, value)) for name, value in pairs)


def _redact_value(name: str, value: str) -> str:
    if not is_credential_header(name):
        if "://" in value or "?" in value:
            value = _URL_PIECE.sub(lambda piece: redact_url(piece[0]), value)
        return _KEY_SHAPE.sub(MASK, value)
    scheme = _KNOWN_SCHEME.match(value) if "authorization" in name.lower() else None
    return f"{scheme[1]} {MASK}" if scheme else MASK


def redact_command(argv: Sequence[str]) -> str:
    """A command line for display: quoted for a shell, secrets, bodies and prompts as ``***``.

    Understands curl's and ssediag's options, attached values (``-HName: value``, ``--data=…``)
    and bundled letters (``-sNH``).
    """
    shown: list[str] = []
    option = ""
    for argument in argv:
        if option:
            shown.append(_redact_option_value(option, argument))
            option = ""
            continue
        head, option_name, value = _split_option(argument)
        if not option_name:
            shown.append(_redact_positional(argument))
        elif value is None:
            shown.append(argument)
            option = option_name
        else:
            shown.append(head + _redact_option_value(option_name, value))
    return shlex.join(shown)


def _split_option(argument: str) -> tuple[str, str, str | None]:
    """What to repeat, the option that takes a value ("" if none), and the value if attached."""
    if argument.startswith("--"):
        name, equals, value = argument.partition("=")
        if equals:
            return name + "=", name, value
        return argument, name if _takes_masked_value(name) else "", None
    if argument.startswith("-") and not argument.startswith("-:"):
        for at, letter in enumerate(argument[1:], start=1):
            if letter in _SHORT_WITH_VALUE:
                return argument[: at + 1], "-" + letter, argument[at + 1 :] or None
    return argument, "", None


def _takes_masked_value(option: str) -> bool:
    return option in _HEADER_OPTIONS | _URL_OPTIONS | _SECRET_OPTIONS


def _redact_option_value(option: str, value: str) -> str:
    if option in _HEADER_OPTIONS:
        return _redact_header_line(value)
    if option in _CERTIFICATE_OPTIONS:
        path, colon, _ = value.partition(":")
        return path + colon + (MASK if colon else "")
    if option in _SECRET_OPTIONS:
        return MASK
    return _redact_positional(value)


def _redact_header_line(line: str) -> str:
    """``Name: value``, or ``HOP:Name: value``; a line that is neither is masked."""
    name, colon, value = line.partition(":")
    inner, inner_colon, inner_value = value.partition(":")
    if line.startswith("@"):
        return line
    if not colon:
        return line if line.endswith(";") else MASK
    if not is_credential_header(name) and inner_colon and is_credential_header(inner):
        return f"{name}:{inner}: {_redact_value(inner, inner_value)}"
    return f"{name}: {_redact_value(name, value.strip())}"


def _redact_positional(argument: str) -> str:
    name, equals, _ = argument.partition("=")
    if equals and "://" not in argument and name.isidentifier() and _names_secret(name):
        return f"{name}={MASK}"  # an environment variable set for a command
    return redact_url(argument)


def scrub(text: str, secrets: Iterable[str]) -> str:
    """``text`` with every literal secret replaced, also where it is percent-encoded."""
    spellings = {secret for secret in secrets if secret.strip("*")}
    spellings |= {quote(secret, safe="", errors="replace") for secret in spellings}
    if not spellings:
        return text
    # The longest first: a secret may begin with another one.
    alternatives = sorted(spellings, key=len, reverse=True)
    return re.sub("|".join(map(re.escape, alternatives)), lambda _: MASK, text)
