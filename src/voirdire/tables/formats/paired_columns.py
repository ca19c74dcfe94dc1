"""Columns that are a judge and a criterion each, as ``gpt4_fluency``: a row for each judge, with its criteria."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from voirdire.errors import InputError
from voirdire.tables.columns import find_roles, list_names
from voirdire.tables.formats.column_samples import is_covariate_name, is_key
from voirdire.tables.formats.example_table import judge_columns
from voirdire.tables.formats.format import FormatOptions
from voirdire.tables.formats.listed_answers import subject_of
from voirdire.tables.formats.records import Placed, Record
from voirdire.tables.formats.source import Source

_BETWEEN = re.compile(r"\s*[_.:/(-]+\s*|\s+")
_SHORT = re.compile(r"[A-Z]{1,2}\d+", re.IGNORECASE)  # of a judge: A1, r2


def paired_columns(columns: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Columns to their judges and criteria, of which each judge has all; none where no names of columns are such.

    Parameters
    ----------
    columns : sequence of str

    Examples
    --------
    >>> found = paired_columns(["id", "gpt4_tone", "gpt4_style", "human_tone", "human_style"])
    >>> found["human_style"], len(found)
    (('human', 'style'), 4)
    >>> paired_columns(["tone_rater", "tone_a", "style_b"])
    {}
    >>> paired_columns(["tone (A1)", "style (A1)", "tone (A2)", "style (A2)"])["tone (A2)"]
    ('A2', 'tone')
    """
    splits: list[list[tuple[str, str, str]]] = [[], []]
    for name in columns:
        marks = list(_BETWEEN.finditer(name))
        if marks and not is_key(name) and not is_covariate_name(name):
            for found, mark in zip(splits, (marks[0], marks[-1]), strict=True):
                found.append((name, name[: mark.start()], name[mark.end() :].removesuffix(")")))
    for found in splits:
        for judge, criterion in ((1, 2), (2, 1)):
            named = {one[0]: (one[judge], one[criterion]) for one in found if _is_judge(one[judge])}
            judges, criteria = ({pair[at] for pair in named.values()} for at in (0, 1))
            if len(judges) > 1 and len(criteria) > 1 and len(named) == len(judges) * len(criteria):
                return named
    return {}


def _is_judge(name: str) -> bool:
    return bool(judge_columns([name])) or _SHORT.fullmatch(name) is not None


def spread_pairs(source: Source, options: FormatOptions) -> FormatOptions:
    """Have each judge of a row be a row of its own, whose columns are criteria; and the options then.

    Raises
    ------
    InputError
        The columns are no judges and criteria.
    """
    free = [name for name in source.columns() if name not in (options.map or {}).values()]
    pairs = paired_columns(list(options.columns) or free)
    if not pairs:
        raise InputError(
            f"{source.name}: no columns are called by a judge and a criterion, as gpt4_tone, gpt4_style, human_tone "
            f"and human_style are; it has {list_names(source.columns())}"
        )
    judges = list(dict.fromkeys(judge for judge, _ in pairs.values()))
    criteria = list(dict.fromkeys(criterion for _, criterion in pairs.values()))
    rest = [name for name in source.columns() if name not in pairs]
    subject = subject_of(source, rest, find_roles(rest) | dict(options.map or {}))

    def rows(record: Record, place: str) -> Iterator[Record]:
        about = {name: record.get(name) for name in rest} | subject(record, place)
        for judge in judges:
            own: dict[str, Any] = {
                said: record.get(name) for name, (who, said) in pairs.items() if who == judge
            }
            yield about | {"judge": judge} | own

    def spread(placed: Placed) -> Placed:
        for place, record in placed:
            if isinstance(record, dict):
                yield from ((place, row) for row in rows(record, place))
            else:
                yield place, record

    source.change(spread)
    source.notes.append(
        f"{source.name}: columns are a judge ({', '.join(judges)}) and a criterion ({', '.join(criteria)}) each"
    )
    return replace(options, wide="criterion", columns=criteria)
