"""Correlation of judges with people: coefficients, grouping levels, intervals.

The package is callable: ``voirdire.metaeval(table, human)`` is `voirdire.metaeval.verb.metaeval`, so that
the verb and the folder of what it is made of can share their name.
"""

from __future__ import annotations

import inspect
import sys
from types import ModuleType
from typing import Any

from voirdire.metaeval.verb import metaeval


class _Verb(ModuleType):
    """A module that is its verb."""

    __signature__ = inspect.signature(metaeval)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return metaeval(*args, **kwargs)


sys.modules[__name__].__class__ = _Verb
