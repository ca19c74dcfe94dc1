"""Families of judges and of items, where a fit was asked how much judges favour their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    (found,), notes = add_own_families_to_all([table], request)
    return found, notes


def add_own_families_to_all(tables: Sequence[Any], request: Request) -> tuple[Sequence[Any], list[str]]:
    """As :func:`add_own_families`, of tables of the same judges and items, one of which at least tells the effect."""
    families = asked_families(request, tables[0].judges, tables[0].items)
    if families is None:
        return tables, []
    own = [_is_own(table, *families) for table in tables]
    if request.without_own_family:
        left, notes = zip(*map(_leave_own_out, tables, own), strict=True)
        return left, [note for some in notes for note in some]
    _check_own_families(own)
    return [*map(_with_own, tables, own)], []


def _is_own(table: Any, of_judges: Mapping[str, str], of_items: Mapping[str, str]) -> Bools:
    """True where an answer is of a judge on an item of its family, shape (rows,); of votes each item, (2, rows)."""
    judge = np.array([of_judges[name] for name in table.judges], dtype=object)[table.judge]
    item = np.array([of_items[name] for name in table.items], dtype=object)[table.item]
    return np.asarray(judge == item.T, dtype=bool)


def _leave_own_out(table: Any, own: Bools) -> tuple[Any, list[str]]:
    any_own = own.reshape(-1, table.rows).any(axis=0)
    if any_own.all():
        raise InputError(
            f"all {table.rows:,} {table.data} are of judges on items of their own family; nothing is left: check the "
            "families of judges and of items, or leave without_own_family (--without-own-family) out"
        )
    count = f"{int(any_own.sum()):,} of {table.rows:,} {table.data}"
    return table.subset(~any_own), [f"{count} are of a judge on an item of its family: left out."]


def _with_own(table: Any, own: Bools) -> Any:
    values = own.T[..., None].astype(float)
    further = table.further.with_covariates((OWN_FAMILY,), values, np.ones(1), np.zeros(1))
    return table.with_further(further)


def _check_own_families(own: Sequence[Bools]) -> None:
    """Raise where no table tells answers about an item of the own family from others."""
    if any(one.any() and not one.all() and (one.ndim == 1 or (one[0] != one[1]).any()) for one in own):
        return
    said = {
        1: "answered about an item of its own family and another about it, too",
        2: "compared an item of its own family with one of another",
    }
    ways = " or ".join(said[ndim] for ndim in dict.fromkeys(one.ndim for one in own))
    raise InputError(
        f"no judge {ways}: an effect of own families cannot be told; check that judges and items name their "
        "families alike, or leave the families of items out"
    )


def own_family_judges(table: Any) -> tuple[str, ...]:
    """Judges that answered about an item of their own family, of votes beside another."""
    if OWN_FAMILY not in table.further.covariates:
        return ()
    own = table.further.covariate[..., table.further.covariates.index(OWN_FAMILY)]
    some = own > 0 if own.ndim == 1 else own[:, 0] != own[:, 1]
    return tuple(table.judges[judge] for judge in np.unique(table.judge[some]))
