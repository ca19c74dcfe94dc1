"""How judges agree: coefficients, resampling, panels of experts, correlation with people.

The package is callable: ``voirdire.agreement(table)`` is `voirdire.agreement.verb.agreement`, so that the verb
and the folder of what it is made of can share their name.
"""

from __future__ import annotations

import inspect
import sys
from types import ModuleType
from typing import Any

from voirdire.agreement.verb import agreement


class _Verb(ModuleType):
    """A module that is its verb."""

    __signature__ = inspect.signature(agreement)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return agreement(*args, **kwargs)


sys.modules[__name__].__class__ = _Verb
