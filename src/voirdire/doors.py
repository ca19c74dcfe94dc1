"""Attributes of a package that are imported at their first use."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any


def lazy_attributes(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make ``__getattr__`` and ``__dir__`` of a package that import the module of a name at its first use.

    Parameters
    ----------
    package : str
    homes : mapping
        Module of every name, without the package.

    Raises
    ------
    AttributeError
        From ``__getattr__``, for an unknown name.

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
