"""Hosts to which an API key may be sent. A panel may be another person's file, and names both keys and hosts.

A key is sent to a host if this is safe by default (a provider's own variable to the provider, any key to this machine),
if the user allows it (``--allow-key NAME=HOST``), or if the user has confirmed it on the terminal before. Confirmed
hosts are saved in the file ``allowed-keys`` of the user's settings folder, one ``NAME=HOST`` per line, without keys.

Also finds texts in a panel that look like keys, by the name of their field or by their form.
"""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from voirdire.collect.protocol import VARIABLE_RULE, Judge
from voirdire.collect.redact import KEY_MASK
from voirdire.errors import InputError

_SECRET_FIELDS = {
    "auth", "authorization", "bearer", "cookie", "credential", "credentials", "key", "passphrase", "passwd",
    "sessiontoken", "token",
}  # fmt: skip
_SECRET_SUFFIXES = (
    "apikey", "accesskey", "privatekey", "secretkey", "secret", "password", "authtoken", "accesstoken", "apitoken",
)  # fmt: skip
#: Forms of known providers' keys.
_KEY_PATTERN = re.compile(
    r"(?<![A-Za-z0-9])(?:(?:sk|pk|rk|gsk|xai|pplx|nvapi|r8|tgp|csk|fw)[-_][A-Za-z0-9_-]{12,}"
    r"|(?:hf|ghp|gho|ghs|ghu|github_pat|glpat)[-_][A-Za-z0-9_-]{16,}"
    r"|AKIA[0-9A-Z]{16}|AIza[A-Za-z0-9_-]{30,}|xox[abps]-[A-Za-z0-9-]{10,}"
    r"|eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"
    r"|(?i:bearer|basic)\s+[A-Za-z0-9._~+/-]{12,})"
)


def find_leaks(value: Any, place: str = "", *, by_name: bool = True) -> Iterator[tuple[str, str]]:
    """Find texts that look like keys; yield the field path and the text of each.

    Parameters
    ----------
    value : TOML value
    place : str
        Path of the value.
    by_name : bool
        True checks the field's name, too, not only the form of its text.

    Examples
    --------
    >>> list(find_leaks({"top_k": 5, "extra": {"api-key": "abc"}, "stop": ["sk-0123456789abcdef"]}))
    [('extra.api-key', 'abc'), ('stop', 'sk-0123456789abcdef')]
    """
    if isinstance(value, Mapping):
        for name, inner in value.items():
            shown = _KEY_PATTERN.sub(KEY_MASK, str(name))
            field_path = f"{place}.{shown}" if place else shown
            if shown != str(name):
                yield field_path, str(name)
            letters = re.sub("[^a-z]", "", str(name).lower())
            if by_name and isinstance(inner, str) and (letters in _SECRET_FIELDS or letters.endswith(_SECRET_SUFFIXES)):
                yield field_path, inner
            else:
                yield from find_leaks(inner, field_path, by_name=by_name)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from find_leaks(inner, place, by_name=by_name)
    elif isinstance(value, str) and _KEY_PATTERN.search(value):
        yield place, value


def remove_secrets(text: str, leaks: list[tuple[str, str]]) -> str:
    """Redact found keys, and texts that look like keys, in a message.

    Examples
    --------
    >>> remove_secrets("model is 'abc'", [("model", "abc")])
    "model is '[key]'"
    """
    for secret in sorted((leak for _, leak in leaks if leak), key=len, reverse=True):
        text = text.replace(repr(secret)[1:-1], KEY_MASK).replace(secret, KEY_MASK)
    return _KEY_PATTERN.sub(KEY_MASK, text)


#: A provider's own variable, and its host; only over https.
PROVIDER_HOSTS = {
    "ANTHROPIC_API_KEY": "api.anthropic.com",
    "GEMINI_API_KEY": "generativelanguage.googleapis.com",
    "MISTRAL_API_KEY": "api.mistral.ai",
    "OPENAI_API_KEY": "api.openai.com",
    "OPENROUTER_API_KEY": "openrouter.ai",
}
_HOST_PATTERN = re.compile(r"[a-z0-9_.-]+|[0-9a-f:.]+")

#: Function of a variable's name and a host: True allows to send the key, and is remembered.
Confirm = Callable[[str, str], bool]


def is_loopback(host: str) -> bool:
    """Return True if a host is this machine.

    Examples
    --------
    >>> is_loopback("localhost"), is_loopback("127.0.0.1"), is_loopback("127.0.0.1.example.org")
    (True, True, False)
    """
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def parse_key_hosts(texts: Iterable[str]) -> set[tuple[str, str]]:
    """Parse ``NAME=HOST`` texts to pairs.

    Raises
    ------
    InputError
        A text has another form.

    Examples
    --------
    >>> parse_key_hosts(["LAB_KEY=llm.example.org"])
    {('LAB_KEY', 'llm.example.org')}
    """
    pairs = set()
    for text in texts:
        name, _, host = text.partition("=")
        name, host = name.strip(), host.strip().lower().strip("[]")
        if not (VARIABLE_RULE.holds(name) and _HOST_PATTERN.fullmatch(host)):
            raise InputError(
                "--allow-key is not NAME=HOST; write for example LAB_KEY=llm.example.org (no key, no https://)"
            )
        pairs.add((name, host))
    return pairs


def key_problems(
    judges: Iterable[Judge], allowed_texts: Sequence[str] = (), confirm: Confirm | None = None
) -> list[str]:
    """Return a sentence for each key that a panel would send to a host that is not allowed.

    Parameters
    ----------
    judges : iterable of Judge
    allowed_texts : sequence of str
        ``NAME=HOST`` that the user allows for this run.
    confirm : callable, optional
        Asks the user about a variable and a host.

    Examples
    --------
    >>> judge = Judge("a", "m", "https://llm.example.org/v1", "OPENAI_API_KEY")
    >>> key_problems([judge], ["OPENAI_API_KEY=llm.example.org"])
    []
    >>> print(key_problems([judge])[0])
    judge 'a': the key in OPENAI_API_KEY would go to llm.example.org, which nobody has allowed; if you trust that host \
with it, say --allow-key OPENAI_API_KEY=llm.example.org
    """
    allowed = parse_key_hosts(allowed_texts)
    problems = []
    for judge in judges:
        name, url = judge.api_key_env, urlsplit(judge.base_url or "")
        host = url.hostname or ""
        if not name or is_loopback(host) or (PROVIDER_HOSTS.get(name) == host and url.scheme == "https"):
            continue
        if (name, host) in allowed or (name, host) in _read_allowed_hosts():
            continue
        shown = host if url.scheme == "https" else f"{host} (unencrypted)"
        allowed.add((name, host))  # ask and report only once
        if confirm is not None and confirm(name, shown):
            _remember_host(name, host)
        else:
            problem = f"judge {judge.name!r}: the key in {name} would go to {shown}, which nobody has allowed"
            problems.append(f"{problem}; if you trust that host with it, say --allow-key {name}={host}")
    return problems


def settings_dir() -> Path:
    """Return the user's settings folder: ``VOIRDIRE_SETTINGS``, else the system's default.

    Examples
    --------
    >>> from unittest.mock import patch
    >>> with patch.dict(os.environ, {"VOIRDIRE_SETTINGS": "/data/settings"}):
    ...     settings_dir().as_posix()
    '/data/settings'
    """
    folder = os.environ.get("VOIRDIRE_SETTINGS")
    if folder:
        return Path(folder)
    from platformdirs import user_config_path

    return user_config_path("voirdire", appauthor=False, roaming=True)


def _read_allowed_hosts() -> set[tuple[str, str]]:
    try:
        lines = (settings_dir() / "allowed-keys").read_text(encoding="utf-8").splitlines()
    except (OSError, RuntimeError, UnicodeDecodeError):
        return set()
    pairs = (line.strip().partition("=") for line in lines)
    return {(name, host) for name, _, host in pairs if VARIABLE_RULE.holds(name) and host}


def _remember_host(name: str, host: str) -> None:
    """Save an allowed host for later runs; if that fails, it is allowed for this run only."""
    try:
        folder = settings_dir()
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / "allowed-keys").open("a", encoding="utf-8") as file:
            file.write(f"{name}={host}\n")
    except (OSError, RuntimeError):
        pass
