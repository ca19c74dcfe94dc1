"""Suggestions of what to type for a table whose columns do not say what they are, from what their cells hold."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import combinations, islice
from shlex import quote
from typing import Any

from voirdire.tables.columns import ANSWERS, NEEDED, find_roles, normalise_column_name
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
from voirdire.tables.formats.vote_suggestions import COUNTED, Suggestion, are_called_alike, suggest_votes

_NEEDED = frozenset(name for names in NEEDED.values() for name in names)
_OUTCOMES = frozenset({"first", "second"})
_TEXTS = 40  # columns of texts that are compared with each other
_LINES = 6  # first lines that are looked at
_SCORED = re.compile("prefer|score|rating|grade|quality|points|stars|likert", re.IGNORECASE)
_ITEMS = ("response", "completion", "output")  # columns that may name an item
_LOSER = re.compile(r"(?:.*[_ .-])?(?:loser|rejected)(?:[_ .-].*)?", re.IGNORECASE)
_PERSON = re.compile(
    r"e-?mail(?: address)?|response ?id|(?:respondent|participant|prolific).*", re.IGNORECASE
)
_RATER = re.compile("annotator|rater|judge|expert|human|evaluator|coder|reviewer|grader", re.IGNORECASE)
_NAME = re.compile(r"(?:your |full )*name", re.IGNORECASE)  # of a person, in what a form writes


def suggest_options(source: Source) -> str:
    """Say what to type for a table that cannot be told, as the end of a sentence."""
    said = [f"{one.sentence} {one.options}".strip() for one in likely_tables(source)]
    usual = "name them (--map judge=...,first=...,second=...,winner=... or judge=...,item=...,score=... or label=...)"
    if not any("--wide judge" in one for one in said):
        usual += ", or, where each other column is a judge, --wide judge reads it so"
    return "; ".join([*said, usual])


def likely_tables(source: Source) -> list[Suggestion]:
    """Kinds of table that a file may be, by names of columns and content of cells; the likeliest comes first."""
    records = first_records(source)
    held = summarise_columns(source.columns(), records)
    roles = find_roles([one.name for one in held])
    free = [one for one in held if one.name not in roles.values() and not is_key(one.name)]
    numeric = [one for one in free if one.numeric]
    answers = {*ANSWERS.values()} & roles.keys()
    about = "item" in roles or {"context", "system"} <= roles.keys()
    who = "" if "judge" in roles else " --set judge=NAME"
    found = _suggest_role("rank", [one for one in free if _is_chains(one)], "rankings")
    if len(held) == 1 and not _header_below(source):
        return [*found, Suggestion("what separates the columns? (--sep)", "")]
    if _is_headerless(source, records):
        sentence = (
            "line 1 holds cells as those below it do: write the names of the columns into a line above it"
        )
        return [Suggestion(sentence, "")]
    objects = _columns_of_objects(records)
    lists = [] if {"winner", "score"} & roles.keys() else list_columns(records)
    if lists:
        sentence = f"{', '.join(map(repr, lists))} hold lists: are these answers of several judges?"
        found.append(Suggestion(sentence, f"--wide lists --columns {quote(','.join(lists))}"))
    if pairs := _names_of_rows_and_columns(held):
        return [
            Suggestion(
                f"{pairs!r} has the names of the other columns, a table of pairs: write one row a vote", ""
            )
        ]
    pair_known = {"first", "second"} <= roles.keys()
    scored = [one for one in numeric if not is_covariate_name(one.name) and not _is_told(one, roles, records)]
    losers = [one.name for one in free if _LOSER.fullmatch(one.name)]
    sided = "" if pair_known else _are_of_two_items(scored, free)
    if counts := "" if pair_known or sided else _evidence_of_counts(numeric, records):
        sentence = f"{counts}: are these counts of labels?"
        found.append(Suggestion(sentence, "--wide counts" + _columns_option(numeric, free)))
    elif not found:
        found += suggest_votes(held, roles, records)
    paired = {} if "judge" in roles or answers else paired_columns([one.name for one in free])
    both = [one for one in free if one.name in paired]
    if both and len({one.numeric for one in both}) == 1:
        sentence = f"{_quoted_names(both)} are called by a judge and a criterion: are they that?"
        found.append(Suggestion(sentence, "--wide pairs" + ("" if both[0].numeric else " --table labels")))
    judges = [] if "judge" in roles or answers or paired else _judge_like_columns(free)
    if judges:
        sentence = f"{_quoted_names(judges)} are called by who answers: are they judges?"
        found.append(Suggestion(sentence, judge_columns_option([one.name for one in judges])))
    likely = scored if len(scored) == 1 else [one for one in scored if _SCORED.search(one.name)]
    told = answers or counts or judges
    if about and not told and not pair_known and len(likely) == 1:
        by = _criterion_of_repeats(free, roles, records)
        found += _suggest_role("score", likely, "numbers", (f",criterion={quote(by)}" if by else "") + who)
    elif len(scored) > 1 and not counts and not pair_known and "score" not in roles:
        if not about and not judges and (person := _person_a_row(held, scored, roles)):
            sentence = f"each row is of another {person!r}: are {_quoted_names(scored)} items?"
            options = f"--wide item --map {quote(f'judge={person}')}{_columns_option(scored, held)}"
            found.append(Suggestion(sentence, options))
        sentence = f"{_quoted_names(scored)} hold numbers: are they criteria?"
        others = held if source.changes else numeric  # of which some are not in the file as it stands
        options = "--wide criterion" + _columns_option(scored, others)
        keyed = source.unfolded and len({one.name.rpartition(".")[2] for one in scored}) < len(scored)
        if keyed:  # by names that are data, of systems or of judges
            sided = f"{_quoted_names(scored)} stand under names that are no columns: write a row for each of those"
        found += [Suggestion(sided, "")] if sided else [] if losers else [Suggestion(sentence, options)]
        if "judge" not in roles and not judges and not losers:
            found.append(Suggestion("Or judges?", "--wide judge", not sided))
    words = [one for one in free if one.is_categorical and not one.numeric and not _is_chains(one)]
    words = [
        one
        for one in words
        if one.different > 1 and not is_covariate_name(one.name) and one.name not in objects
    ]
    if not counts and not answers and not losers and "judge" in roles:
        task, more = "", ""
        if not about and (task := _repeated_key(held, roles, records) or ""):
            more = f",{'context' if 'system' in roles else 'item'}={quote(task)}"
            likely = [one for one in likely if one.name != task]
            found += _suggest_role("score", likely, "numbers", more)
        if about or task:
            known = roles | ({"item": task} if task else {})
            answered = [one for one in words if one.name != task and not _is_told(one, known, records)]
            found += _suggest_labels(answered or words, task, more)
    elif not found and (person := _person_a_row(held, [], roles)):
        alike = _alike([one for one in words if one.name != person])
        sentence = f"each row is of another {person!r}: are {_quoted_names(alike)} items?"
        options = f"--wide item --map {quote(f'judge={person}')}{_columns_option(alike, held)}"
        found += [Suggestion(sentence, options)] if len(alike) > 1 else []
    if about and answers == {"winner"} and not {"first", "second"} & roles.keys():
        found += _suggest_role("label", [one for one in held if one.name == roles["winner"]])
    if {"score", "label"} & roles.keys() and not about and roles.get("score") not in objects:
        plain = {one.name: normalise_column_name(one.name) for one in held if one.name not in roles.values()}
        items = [name for name, short in plain.items() if short.endswith(("id", *_ITEMS))]
        texts = [one.name for one in free if one.filled and not one.numeric]
        items = items or (texts if len(texts) == 1 else [])
        of_systems = {one.name for one in held if "system" in roles and 1 < one.different < one.filled}
        for name in items[:1]:
            role = "context" if name in of_systems and "context" not in roles else "item"
            found.append(Suggestion(f"is {name!r} {role}?", f"--map {role}={quote(name)}{who}"))
    if losers and not pair_known:
        sentence = (
            f"{losers[0]!r} is one of two items: write both into columns first and second, as they were shown"
        )
        found.append(
            Suggestion(f"{sentence}, and which of them won into winner (order unknown where it is)", "")
        )
    if objects := [name for name in objects if name not in lists]:
        sentence = (
            f"{', '.join(map(repr, objects))} hold objects or lists: write what is in them as columns or rows"
        )
        found.append(Suggestion(sentence, ""))
    if below := _header_below(source):
        found.append(Suggestion(below, ""))
    if "judge" not in roles and "item" in roles and {"score", "label", "rank"} & roles.keys():
        found.append(Suggestion("who judged is not in it: say it with", "--set judge=NAME"))
    return found


def _names_of_rows_and_columns(held: Sequence[ColumnSample]) -> str | None:
    """A column whose cells are all names of other columns, as in a matrix of pairs; None where there is none."""
    names = {one.name for one in held}
    found = (one for one in held if len(one.values) > 1 and {*one.values} <= names - {one.name})
    return next((one.name for one in found if one.different == one.filled), None)


def _criterion_of_repeats(
    free: Sequence[ColumnSample], roles: Mapping[str, str], records: Sequence[Mapping[str, Any]]
) -> str | None:
    """A column of few words that tells the answers of a judge to one item apart; None where nothing need do so."""
    about = [
        roles[name] for name in ("judge", "item", "context", "system", "criterion", "run") if name in roles
    ]
    asked = [tuple(str(record.get(name)) for name in about) for record in records]
    if "judge" not in roles or "criterion" in roles or len(set(asked)) == len(asked):
        return None
    words = (one.name for one in free if one.is_categorical and not one.numeric and one.different > 1)
    cells = ((name, [str(record.get(name)) for record in records]) for name in words)
    return next((name for name, of in cells if len({*zip(asked, of, strict=True)}) == len(asked)), None)


def _columns_of_objects(records: Sequence[Mapping[str, Any]]) -> list[str]:
    """Columns in which a record holds an object or a list."""
    cells = ((name, cell) for record in records for name, cell in record.items())
    return list(dict.fromkeys(name for name, cell in cells if isinstance(cell, list | dict)))


def _person_a_row(
    held: Sequence[ColumnSample], scored: Sequence[ColumnSample], roles: Mapping[str, str]
) -> str | None:
    """The column that names who answered, where each row has another name in it."""
    form = any(one.name.lower() == "timestamp" for one in held) or (
        bool(scored) and all(one.name.endswith("]") for one in scored)
    )
    named = [one for one in held if one.name == roles.get("judge") or _PERSON.fullmatch(one.name)]
    named += [one for one in held if form and _NAME.fullmatch(one.name)]
    return next((one.name for one in named if 1 < one.different == one.filled and not one.empty), None)


def _repeated_key(
    held: Sequence[ColumnSample], roles: Mapping[str, str], records: Sequence[Mapping[str, Any]]
) -> str | None:
    """The column whose cells stand in several rows, called as those are that number rows, else one for each judge."""
    free = [one for one in held if one.name not in roles.values() and 1 < one.different < one.filled]
    if keys := [one.name for one in free if is_key(one.name)]:
        return keys[0]
    about = [roles[name] for name in ("judge", "system") if name in roles]
    asked = (
        (one.name, [tuple(map(str, map(record.get, (*about, one.name)))) for record in records])
        for one in free
    )
    return next((name for name, rows in asked if len({*rows}) == len(rows)), None)


def _is_told(one: ColumnSample, roles: Mapping[str, str], records: Sequence[Mapping[str, Any]]) -> bool:
    """True where who judges tells a column, as an age, or what is judged tells one of many values, as a mean."""
    if one.different < 2 or "judge" not in roles:
        return False
    by = ["judge"]
    if one.different > MAX_CLASSES or not all(isinstance(number_or_none(value), int) for value in one.values):
        by += [name for name in ("item", "context") if name in roles]
    cells = [str(record.get(one.name)) for record in records]
    return any(
        first_determines_second(
            (str(record.get(roles[name])), cell) for record, cell in zip(records, cells, strict=True)
        )
        for name in by
    )


def _are_of_two_items(scored: Sequence[ColumnSample], free: Sequence[ColumnSample]) -> str:
    """Say that two columns of numbers are of two items of a row, as two of texts are; nothing where they are not."""
    texts = [one.name for one in free if not one.numeric]
    if (
        len(scored) != 2
        or not are_called_alike(scored[0].name, scored[1].name)
        or _RATER.search(scored[0].name)
    ):
        return ""
    if not any(are_called_alike(one, other) for one, other in combinations(texts[:_TEXTS], 2)):
        return ""
    return (
        f"are {_quoted_names(scored)} of two items of a row? Write a row for each item, with its name in a column "
        "item, or which of them won into a column winner"
    )


def _is_headerless(source: Source, records: Sequence[Mapping[str, Any]]) -> bool:
    """True where a third of the columns of a text table, two or more, hold their own names."""
    own = {name for record in records for name, cell in record.items() if str(cell) == name}
    return source.kind in ("csv", "xlsx") and len(own) > 1 and 3 * len(own) >= len(source.columns())


def _alike(words: Sequence[ColumnSample]) -> list[ColumnSample]:
    """The most columns that hold words of one of them."""
    return max(
        ([one for one in words if {*one.values} & {*like.values}] for like in words), key=len, default=[]
    )


def _suggest_labels(words: Sequence[ColumnSample], task: str, more: str) -> list[Suggestion]:
    """The first of some columns of words as labels, or as criteria all those that hold words of its kind."""
    alike = _alike(words)
    if len(alike) < 2:
        return _suggest_role("label", words, more=more)
    item = f" --map {quote(more[1:])}" if task else ""
    return [
        Suggestion(
            f"{_quoted_names(alike)} hold words of one kind: are they labels under several criteria?",
            f"--wide criterion --table labels{item} --columns {quote(','.join(one.name for one in alike))}",
        )
    ]


def _suggest_role(
    role: str, some: Sequence[ColumnSample], holds: str = "", more: str = ""
) -> list[Suggestion]:
    """Take the first of some columns for one of voirdire's."""
    return [
        Suggestion(
            f"{one.name!r} holds {holds or one.describe_values}: is it {role}?",
            f"--map {role}={quote(one.name)}{more}",
        )
        for one in some[:1]
    ]


def judge_columns_option(columns: Sequence[str]) -> str:
    """Options that read columns as judges."""
    return f"--wide judge --columns {quote(','.join(columns))}"


def _columns_option(some: Sequence[ColumnSample], free: Sequence[ColumnSample]) -> str:
    """The option that chooses columns, where there are others that could be meant."""
    others = [one for one in free if one not in some]
    return f" --columns {quote(','.join(one.name for one in some))}" if others else ""


def _judge_like_columns(free: Sequence[ColumnSample]) -> list[ColumnSample]:
    """Columns that are called by who answers and hold answers of one kind."""
    columns = [one.name for one in free]
    names = answer_columns(columns)
    names = [*names, *other_answer_columns(columns, names)] if names else judge_columns(columns)
    found = [
        one
        for one in free
        if one.name in names and one.filled and (one.scored or len(one.values) <= MAX_CLASSES)
    ]
    return found if len(found) > 1 and len({one.scored for one in found}) == 1 else []


def _is_chains(one: ColumnSample) -> bool:
    """True where the cells are rankings such as ``a>b=c``."""
    marked = [value for value in one.values if re.fullmatch(r"[^<>]+(?:>[^<>]+)+", value)]
    return 0 < len(one.values) == len(marked)


def _header_below(source: Source) -> str:
    """Say which of the first lines below the header holds names of voirdire's columns; nothing where none does."""
    if source.kind not in ("csv", "xlsx"):
        return ""
    numbered = list(islice(source.rows(), _LINES))
    described = [line for line, row in numbered if any('{"ImportId"' in str(cell) for cell in row)]
    if described:
        return f"line {described[0]} holds Qualtrics' own names: delete lines 2 to {described[0]}"
    for line, row in numbered[1:]:
        if not source.columns() and any(cell not in (None, "") for cell in row):
            return f"line {line} is the first that is not empty: if it names the columns, delete what is above it"
        cells = [cell for cell in row if isinstance(cell, str) and cell in _NEEDED]
        if len(set(cells)) > 1 and not _OUTCOMES.issuperset(cells):  # an answer may be called first
            above = f"delete lines 1 to {line - 1}" if line > 2 else "delete line 1"
            return f"line {line} holds {' and '.join(map(repr, cells))}: if it names the columns, {above}"
    return ""


def _quoted_names(some: Sequence[ColumnSample]) -> str:
    return ", ".join(repr(one.name) for one in some[:6]) + (", ..." if len(some) > 6 else "")


def _evidence_of_counts(numeric: Sequence[ColumnSample], records: Sequence[Mapping[str, Any]]) -> str:
    """Evidence that columns of whole numbers are counts, as the begin of a sentence; nothing where there is none."""
    if len(numeric) < 2:
        return ""
    totals = set()
    for record in records:
        cells = [number_or_none(record.get(one.name)) for one in numeric]
        if any(cell is None or cell < 0 or cell != int(cell) for cell in cells):
            return ""
        totals.add(sum(int(cell) for cell in cells if cell is not None))
    if all(COUNTED.search(one.name) for one in numeric):
        return f"{_quoted_names(numeric)} are called as counts are"
    zeros = any(number_or_none(record.get(one.name)) == 0 for record in records for one in numeric)
    if len(records) > 1 and len(totals) == 1 and zeros:
        return f"every row of {_quoted_names(numeric)} adds up to {totals.pop()}"
    return ""
