"""Further columns of a table: covariates (numbers) and factors of its rows, for terms of a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, cast

import numpy as np

from voirdire.tables.columns import KNOWN_COLUMNS
from voirdire.tables.covariates import (
    SIDES,
    CovariateRequest,
    covariate_columns,
    covariate_names,
    item_covariates,
    number_column,
    standardise_covariates,
)
from voirdire.tables.encode import cell_to_name, encode_column
from voirdire.tables.numbers import is_number
from voirdire.tables.problems import Problems, nearest_name
from voirdire.typing import Floats, Ints

#: Columns of tables of any kind that are not further columns.
STANDARD_COLUMNS = (
    "judge", "item", "context", "criterion", "run", "system", "score", "rank", "first", "second", "winner"
)  # fmt: skip
BY_OPTION = "by= (--by)"  # in messages
MIN_EIGENVALUE = 1e-8  # smallest eigenvalue of the correlations of covariates


@dataclass(frozen=True, eq=False)
class Further:
    """Further columns of a table, one entry per row.

    Attributes
    ----------
    columns : mapping of str to sequence
        Cells of the columns to keep, unchanged.
    covariates : tuple of str
        Names of covariates.
    units : array, shape (covariates,)
        Unit of each covariate (its standard deviation), on the scale of the table.
    means : array, shape (covariates,)
        Mean of each covariate, on the scale of the table; not saved.
    covariate : array, shape (rows, covariates); for votes (rows, 2, covariates)
        Differences from the mean, in units; for votes of the first and of the second item.
    factors : dict of str to tuple of str
        Levels of each factor.
    factor : int array, shape (rows, factors)
        Code of the level of each factor; -1 for none.
    present : tuple of str
        All columns of the table as it was read.

    Examples
    --------
    >>> further = Further({"length": ["3", "5"]}, ("length",), covariate=np.array([[-1.0], [1.0]]))
    >>> further.take(np.array([0])).covariate.tolist()
    [[-1.0]]
    """

    columns: Mapping[str, Sequence[object]] = field(default_factory=dict)
    covariates: tuple[str, ...] = ()
    units: Floats = field(default_factory=lambda: np.zeros(0))
    means: Floats = field(default_factory=lambda: np.zeros(0))
    covariate: Floats | None = None
    factors: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    factor: Ints | None = None
    present: tuple[str, ...] = ()

    @property
    def codes(self) -> dict[str, Ints]:
        """Code of the level of each row, by factor."""
        if self.factor is None:
            return {}
        return {name: self.factor[:, index] for index, name in enumerate(self.factors)}

    def take(self, rows: Ints) -> Further:
        """Select the entries of some rows."""
        if self is NO_FURTHER_COLUMNS:
            return self
        columns = {name: [cells[int(row)] for row in rows] for name, cells in self.columns.items()}
        kept = {name: getattr(self, name)[rows] for name in ROW_ARRAYS if getattr(self, name) is not None}
        return replace(self, columns=columns, **kept)

    def with_covariates(self, names: tuple[str, ...], values: Floats, units: Floats, means: Floats) -> Further:
        """Add covariates; values have shape (rows, names), for votes (rows, 2, names)."""
        previous = np.zeros((*values.shape[:-1], 0)) if self.covariate is None else self.covariate
        return replace(
            self,
            covariates=(*self.covariates, *names),
            units=np.append(self.units, units),
            means=np.append(self.means, means),
            covariate=np.concatenate([previous, values], axis=-1),
        )

    def with_factor(self, name: str, levels: tuple[str, ...], code: Ints) -> Further:
        """Add one factor."""
        previous = np.zeros((len(code), 0), dtype=np.int64) if self.factor is None else self.factor
        return replace(
            self, factors={**self.factors, name: levels}, factor=np.concatenate([previous, code[:, None]], axis=1)
        )

    def pack(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Pack covariates and factors into JSON data and arrays by name; unused columns are left out."""
        arrays = {name: getattr(self, name) for name in (*ROW_ARRAYS, "units")}
        names = {"covariates": self.covariates, "factors": dict(self.factors)}
        return names, {name: value for name, value in arrays.items() if value is not None}

    @classmethod
    def from_packed(cls, names: Mapping[str, Any], arrays: Mapping[str, Any]) -> Further:
        """Rebuild from the output of :meth:`pack`, after JSON turned tuples into lists."""
        factors = {name: tuple(levels) for name, levels in names["factors"].items()}
        return cls(covariates=tuple(names["covariates"]), factors=factors, **arrays)


NO_FURTHER_COLUMNS = Further()
ROW_ARRAYS = ("covariate", "factor")  # arrays with one entry per row
T = TypeVar("T")  # a table of rows


def with_covariates(table: T, covariates: object) -> T:
    """Add covariates to the rows of a table.

    Parameters
    ----------
    table : VoteRows, Scores or Rankings
    covariates : str, sequence of str, path or dataframe
        Names of columns of the table (separated by commas in one string; for votes of NAME_first and NAME_second), or
        a table with columns ``item``, optionally ``context``, and the covariates.

    Raises
    ------
    InputError
        A covariate is missing for an item, not a number, constant, or collinear with others; a name occurs twice.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.scores import read_scores
    >>> scores = read_scores(pd.DataFrame({"judge": "a", "item": ["x", "y"], "score": [1, 2]}))
    >>> items = pd.DataFrame({"item": ["x", "y"], "length": [3, 5]})
    >>> with_covariates(scores, items).further.covariate.tolist()
    [[-1.0], [1.0]]
    """
    names, answers = covariate_names(covariates), cast(Any, table)
    problems = Problems(f"covariates of {answers.data}" if names else "covariates")
    if names:
        raw = np.stack([_numeric_column(answers, name, problems) for name in names], axis=-1)
    else:
        context = None if answers.context is None else np.broadcast_to(answers.context, answers.item.T.shape).T
        request = CovariateRequest(answers.data, answers.items, answers.contexts, answers.item, context)
        names, raw = item_covariates(request, covariates, problems)
    problems.raise_any()
    for name in sorted({name for name in names if names.count(name) > 1}):
        problems.table(f"{name!r} is named twice; name it once")
    problems.raise_any()
    further = answers.further.with_covariates(names, *standardise_covariates(names, raw, problems))
    _check_collinear(further, problems)
    problems.raise_any()
    return answers.with_further(further)  # type: ignore[no-any-return]


def _check_collinear(further: Further, problems: Problems) -> None:
    assert further.covariate is not None  # covariates were added
    values = further.covariate if further.covariate.ndim == 2 else covariate_differences(further.covariate)
    values = values - values.mean(axis=0)
    size = values.std(axis=0)
    names, values = np.array(further.covariates, dtype=object)[size > 0], values[:, size > 0] / size[size > 0]
    if len(names) < 2:
        return
    lowest, direction = (part[..., 0] for part in np.linalg.eigh(values.T @ values / len(values)))
    if lowest < MIN_EIGENVALUE:
        among = [repr(name) for name, part in zip(names, direction, strict=True) if abs(part) > 1e-3]
        problems.table(f"{', '.join(among)} are collinear: one follows from the others; leave one out")


def covariate_differences(covariate: Floats) -> Floats:
    """Subtract covariates of the second item from those of the first; the input has shape (..., 2, covariates)."""
    return np.asarray(covariate[..., 0, :] - covariate[..., 1, :])


def with_column(table: T, name: str) -> T:
    """Add a column of a table as a covariate, where all cells are numbers, else as a factor.

    Raises
    ------
    InputError
        The table has no such column, or the column is constant.
    """
    answers: Any = table
    if _has_column_per_item(answers, name):
        return with_covariates(table, (name,))
    cells = _further_cells(answers, name, problems := Problems(f"terms of {answers.data}"))
    problems.raise_any()
    if all(map(_is_number, cells)):
        return with_covariates(table, (name,))
    column = encode_column(cells, name, problems)
    problems.raise_any()
    if len(column.levels) < 2:
        problems.stop(f"column {name!r} is the same in every row; leave it out")
    levels = tuple(sorted(column.levels))
    code = np.array([levels.index(level) for level in column.levels])[column.codes]
    return answers.with_further(answers.further.with_factor(name, levels, code))  # type: ignore[no-any-return]


def with_common_levels(first: Further, second: Further) -> tuple[Further, Further]:
    """Recode the factors of two tables by the sorted union of their levels; both have the same factors.

    Examples
    --------
    >>> one = Further(factors={"topic": ("b",)}, factor=np.array([[0]]))
    >>> other = Further(factors={"topic": ("a",)}, factor=np.array([[0], [-1]]))
    >>> [found.codes["topic"].tolist() for found in with_common_levels(one, other)]
    [[1], [0, -1]]
    """
    shared = {name: tuple(sorted({*levels, *second.factors[name]})) for name, levels in first.factors.items()}
    recoded = []
    for further in (first, second):
        factor = further.factor
        for index, (name, levels) in enumerate(further.factors.items()):
            assert factor is not None  # there are factors
            position = np.array([*map(shared[name].index, levels), -1])
            factor = np.where(np.arange(len(further.factors)) == index, position[factor], factor)
        recoded.append(replace(further, factors=shared, factor=factor))
    return recoded[0], recoded[1]


def _is_number(cell: object) -> bool:
    name = cell_to_name(cell)
    return isinstance(name, str) and is_number(name)


def _further_cells(table: Any, name: str, problems: Problems) -> Sequence[object]:
    columns = table.further.columns
    if name in STANDARD_COLUMNS:
        problems.table(f"{name!r} is one of the columns that say who answered what; name a further one")
        return [0.0] * table.rows
    if name not in columns:
        problems.table(missing_column_message(table, name, "there is"))
        return [0.0] * table.rows
    cells: Sequence[object] = columns[name]
    return cells


def missing_column_message(table: Any, name: str, subject: str = "") -> str:
    """Describe that a table lacks a further column; suggest a similar name, or list the columns that there are.

    ``subject``, such as "there is", replaces the words for the table where the text before the sentence names it.
    """
    spare = further_names(table)
    if name in (*table.further.present, *spare):
        return f"column {name!r} of the {table.data} has another use; give it another name, or leave it out"
    hint = nearest_name(name, [*table.further.present, *spare]) or (
        f"; further columns are {', '.join(map(repr, spare)) or 'none'}"
    )
    return f"{subject or f'the {table.data} have'} no column {name!r}{hint}"


def check_groups_of_contexts(by: str) -> None:
    """Check that a column can group contexts: its levels must not be units of the models already.

    Raises
    ------
    InputError
        The column is context, judge, criterion or item.
    """
    problems = Problems(BY_OPTION)
    if by == "context":
        problems.stop(
            "contexts() (--contexts --json) has the results of items in each context; name a column that groups "
            "contexts, such as category"
        )
    if by in ("judge", "criterion", "item"):
        problems.stop(f"models separate answers by {by!r} already; name another column")


def further_names(table: Any) -> list[str]:
    """List the further columns of a table by the names of their terms; NAME_first and NAME_second of votes are NAME.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> further = Further(present=("judge", "first", "second", "length_first", "length_second", "topic"))
    >>> further_names(SimpleNamespace(item=np.zeros((1, 2)), further=further))
    ['length', 'topic']
    """
    spare = [name for name in table.further.present if name not in KNOWN_COLUMNS]
    if table.item.ndim == 1:
        return spare
    sided = {name: name.removesuffix(f"_{side}") for name in spare for side in SIDES if name.endswith(f"_{side}")}
    two_sided = {name for name in sided.values() if set(covariate_columns((name,))) <= set(spare)}
    return list(dict.fromkeys(sided[name] if sided.get(name) in two_sided else name for name in spare))


def _has_column_per_item(table: Any, name: str) -> bool:
    """True if a table of votes has a column for each of its two items."""
    return table.item.ndim > 1 and set(covariate_columns((name,))) <= set(table.further.columns)


def _numeric_column(table: Any, name: str, problems: Problems) -> Floats:
    """Read the numbers of a column, in the shape of ``table.item``; for votes one column holds for both items."""
    sided = table.item.ndim > 1 and name not in table.further.columns
    names = covariate_columns((name,)) if sided else (name,) * (table.item.size // max(table.rows, 1))
    numbers = [number_column(column, _further_cells(table, column, problems), problems) for column in names]
    return np.stack(numbers, axis=-1).reshape(table.item.shape)
