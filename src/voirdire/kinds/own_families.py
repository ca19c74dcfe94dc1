"""Families of judges and of items, for the preference of judges for their own family."""

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


def requested_families(
    request: Request, judges: Sequence[str], items: Sequence[str]
) -> tuple[dict[str, str], dict[str, str]] | None:
    """Read the family of each judge and of each item; None if the request does not concern own families.

    Raises
    ------
    InputError
        Families of items without those of judges, or missing families where own-family answers are to be left out.

    Examples
    --------
    >>> from voirdire.kinds.request import Request
    >>> requested_families(Request(families={"a": "big"}, item_families={"x": "big"}), ["a", "b"], ["x", "y"])
    ({'a': 'big', 'b': 'b'}, {'x': 'big', 'y': 'y'})
    """
    if request.item_families is None:
        if request.without_own_family:
            raise InputError("without_own_family needs the families of judges and of items: families=, item_families=")
        return None
    if request.families is None:
        raise InputError("item_families= needs families=, the family of each judge; pass both")
    return read_families(request.families, judges), read_families(request.item_families, items, unit="item")


def add_own_families(table: Any, request: Request) -> tuple[Any, list[str]]:
    """Add the covariate of own families, or remove answers about items of the own family."""
    (extended,), notes = add_own_families_to_all([table], request)
    return extended, notes


def add_own_families_to_all(tables: Sequence[Any], request: Request) -> tuple[Sequence[Any], list[str]]:
    """As :func:`add_own_families`, for tables of the same judges and items; at least one must identify the effect."""
    families = requested_families(request, tables[0].judges, tables[0].items)
    if families is None:
        return tables, []
    is_own = [_own_family_mask(table, *families) for table in tables]
    if request.without_own_family:
        remaining, notes = zip(*map(_remove_own_answers, tables, is_own), strict=True)
        return remaining, [note for table_notes in notes for note in table_notes]
    _check_own_families(is_own)
    return [*map(_add_own_covariate, tables, is_own)], []


def _own_family_mask(table: Any, of_judges: Mapping[str, str], of_items: Mapping[str, str]) -> Bools:
    """True where a judge answered about an item of its family, shape (rows,); for votes by item, shape (2, rows)."""
    judge = np.array([of_judges[name] for name in table.judges], dtype=object)[table.judge]
    item = np.array([of_items[name] for name in table.items], dtype=object)[table.item]
    return np.asarray(judge == item.T, dtype=bool)


def _remove_own_answers(table: Any, own_family: Bools) -> tuple[Any, list[str]]:
    any_own = own_family.reshape(-1, table.rows).any(axis=0)
    if any_own.all():
        raise InputError(
            f"all {table.rows:,} {table.data} are of judges on items of their own family; nothing is left: check the "
            "families of judges and of items, or leave without_own_family (--without-own-family) out"
        )
    count = f"{int(any_own.sum()):,} of {table.rows:,} {table.data}"
    return table.subset(~any_own), [f"{count} are of a judge on an item of its family: left out."]


def _add_own_covariate(table: Any, own_family: Bools) -> Any:
    values = own_family.T[..., None].astype(float)
    further = table.further.with_covariates((OWN_FAMILY,), values, np.ones(1), np.zeros(1))
    return table.with_further(further)


def _check_own_families(own_family: Sequence[Bools]) -> None:
    """Raise if no table identifies the effect of own families."""
    if any(mask.any() and not mask.all() and (mask.ndim == 1 or (mask[0] != mask[1]).any()) for mask in own_family):
        return
    actions = {
        1: "answered about an item of its own family on which a judge of another family answered, too",
        2: "compared an item of its own family with one of another",
    }
    wording = " or ".join(actions[ndim] for ndim in dict.fromkeys(mask.ndim for mask in own_family))
    raise InputError(
        f"no judge {wording}: an effect of own families cannot be estimated; check that judges and items name "
        "their families alike, or leave the families of items out"
    )


def own_family_judges(table: Any) -> tuple[str, ...]:
    """Names of judges that answered about items of their own family (for votes, compared with others)."""
    if OWN_FAMILY not in table.further.covariates:
        return ()
    values = table.further.covariate[..., table.further.covariates.index(OWN_FAMILY)]
    rows = values > 0 if values.ndim == 1 else values[:, 0] != values[:, 1]
    return tuple(table.judges[judge] for judge in np.unique(table.judge[rows]))
