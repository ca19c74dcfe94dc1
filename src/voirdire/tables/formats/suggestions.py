"""Suggested options for a table with unknown columns, from the content of its cells."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import combinations, islice
from shlex import quote
from typing import Any

from voirdire.tables.columns import ANSWER_COLUMNS, NEEDED_COLUMNS, find_roles, normalise_column_name
from voirdire.tables.formats.column_samples import (
    MAX_CLASSES,
    ColumnSample,
    first_determines_second,
    first_records,
    is_covariate_name,
    is_key,
    summarise_columns,
)
from voirdire.tables.formats.example_table import answer_columns, judge_columns, other_answer_columns
from voirdire.tables.formats.listed_answers import list_columns
from voirdire.tables.formats.paired_columns import paired_columns
from voirdire.tables.formats.rows import number_or_none
from voirdire.tables.formats.source import Source
from voirdire.tables.formats.vote_suggestions import COUNT_NAME, Suggestion, are_called_alike, suggest_votes

_NEEDED_COLUMNS = frozenset(name for names in NEEDED_COLUMNS.values() for name in names)
_POSITION_OUTCOMES = frozenset({"first", "second"})
_MAX_TEXT_COLUMNS = 40  # columns of texts that are compared in pairs
_MAX_HEADER_LINES = 6  # first lines that are searched for a header
_SCORE_NAME = re.compile("prefer|score|rating|grade|quality|points|stars|likert", re.IGNORECASE)
_ITEM_SUFFIXES = ("response", "completion", "output")  # endings of columns that may name an item
_LOSER_NAME = re.compile(r"(?:.*[_ .-])?(?:loser|rejected)(?:[_ .-].*)?", re.IGNORECASE)
_PERSON_NAME = re.compile(r"e-?mail(?: address)?|response ?id|(?:respondent|participant|prolific).*", re.IGNORECASE)
_RATER_NAME = re.compile("annotator|rater|judge|expert|human|evaluator|coder|reviewer|grader", re.IGNORECASE)
_FORM_NAME = re.compile(r"(?:your |full )*name", re.IGNORECASE)  # of a person, in the export of a form


def suggest_options(source: Source) -> str:
    """Suggest options for a table of unknown kind, as the end of a sentence."""
    sentences = [f"{suggestion.sentence} {suggestion.options}".strip() for suggestion in likely_tables(source)]
    remedy = "name them (--map judge=...,first=...,second=...,winner=... or judge=...,item=...,score=... or label=...)"
    if not any("--wide judge" in suggestion for suggestion in sentences):
        remedy += ", or, where each other column is a judge, --wide judge reads it so"
    return "; ".join([*sentences, remedy])


def likely_tables(source: Source) -> list[Suggestion]:
    """Possible kinds of a table, by column names and cell contents, in order of decreasing likelihood."""
    records = first_records(source)
    columns = summarise_columns(source.columns(), records)
    roles = find_roles([column.name for column in columns])
    free = [column for column in columns if column.name not in roles.values() and not is_key(column.name)]
    numeric = [column for column in free if column.numeric]
    answers = {*ANSWER_COLUMNS.values()} & roles.keys()
    names_items = "item" in roles or {"context", "system"} <= roles.keys()
    judge_option = "" if "judge" in roles else " --set judge=NAME"
    suggestions = _suggest_role("rank", [column for column in free if _is_chains(column)], "rankings")
    if len(columns) == 1 and not _header_below(source):
        return [*suggestions, Suggestion("what separates the columns? (--sep)", "")]
    if _is_headerless(source, records):
        sentence = "line 1 holds cells as those below it do: write the names of the columns into a line above it"
        return [Suggestion(sentence, "")]
    object_columns = _columns_of_objects(records)
    list_names = [] if {"winner", "score"} & roles.keys() else list_columns(records)
    if list_names:
        sentence = f"{', '.join(map(repr, list_names))} hold lists: are these answers of several judges?"
        suggestions.append(Suggestion(sentence, f"--wide lists --columns {quote(','.join(list_names))}"))
    if pairs := _names_of_rows_and_columns(columns):
        return [Suggestion(f"{pairs!r} has the names of the other columns, a table of pairs: write one row a vote", "")]
    pair_known = {"first", "second"} <= roles.keys()
    scored = [
        column
        for column in numeric
        if not is_covariate_name(column.name) and not _is_determined(column, roles, records)
    ]
    losers = [column.name for column in free if _LOSER_NAME.fullmatch(column.name)]
    sides_question = "" if pair_known else _are_of_two_items(scored, free)
    if counts := "" if pair_known or sides_question else _evidence_of_counts(numeric, records):
        sentence = f"{counts}: are these counts of labels?"
        suggestions.append(Suggestion(sentence, "--wide counts" + _columns_option(numeric, free)))
    elif not suggestions:
        suggestions += suggest_votes(columns, roles, records)
    paired = {} if "judge" in roles or answers else paired_columns([column.name for column in free])
    paired_samples = [column for column in free if column.name in paired]
    if paired_samples and len({column.numeric for column in paired_samples}) == 1:
        sentence = f"{_quoted_names(paired_samples)} are called by a judge and a criterion: are they that?"
        suggestions.append(
            Suggestion(sentence, "--wide pairs" + ("" if paired_samples[0].numeric else " --table labels"))
        )
    judges = [] if "judge" in roles or answers or paired else _judge_like_columns(free)
    if judges:
        sentence = f"{_quoted_names(judges)} are called by who answers: are they judges?"
        suggestions.append(Suggestion(sentence, judge_columns_option([column.name for column in judges])))
    likely = scored if len(scored) == 1 else [column for column in scored if _SCORE_NAME.search(column.name)]
    is_known = answers or counts or judges
    if names_items and not is_known and not pair_known and len(likely) == 1:
        criterion = _criterion_of_repeats(free, roles, records)
        suggestions += _suggest_role(
            "score", likely, "numbers", (f",criterion={quote(criterion)}" if criterion else "") + judge_option
        )
    elif len(scored) > 1 and not counts and not pair_known and "score" not in roles:
        if not names_items and not judges and (person := _person_a_row(columns, scored, roles)):
            sentence = f"each row is of another {person!r}: are {_quoted_names(scored)} items?"
            options = f"--wide item --map {quote(f'judge={person}')}{_columns_option(scored, columns)}"
            suggestions.append(Suggestion(sentence, options))
        sentence = f"{_quoted_names(scored)} hold numbers: are they criteria?"
        others = columns if source.changes else numeric  # some of these are not in the file
        options = "--wide criterion" + _columns_option(scored, others)
        has_data_keys = source.unfolded and len({column.name.rpartition(".")[2] for column in scored}) < len(scored)
        if has_data_keys:  # by names that are data, of systems or of judges
            sides_question = (
                f"{_quoted_names(scored)} stand under names that are no columns: write a row for each of those"
            )
        suggestions += (
            [Suggestion(sides_question, "")] if sides_question else [] if losers else [Suggestion(sentence, options)]
        )
        if "judge" not in roles and not judges and not losers:
            suggestions.append(Suggestion("or judges?", "--wide judge", not sides_question))
    words = [column for column in free if column.is_categorical and not column.numeric and not _is_chains(column)]
    words = [
        column
        for column in words
        if column.different > 1 and not is_covariate_name(column.name) and column.name not in object_columns
    ]
    if not counts and not answers and not losers and "judge" in roles:
        task, item_option = "", ""
        if not names_items and (task := _guess_key_column(columns, roles, records) or ""):
            item_option = f",{'context' if 'system' in roles else 'item'}={quote(task)}"
            likely = [column for column in likely if column.name != task]
            suggestions += _suggest_role("score", likely, "numbers", item_option)
        if names_items or task:
            known_roles = roles | ({"item": task} if task else {})
            answered = [
                column for column in words if column.name != task and not _is_determined(column, known_roles, records)
            ]
            suggestions += _suggest_labels(answered or words, task, item_option)
    elif not suggestions and (person := _person_a_row(columns, [], roles)):
        similar = _columns_with_shared_words([column for column in words if column.name != person])
        sentence = f"each row is of another {person!r}: are {_quoted_names(similar)} items?"
        options = f"--wide item --map {quote(f'judge={person}')}{_columns_option(similar, columns)}"
        suggestions += [Suggestion(sentence, options)] if len(similar) > 1 else []
    if names_items and answers == {"winner"} and not {"first", "second"} & roles.keys():
        suggestions += _suggest_role("label", [column for column in columns if column.name == roles["winner"]])
    if {"score", "label"} & roles.keys() and not names_items and roles.get("score") not in object_columns:
        short_names = {
            column.name: normalise_column_name(column.name) for column in columns if column.name not in roles.values()
        }
        items = [name for name, short in short_names.items() if short.endswith(("id", *_ITEM_SUFFIXES))]
        texts = [column.name for column in free if column.filled and not column.numeric]
        items = items or (texts if len(texts) == 1 else [])
        of_systems = {column.name for column in columns if "system" in roles and 1 < column.different < column.filled}
        for name in items[:1]:
            role = "context" if name in of_systems and "context" not in roles else "item"
            suggestions.append(Suggestion(f"is {name!r} {role}?", f"--map {role}={quote(name)}{judge_option}"))
    if losers and not pair_known:
        sentence = f"{losers[0]!r} is one of two items: write both into columns first and second, as they were shown"
        suggestions.append(Suggestion(f"{sentence}, and which of them won into winner (order unknown where it is)", ""))
    if object_columns := [name for name in object_columns if name not in list_names]:
        sentence = (
            f"{', '.join(map(repr, object_columns))} hold objects or lists: write what is in them as columns or rows"
        )
        suggestions.append(Suggestion(sentence, ""))
    if header_question := _header_below(source):
        suggestions.append(Suggestion(header_question, ""))
    if "judge" not in roles and "item" in roles and {"score", "label", "rank"} & roles.keys():
        suggestions.append(Suggestion("who judged is not in it: say it with", "--set judge=NAME"))
    return suggestions


def _names_of_rows_and_columns(columns: Sequence[ColumnSample]) -> str | None:
    """A column whose cells are names of other columns, as in a matrix of pairs; None without one."""
    names = {column.name for column in columns}
    candidates = (column for column in columns if len(column.values) > 1 and {*column.values} <= names - {column.name})
    return next((column.name for column in candidates if column.different == column.filled), None)


def _criterion_of_repeats(
    free: Sequence[ColumnSample], roles: Mapping[str, str], records: Sequence[Mapping[str, Any]]
) -> str | None:
    """A column of classes that distinguishes a judge's repeated answers to one item; None if not needed or found."""
    subject_columns = [
        roles[name] for name in ("judge", "item", "context", "system", "criterion", "run") if name in roles
    ]
    subjects = [tuple(str(record.get(name)) for name in subject_columns) for record in records]
    if "judge" not in roles or "criterion" in roles or len(set(subjects)) == len(subjects):
        return None
    words = (column.name for column in free if column.is_categorical and not column.numeric and column.different > 1)
    cells = ((name, [str(record.get(name)) for record in records]) for name in words)
    return next(
        (name for name, column_cells in cells if len({*zip(subjects, column_cells, strict=True)}) == len(subjects)),
        None,
    )


def _columns_of_objects(records: Sequence[Mapping[str, Any]]) -> list[str]:
    """Columns with an object or a list in a record."""
    cells = ((name, cell) for record in records for name, cell in record.items())
    return list(dict.fromkeys(name for name, cell in cells if isinstance(cell, list | dict)))


def _person_a_row(
    columns: Sequence[ColumnSample], scored: Sequence[ColumnSample], roles: Mapping[str, str]
) -> str | None:
    """The column that names the respondent, if each row has another name in it; None without one."""
    is_form = any(column.name.lower() == "timestamp" for column in columns) or (
        bool(scored) and all(column.name.endswith("]") for column in scored)
    )
    person_columns = [
        column for column in columns if column.name == roles.get("judge") or _PERSON_NAME.fullmatch(column.name)
    ]
    person_columns += [column for column in columns if is_form and _FORM_NAME.fullmatch(column.name)]
    return next(
        (column.name for column in person_columns if 1 < column.different == column.filled and not column.empty), None
    )


def _guess_key_column(
    columns: Sequence[ColumnSample], roles: Mapping[str, str], records: Sequence[Mapping[str, Any]]
) -> str | None:
    """A column with repeated values and an identifier's name, else one whose values differ within each judge."""
    free = [column for column in columns if column.name not in roles.values() and 1 < column.different < column.filled]
    if keys := [column.name for column in free if is_key(column.name)]:
        return keys[0]
    subject_columns = [roles[name] for name in ("judge", "system") if name in roles]
    rows_of_columns = (
        (column.name, [tuple(map(str, map(record.get, (*subject_columns, column.name)))) for record in records])
        for column in free
    )
    return next((name for name, rows in rows_of_columns if len({*rows}) == len(rows)), None)


def _is_determined(column: ColumnSample, roles: Mapping[str, str], records: Sequence[Mapping[str, Any]]) -> bool:
    """True if the judge determines a column, such as an age, or the item determines one of many values or fractions."""
    if column.different < 2 or "judge" not in roles:
        return False
    determining_roles = ["judge"]
    if column.different > MAX_CLASSES or not all(isinstance(number_or_none(value), int) for value in column.values):
        determining_roles += [name for name in ("item", "context") if name in roles]
    cells = [str(record.get(column.name)) for record in records]
    return any(
        first_determines_second(
            (str(record.get(roles[name])), cell) for record, cell in zip(records, cells, strict=True)
        )
        for name in determining_roles
    )


def _are_of_two_items(scored: Sequence[ColumnSample], free: Sequence[ColumnSample]) -> str:
    """Question about two numeric columns that may belong to two items of a row, as two text columns do; else empty."""
    text_names = [column.name for column in free if not column.numeric]
    if len(scored) != 2 or not are_called_alike(scored[0].name, scored[1].name) or _RATER_NAME.search(scored[0].name):
        return ""
    if not any(
        are_called_alike(column, other_name) for column, other_name in combinations(text_names[:_MAX_TEXT_COLUMNS], 2)
    ):
        return ""
    return (
        f"are {_quoted_names(scored)} of two items of a row? Write a row for each item, with its name in a column "
        "item, or which of them won into a column winner"
    )


def _is_headerless(source: Source, records: Sequence[Mapping[str, Any]]) -> bool:
    """True if at least two columns, and a third of all, of a text table hold their own names."""
    self_named = {name for record in records for name, cell in record.items() if str(cell) == name}
    return source.kind in ("csv", "xlsx") and len(self_named) > 1 and 3 * len(self_named) >= len(source.columns())


def _columns_with_shared_words(words: Sequence[ColumnSample]) -> list[ColumnSample]:
    """The largest set of columns that share words with one of them."""
    return max(
        ([column for column in words if {*column.values} & {*reference.values}] for reference in words),
        key=len,
        default=[],
    )


def _suggest_labels(words: Sequence[ColumnSample], task: str, options: str) -> list[Suggestion]:
    """Suggest the first column of words as labels, or several with shared words as labels under criteria."""
    similar = _columns_with_shared_words(words)
    if len(similar) < 2:
        return _suggest_role("label", words, options=options)
    item = f" --map {quote(options[1:])}" if task else ""
    return [
        Suggestion(
            f"{_quoted_names(similar)} hold words of one kind: are they labels under several criteria?",
            f"--wide criterion --table labels{item} --columns {quote(','.join(column.name for column in similar))}",
        )
    ]


def _suggest_role(role: str, columns: Sequence[ColumnSample], content: str = "", options: str = "") -> list[Suggestion]:
    """Suggest the first of some columns for a role of voirdire's."""
    return [
        Suggestion(
            f"{column.name!r} holds {content or column.describe_values}: is it {role}?",
            f"--map {role}={quote(column.name)}{options}",
        )
        for column in columns[:1]
    ]


def judge_columns_option(columns: Sequence[str]) -> str:
    """Options that read columns as judges."""
    return f"--wide judge --columns {quote(','.join(columns))}"


def _columns_option(columns: Sequence[ColumnSample], free: Sequence[ColumnSample]) -> str:
    """The option that chooses columns, if there are other candidates."""
    others = [column for column in free if column not in columns]
    return f" --columns {quote(','.join(column.name for column in columns))}" if others else ""


def _judge_like_columns(free: Sequence[ColumnSample]) -> list[ColumnSample]:
    """Columns with names of judges and answers of one kind."""
    columns = [column.name for column in free]
    names = answer_columns(columns)
    names = [*names, *other_answer_columns(columns, names)] if names else judge_columns(columns)
    answers = [
        column
        for column in free
        if column.name in names and column.filled and (column.scored or len(column.values) <= MAX_CLASSES)
    ]
    return answers if len(answers) > 1 and len({column.scored for column in answers}) == 1 else []


def _is_chains(column: ColumnSample) -> bool:
    """True if the cells are rankings such as ``a>b=c``."""
    marked = [value for value in column.values if re.fullmatch(r"[^<>]+(?:>[^<>]+)+", value)]
    return 0 < len(column.values) == len(marked)


def _header_below(source: Source) -> str:
    """Sentence about a line below the first that holds names of voirdire's columns; empty without one."""
    if source.kind not in ("csv", "xlsx"):
        return ""
    numbered = list(islice(source.rows(), _MAX_HEADER_LINES))
    described = [line for line, row in numbered if any('{"ImportId"' in str(cell) for cell in row)]
    if described:
        return f"line {described[0]} holds Qualtrics' own names: delete lines 2 to {described[0]}"
    for line, row in numbered[1:]:
        if not source.columns() and any(cell not in (None, "") for cell in row):
            return f"line {line} is the first that is not empty: if it names the columns, delete what is above it"
        cells = [cell for cell in row if isinstance(cell, str) and cell in _NEEDED_COLUMNS]
        if len(set(cells)) > 1 and not _POSITION_OUTCOMES.issuperset(cells):  # an answer may be called first
            remedy = f"delete lines 1 to {line - 1}" if line > 2 else "delete line 1"
            return f"line {line} holds {' and '.join(map(repr, cells))}: if it names the columns, {remedy}"
    return ""


def _quoted_names(columns: Sequence[ColumnSample]) -> str:
    return ", ".join(repr(column.name) for column in columns[:6]) + (", ..." if len(columns) > 6 else "")


def _evidence_of_counts(numeric: Sequence[ColumnSample], records: Sequence[Mapping[str, Any]]) -> str:
    """Evidence that columns of whole numbers are counts, as the begin of a sentence; empty without any."""
    if len(numeric) < 2:
        return ""
    totals = set()
    for record in records:
        cells = [number_or_none(record.get(column.name)) for column in numeric]
        if any(cell is None or cell < 0 or cell != int(cell) for cell in cells):
            return ""
        totals.add(sum(int(cell) for cell in cells if cell is not None))
    if all(COUNT_NAME.search(column.name) for column in numeric):
        return f"{_quoted_names(numeric)} are called as counts are"
    zeros = any(number_or_none(record.get(column.name)) == 0 for record in records for column in numeric)
    if len(records) > 1 and len(totals) == 1 and zeros:
        return f"every row of {_quoted_names(numeric)} adds up to {totals.pop()}"
    return ""
