"""Ask language models to judge, and keep what they answer as tables of votes, scores and labels."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from voirdire.collect.run import collect, estimate

__all__ = ["collect", "estimate"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(importlib.import_module("voirdire.collect.run"), name)
    raise AttributeError(f"module 'voirdire.collect' has no attribute {name!r}")
