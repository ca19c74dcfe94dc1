"""Names that a package hands out without importing their modules before they are asked for."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any


def open_door(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Make the ``__getattr__`` of a package, which imports the home of a name when the name is asked for.

    Parameters
    ----------
    package : str
    homes : mapping
        Module of every name, without the package.

    Raises
    ------
    AttributeError
        From what is made, of a name without home.

    Examples
    --------
    >>> open_door("voirdire", {"InputError": "errors"})("InputError").__name__
    'InputError'
    """

    def find_name(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(importlib.import_module(f"{package}.{homes[name]}"), name)

    return find_name
