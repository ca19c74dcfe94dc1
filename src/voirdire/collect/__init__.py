"""Ask language models to judge, and keep what they answer as tables of votes, scores and labels."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from voirdire.collect.dry_run import estimate
    from voirdire.collect.run import collect

__all__ = ["collect", "estimate"]

_PLACES = {"collect": "voirdire.collect.run", "estimate": "voirdire.collect.dry_run"}


def __getattr__(name: str) -> Any:
    if name in _PLACES:
        return getattr(importlib.import_module(_PLACES[name]), name)
    raise AttributeError(f"module 'voirdire.collect' has no attribute {name!r}")
