"""Families of judges and of items, where a fit was asked how much judges favour their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from voirdire.errors import InputError
from voirdire.tables.families import read_families

if TYPE_CHECKING:
    from voirdire.kinds.kind import Request


def asked_families(
    request: Request, judges: Sequence[str], items: Sequence[str]
) -> tuple[dict[str, str], dict[str, str]] | None:
    """Family of each judge and of each item; None where nothing was asked of own families.

    Raises
    ------
    InputError
        Families of items without those of judges, or neither where answers about own families are to be left out.

    Examples
    --------
    >>> asked_families(Request(families={"a": "big"}, item_families={"x": "big"}), ["a", "b"], ["x", "y"])
    ({'a': 'big', 'b': 'b'}, {'x': 'big', 'y': 'y'})
    """
    if request.item_families is None:
        if request.without_own_family:
            raise InputError(
                "without_own_family needs the families of judges and of items: families=, item_families="
            )
        return None
    if request.families is None:
        raise InputError("item_families= needs families=, the family of each judge; pass both")
    return read_families(request.families, judges), read_families(request.item_families, items, who="item")
