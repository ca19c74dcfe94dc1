"""Settings of a requested fit, beside its table and model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from voirdire.model.term_rows import TermRow
from voirdire.tables.covariates import covariate_columns, covariate_names


@dataclass(frozen=True)
class Request:
    """Settings of a requested fit, beside its table and model; see :func:`voirdire.fit`."""

    criteria: object = None
    anchors: object = None
    anchor_mode: str | None = None
    families: object = None
    levels: Sequence[object] | None = None
    classes: Sequence[object] | None = None
    over: str = "new"
    covariates: object = None
    item_families: object = None
    without_own_family: bool = False
    by: str | None = None
    order: str | None = None
    positive: object = None
    board: bool = False
    about: str | None = None
    judges: str | None = None
    terms: tuple[TermRow, ...] = ()

    @property
    def asks_terms(self) -> bool:
        """True if it requests terms that no default model has: covariates, families of items, groups of contexts."""
        has_item_families = self.item_families is not None and not self.without_own_family
        return self.covariates is not None or has_item_families or self.by is not None

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of further columns to read, if a table has them."""
        covariates = self.covariates
        columns = () if covariates is None else (*covariate_columns(covariates), *covariate_names(covariates))
        columns += () if self.by is None else (self.by,)
        names = [name for row in self.terms for name in row.factors]
        # votes also have a column of each for both items
        return tuple(dict.fromkeys((*columns, *names, *covariate_columns(names))))
