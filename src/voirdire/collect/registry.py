"""Find protocols: everything that an installed package registers as an entry point ``voirdire.protocols``."""

from __future__ import annotations

import importlib
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

from voirdire.collect.protocol import Protocol
from voirdire.errors import InputError
from voirdire.tables.problems import nearest_name

GROUP = "voirdire.protocols"
_SOURCE = Path(__file__).resolve().parents[3] / "pyproject.toml"


def protocol_names() -> list[str]:
    """Names of the protocols there are, sorted.

    Examples
    --------
    >>> all(isinstance(name, str) for name in protocol_names())
    True
    """
    return sorted(_registered_protocols())


def find_protocol(name: str) -> Protocol:
    """Load a protocol by its name.

    Raises
    ------
    InputError
        No package registers it, or it cannot be imported.
    """
    known = _registered_protocols()
    if name not in known:
        there = f"; there are {', '.join(sorted(known))}" if known else "; none is installed"
        raise InputError(f"protocol {name!r} is unknown{nearest_name(name, list(known)) or there}")
    module, _, attribute = known[name].partition(":")
    try:
        found: Any = getattr(importlib.import_module(module), attribute)
        made: Protocol = found()
    except Exception as error:
        raise InputError(
            f"protocol {name!r}: {known[name]} cannot be imported ({error}); reinstall it"
        ) from error
    return made


def _registered_protocols() -> dict[str, str]:
    """Where each protocol is; no other package's comes in the place of one that is shipped.

    Those of a source tree that is not installed stand in its own pyproject.toml.
    """
    points = sorted(metadata.entry_points(group=GROUP), key=_is_shipped)
    found = {point.name: point.value for point in points}
    if _SOURCE.is_file():
        project = tomllib.loads(_SOURCE.read_text(encoding="utf-8")).get("project", {})
        if project.get("name") == "voirdire":
            found |= project.get("entry-points", {}).get(GROUP, {})
    return found


def _is_shipped(point: metadata.EntryPoint) -> bool:
    return point.dist is not None and point.dist.name == "voirdire"
