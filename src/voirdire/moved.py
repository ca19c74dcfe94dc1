"""Import paths of the last release: what was public under them is found where it is now, with a DeprecationWarning."""

from __future__ import annotations

import sys
import warnings
from types import ModuleType

_OLD = {
    "voirdire.agree": (
        *("agreement", "compare", "detection", "experts", "gates", "leave_out", "multiplicity", "phases"),
        *("resample", "runs", "statistic", "swap"),
    ),
    "voirdire.metaeval": ("ceiling", "compare", "concordance", "table", "verb", "williams"),
}


class _Moved(ModuleType):
    """A module whose names are those of `voirdire.agreement`, or of voirdire itself."""

    def __getattr__(self, name: str) -> object:
        if name.startswith("_"):
            raise AttributeError(name)
        import voirdire

        home = voirdire if name in voirdire.__all__ else voirdire.agreement
        found = getattr(home, name)
        warnings.warn(
            f"{self.__name__}.{name} is {home.__name__}.{name} now; the old name goes with the next release",
            DeprecationWarning,
            stacklevel=2,
        )
        return found


def keep_old_paths() -> None:
    """Make the old modules importable.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always")
    ...     from voirdire.metaeval.compare import compare_metrics
    >>> compare_metrics.__module__
    'voirdire.agreement.correlation.compare'
    >>> str(told[0].message).partition(" now;")[0]
    'voirdire.metaeval.compare.compare_metrics is voirdire.agreement.compare_metrics'
    """
    for package, modules in _OLD.items():
        for name in (package, *(f"{package}.{module}" for module in modules)):
            sys.modules.setdefault(name, _Moved(name))
