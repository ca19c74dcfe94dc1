"""Rows of terms as users write them: ``item + item:context + judge:item``, or ``[[term]]`` in a model file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from voirdire.errors import InputError
from voirdire.settings import is_number

TERM_SEPARATOR, FACTOR_SEPARATOR = "+", ":"
NUMBER_KEYS = ("rate", "sd")  # keys of a row of a model file in addition to its factors


class TermRow(NamedTuple):
    """A term of a model: latent values by the levels of some factors, multiplied by a covariate where it names one.

    Attributes
    ----------
    factors : tuple of str
        Names of factors (item, judge, context, criterion, run, time, a column of the table) and of covariates.
    rate : float or None
        Rate of the exponential prior of the values' standard deviation, where it is learned.
    sd : float or None
        The standard deviation, where it is fixed. Without either, the term has its default prior.
    """

    factors: tuple[str, ...]
    rate: float | None = None
    sd: float | None = None

    @property
    def words(self) -> str:
        """The term as users write it."""
        return FACTOR_SEPARATOR.join(self.factors)


def parse_terms(text: object) -> tuple[TermRow, ...]:
    """Parse a sum of terms into rows.

    Raises
    ------
    InputError
        The value is not a text, a term or name is empty, or a name in a term or a term occurs twice.

    Examples
    --------
    >>> [row.words for row in parse_terms("item + judge:item")]
    ['item', 'judge:item']
    """
    if not isinstance(text, str):
        raise InputError(f"terms={text!r} is no text; write terms='item + judge:item'")
    rows = [
        TermRow(tuple(name.strip() for name in term.split(FACTOR_SEPARATOR))) for term in text.split(TERM_SEPARATOR)
    ]
    problems = [problem for row in rows for problem in _row_problems(row, f"terms {text!r}")]
    problems += _repeated_rows(rows, f"terms {text!r}")
    if problems:
        raise InputError(problems)
    return tuple(rows)


def read_rows(content: object) -> tuple[tuple[TermRow, ...], list[str]]:
    """Read the rows of ``[[term]]`` in a model file, and list their problems.

    Examples
    --------
    >>> read_rows([{"factors": "group:item", "rate": 1.0}])
    ((TermRow(factors=('group', 'item'), rate=1.0, sd=None),), [])
    """
    if not isinstance(content, Sequence) or not all(isinstance(row, Mapping) for row in content):
        return (), ["[[term]] must be tables, each with 'factors'"]
    rows, problems = [], []
    for row in content:
        factors = row.get("factors")
        if not isinstance(factors, str):
            problems.append("each [[term]] needs 'factors', names with a colon between, such as \"judge:item\"")
            continue
        numbers = {key: row[key] for key in NUMBER_KEYS if key in row}
        problems += [
            f"[[term]] {factors} has no key {key!r}; it takes factors, rate, sd"
            for key in row
            if key not in ("factors", *NUMBER_KEYS)
        ]
        problems += [
            f"[[term]] {factors}: {key} must be positive, not {value!r}"
            for key, value in numbers.items()
            if not (is_number(value) and value > 0)
        ]
        if len(numbers) > 1:
            problems.append(f"[[term]] {factors} has both rate and sd; give one")
        term_row = TermRow(tuple(name.strip() for name in factors.split(FACTOR_SEPARATOR)), **numbers)
        problems += _row_problems(term_row, f"[[term]] {factors}")
        rows.append(term_row)
    return tuple(rows), [*problems, *_repeated_rows(rows, "[[term]]")]


def _row_problems(row: TermRow, place: str) -> list[str]:
    if not all(row.factors):
        return [
            f"{place}: a name is missing beside a {TERM_SEPARATOR!r} or {FACTOR_SEPARATOR!r}; write them as in item + "
            "judge:item"
        ]
    repeated = sorted({name for name in row.factors if row.factors.count(name) > 1})
    return [f"{place}: {name!r} is named twice in {row.words}; name it once" for name in repeated]


def _repeated_rows(rows: Sequence[TermRow], place: str) -> list[str]:
    sets = [frozenset(row.factors) for row in rows]
    repeated = {row.words for index, row in enumerate(rows) if sets[index] in sets[:index]}
    return [f"{place}: {words} occurs twice; name it once" for words in sorted(repeated)]
