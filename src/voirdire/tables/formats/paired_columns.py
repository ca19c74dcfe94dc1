"""Columns that name a judge and a criterion, as ``gpt4_fluency``: converted to one row per judge, with its criteria."""

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
from voirdire.tables.formats.listed_answers import subject_namer
from voirdire.tables.formats.records import Placed, Record
from voirdire.tables.formats.source import Source

_SEPARATOR = re.compile(r"\s*[_.:/(-]+\s*|\s+")
_SHORT_JUDGE = re.compile(r"[A-Z]{1,2}\d+", re.IGNORECASE)  # A1, r2


def paired_columns(columns: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Map columns to judge and criterion, if each judge has all criteria; empty if the names are not of this form.

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
        separators = list(_SEPARATOR.finditer(name))
        if separators and not is_key(name) and not is_covariate_name(name):
            for split, mark in zip(splits, (separators[0], separators[-1]), strict=True):
                split.append((name, name[: mark.start()], name[mark.end() :].removesuffix(")")))
    for split in splits:
        for judge, criterion in ((1, 2), (2, 1)):
            pairs = {parts[0]: (parts[judge], parts[criterion]) for parts in split if _is_judge(parts[judge])}
            judges, criteria = ({pair[index] for pair in pairs.values()} for index in (0, 1))
            if len(judges) > 1 and len(criteria) > 1 and len(pairs) == len(judges) * len(criteria):
                return pairs
    return {}


def _is_judge(name: str) -> bool:
    return bool(judge_columns([name])) or _SHORT_JUDGE.fullmatch(name) is not None


def spread_pairs(source: Source, options: FormatOptions) -> FormatOptions:
    """Make each judge of a row a separate row with the criteria as columns; return the options for these rows.

    Raises
    ------
    InputError
        The column names do not consist of judges and criteria.
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
    other_columns = [name for name in source.columns() if name not in pairs]
    subject = subject_namer(source, other_columns, find_roles(other_columns) | dict(options.map or {}))

    def rows(record: Record, place: str) -> Iterator[Record]:
        subject_cells = {name: record.get(name) for name in other_columns} | subject(record, place)
        for judge in judges:
            answers: dict[str, Any] = {
                pair_criterion: record.get(name)
                for name, (pair_judge, pair_criterion) in pairs.items()
                if pair_judge == judge
            }
            yield subject_cells | {"judge": judge} | answers

    def spread(placed: Placed) -> Placed:
        for place, record in placed:
            if isinstance(record, dict):
                yield from ((place, row) for row in rows(record, place))
            else:
                yield place, record

    source.transform_records(spread)
    source.notes.append(
        f"{source.name}: columns are a judge ({', '.join(judges)}) and a criterion ({', '.join(criteria)}) each"
    )
    return replace(options, wide="criterion", columns=criteria)
