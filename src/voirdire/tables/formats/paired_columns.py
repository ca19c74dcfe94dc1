"""Columns of a judge or an item and a criterion, as ``gpt4_tone`` or ``Tone [x]``: a row per judge or item instead."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from voirdire.errors import InputError
from voirdire.tables.columns import find_roles, list_names
from voirdire.tables.formats.column_samples import is_covariate_name, is_key, sample_columns
from voirdire.tables.formats.format import FormatOptions
from voirdire.tables.formats.listed_answers import judge_columns, line_of, subject_namer
from voirdire.tables.formats.records import Record
from voirdire.tables.formats.source import Source

_SEPARATOR = re.compile(r"\s*[_.:/(-]+\s*|\s+")
_GRID_CELL = re.compile(r"(?P<question>.*[^\s\[\]])\s*\[(?P<row>[^\[\]]+)\]")  # Q1[SQ001], Rate the style [GPT-4]
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


def grid_columns(columns: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Map columns to question and row, if several questions of a form have the same rows in brackets; empty otherwise.

    Examples
    --------
    >>> grid_columns(["Q1[SQ001]", "Q1[SQ002]", "Q2[SQ001]", "Q2[SQ002]", "token"])["Q2[SQ001]"]
    ('Q2', 'SQ001')
    >>> grid_columns(["Rate [x]", "Rate [y]"])
    {}
    """
    matches = {name: match for name in columns if (match := _GRID_CELL.fullmatch(name))}
    grid = {name: (match["question"], match["row"]) for name, match in matches.items()}
    questions, rows = ({cell[index] for cell in grid.values()} for index in (0, 1))
    is_full = len(questions) > 1 and len(rows) > 1 and len({*grid.values()}) == len(grid) == len(questions) * len(rows)
    return grid if is_full else {}


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
    other_columns = [name for name in source.columns() if name not in pairs]
    subject = subject_namer(source, other_columns, find_roles(other_columns) | dict(options.map or {}))
    return _spread(source, options, pairs, "judge", subject)


def spread_grid(source: Source, options: FormatOptions) -> FormatOptions:
    """Make each item of a grid of questions a separate row of a person; return the options for these rows.

    For ``wide="item"`` the rows of the grid are items and its questions criteria, for ``wide="criterion"`` the reverse.
    Other tables stay as they are; so do those of criteria whose rows have an item, or no judge.
    """
    mapped = dict(options.map or {})
    free = [name for name in source.columns() if name not in mapped.values()]
    grid = grid_columns(list(options.columns) or free)
    roles = find_roles([name for name in free if name not in grid]) | mapped
    if not grid or len(grid) < len(options.columns):
        return options
    if options.wide == "criterion" and ("judge" not in roles or {"item", "context"} & roles.keys()):
        return options
    pairs = grid if options.wide == "criterion" else {name: cell[::-1] for name, cell in grid.items()}
    samples = [column for column in sample_columns(source) if column.name in grid]
    table = options.table or ("scores" if sum(2 * column.scored - 1 for column in samples) > 0 else "labels")
    is_named = "judge" in roles or options.judge is not None

    def subject(record: Record, place: str) -> Record:
        return {} if is_named else {"judge": line_of(source, place)}

    if not is_named:
        source.notes.append(f"{source.name}: no column says who answered: each row is a judge, named by its line")
    return _spread(source, replace(options, table=table), pairs, "item", subject)


def _spread(
    source: Source,
    options: FormatOptions,
    pairs: Mapping[str, tuple[str, str]],
    role: str,
    subject: Callable[[Record, str], Record],
) -> FormatOptions:
    """Make a row of each first member of the pairs, in the column of a role, with the second members as columns."""
    names, criteria = (list(dict.fromkeys(pair[index] for pair in pairs.values())) for index in (0, 1))
    others = [name for name in source.columns() if name not in pairs]

    def rows(record: Record, place: str) -> Iterator[Record]:
        subject_cells = subject(record, place)
        new = {role, *criteria, *subject_cells}
        subject_cells = {f"row {name}" if name in new else name: record.get(name) for name in others} | subject_cells
        for row_name in names:
            answers: dict[str, Any] = {
                criterion: record.get(name) for name, (pair_name, criterion) in pairs.items() if pair_name == row_name
            }
            yield subject_cells | {role: row_name} | answers

    source.transform_records(rows)
    source.notes.append(
        f"{source.name}: columns are {'an' if role == 'item' else 'a'} {role} ({', '.join(names)}) and a criterion "
        f"({', '.join(criteria)}) each"
    )
    return replace(options, wide="criterion", columns=criteria)
