"""Collection of judgements by language models, saved as tables of votes, scores and labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voirdire.doors import lazy_attributes

if TYPE_CHECKING:
    from voirdire.collect.dry_run import estimate
    from voirdire.collect.run import collect

__all__ = ["collect", "estimate"]

__getattr__, __dir__ = lazy_attributes(
    __name__,
    {
        "Answer": "protocol",
        "Item": "protocol",
        "Judge": "protocol",
        "Prompts": "rendering",
        "Question": "protocol",
        "Row": "protocol",
        "Setting": "protocol",
        "collect": "run",
        "estimate": "dry_run",
        "read_items": "items",
        "read_panel": "panel",
    },
)
