"""Hosts that a key may go to: a panel is somebody else's file, and names both.

A key goes to a host where that is plain (a provider's own variable to the provider, anything to this machine), where
the user says so (``--allow-key NAME=HOST``), or has said so before when asked on a terminal. What is answered there is
kept in ``allowed-keys`` of the user's folder of settings, one ``NAME=HOST`` a line; it holds no key.
"""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from voirdire.collect.protocol import Judge
from voirdire.errors import InputError

#: A provider's own variable, and its host; over https alone.
BUILT_IN = {
    "ANTHROPIC_API_KEY": "api.anthropic.com",
    "GEMINI_API_KEY": "generativelanguage.googleapis.com",
    "MISTRAL_API_KEY": "api.mistral.ai",
    "OPENAI_API_KEY": "api.openai.com",
    "OPENROUTER_API_KEY": "openrouter.ai",
}
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HOST = re.compile(r"[a-z0-9_.-]+|[0-9a-f:.]+")

#: Asked whether the key of a variable may go to an address; the answer is remembered if it is yes.
Confirm = Callable[[str, str], bool]


def is_loopback(host: str) -> bool:
    """True where a host is this machine.

    Examples
    --------
    >>> is_loopback("localhost"), is_loopback("127.0.0.1"), is_loopback("127.0.0.1.example.org")
    (True, True, False)
    """
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def allowed_pairs(given: Iterable[str]) -> set[tuple[str, str]]:
    """``NAME=HOST`` as pairs.

    Raises
    ------
    InputError
        Something else is written.

    Examples
    --------
    >>> allowed_pairs(["LAB_KEY=llm.example.org"])
    {('LAB_KEY', 'llm.example.org')}
    """
    pairs = set()
    for text in given:
        name, _, host = text.partition("=")
        name, host = name.strip(), host.strip().lower().strip("[]")
        if not (NAME.fullmatch(name) and _HOST.fullmatch(host)):
            raise InputError(
                "--allow-key is not NAME=HOST; write for example LAB_KEY=llm.example.org (no key, no https://)"
            )
        pairs.add((name, host))
    return pairs


def key_problems(
    judges: Iterable[Judge], given: Sequence[str] = (), confirm: Confirm | None = None
) -> list[str]:
    """Keys that a panel would send where nobody has allowed it, one sentence each.

    Parameters
    ----------
    judges : iterable of Judge
    given : sequence of str
        ``NAME=HOST`` that the user allows for this run.
    confirm : callable, optional
        Asks the user about a variable and an address.

    Examples
    --------
    >>> judge = Judge("a", "m", "https://llm.example.org/v1", "OPENAI_API_KEY")
    >>> key_problems([judge], ["OPENAI_API_KEY=llm.example.org"])
    []
    >>> print(key_problems([judge])[0])
    judge 'a': the key in OPENAI_API_KEY would go to llm.example.org, which nobody has allowed; if you trust that host \
with it, say --allow-key OPENAI_API_KEY=llm.example.org
    """
    allowed = allowed_pairs(given)
    problems = []
    for judge in judges:
        name, url = judge.api_key_env, urlsplit(judge.base_url or "")
        host = url.hostname or ""
        if not name or is_loopback(host) or (BUILT_IN.get(name) == host and url.scheme == "https"):
            continue
        if (name, host) in allowed or (name, host) in _read_remembered():
            continue
        shown = host if url.scheme == "https" else f"{host} (unencrypted)"
        allowed.add((name, host))  # asked and said once
        if confirm is not None and confirm(name, shown):
            _remember_host(name, host)
        else:
            problems.append(
                f"judge {judge.name!r}: the key in {name} would go to {shown}, which nobody has allowed; if you trust "
                f"that host with it, say --allow-key {name}={host}"
            )
    return problems


def settings_dir() -> Path:
    """The folder of the user's settings: ``VOIRDIRE_SETTINGS``, else the system's place for them.

    Examples
    --------
    >>> from unittest.mock import patch
    >>> with patch.dict(os.environ, {"VOIRDIRE_SETTINGS": "/data/settings"}):
    ...     settings_dir().as_posix()
    '/data/settings'
    """
    own = os.environ.get("VOIRDIRE_SETTINGS")
    if own:
        return Path(own)
    from platformdirs import user_config_path

    return user_config_path("voirdire", appauthor=False, roaming=True)


def _read_remembered() -> set[tuple[str, str]]:
    try:
        lines = (settings_dir() / "allowed-keys").read_text(encoding="utf-8").splitlines()
    except (OSError, RuntimeError, UnicodeDecodeError):
        return set()
    pairs = (line.strip().partition("=") for line in lines)
    return {(name, host) for name, _, host in pairs if NAME.fullmatch(name) and host}


def _remember_host(name: str, host: str) -> None:
    """Keep an answer for the next time; where that cannot be written, it holds for this run."""
    try:
        folder = settings_dir()
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / "allowed-keys").open("a", encoding="utf-8") as file:
            file.write(f"{name}={host}\n")
    except (OSError, RuntimeError):
        pass
