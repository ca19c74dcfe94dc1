"""Families of judges and of items, where a fit was asked how much judges favour their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import InputError
from voirdire.tables.covariates import OWN_FAMILY
from voirdire.tables.families import read_families
from voirdire.typing import Bools

if TYPE_CHECKING:
    from voirdire.kinds.request import Request


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
    >>> from voirdire.kinds.request import Request
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


def add_own_families(table: Any, request: Request) -> tuple[Any, list[str]]:
    """With the covariate of own families, or without the answers about them."""
    families = asked_families(request, table.judges, table.items)
    if families is None:
        return table, []
    of_judges, of_items = families
    judge = np.array([of_judges[name] for name in table.judges], dtype=object)[table.judge]
    item = np.array([of_items[name] for name in table.items], dtype=object)[table.item]
    own: Bools = judge == item.T  # of votes of each item
    if request.without_own_family:
        any_own = own.reshape(-1, table.rows).any(axis=0)
        if any_own.all():
            raise InputError(
                f"all {table.rows:,} {table.data} are of judges on items of their own family; nothing is left"
            )
        count = f"{int(any_own.sum()):,} of {table.rows:,} {table.data}"
        return table.subset(~any_own), [f"{count} are of a judge on an item of its family: left out."]
    said = (
        "answered about an item of its own family and another about it, too"
        if own.ndim == 1
        else ("compared an item of its own family with one of another")
    )
    if own.all() or not own.any() or (own.ndim > 1 and (own[0] == own[1]).all()):
        raise InputError(
            f"no judge {said}: an effect of own families cannot be told; check that judges and items name their "
            "families alike, or leave the families of items out"
        )
    further = table.further.with_covariates((OWN_FAMILY,), own.T[..., None].astype(float), np.ones(1))
    return table.with_further(further), []


def own_family_judges(table: Any) -> tuple[str, ...]:
    """Judges that answered about an item of their own family, of votes beside another."""
    if OWN_FAMILY not in table.further.covariates:
        return ()
    own = table.further.covariate[..., table.further.covariates.index(OWN_FAMILY)]
    some = own > 0 if own.ndim == 1 else own[:, 0] != own[:, 1]
    return tuple(table.judges[judge] for judge in np.unique(table.judge[some]))
