"""Names that a package hands out without importing their modules before they are asked for."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any


def lazy_attributes(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make ``__getattr__`` and ``__dir__`` of a package: a name's home is imported when the name is asked for.

    Parameters
    ----------
    package : str
    homes : mapping
        Module of every name, without the package.

    Raises
    ------
    AttributeError
        From ``__getattr__``, of a name without home.

    Examples
    --------
    >>> find_name, list_names = lazy_attributes("voirdire", {"InputError": "errors"})
    >>> find_name("InputError").__name__, list_names()
    ('InputError', ['InputError'])
    """

    def find_name(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(importlib.import_module(f"{package}.{homes[name]}"), name)

    return find_name, lambda: sorted(homes)
