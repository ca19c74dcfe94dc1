"""Tables of nobody's format: voirdire's own, those with other names of columns, and wide ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from voirdire.errors import InputError
from voirdire.tables.formats.format import Asked, Format, each
from voirdire.tables.formats.records import Record
from voirdire.tables.formats.rows import Label, Note, Odd, Refused, Row, Score, Vote, named, number
from voirdire.tables.formats.source import Head, Source
from voirdire.tables.problems import nearest

#: Other names of voirdire's columns; case, blanks, ``_`` and ``-`` do not count.
ALIASES: dict[str, tuple[str, ...]] = {
    "judge": (
        "annotator", "rater", "worker", "grader", "evaluator", "coder", "user", "userid", "workerid", "annotatorid",
        "raterid", "judgeid", "judgemodel", "participant", "participantid", "evalmodelname",
    ),
    "first": ("modela", "left", "optiona", "systema", "model1", "itema", "item1"),
    "second": ("modelb", "right", "optionb", "systemb", "model2", "itemb", "item2"),
    "winner": ("preferred", "choice", "verdict", "outcome"),
    "item": ("task", "taskid", "itemid", "example", "exampleid", "document", "docid", "instanceid", "unit"),
    "score": ("rating", "grade", "points"),
    "label": ("class", "category", "annotation", "answer"),
    "criterion": ("aspect", "dimension", "attribute", "metric"),
    "context": ("prompt", "promptid", "questionid", "question", "instruction", "query", "topic"),
    "system": ("model", "policy"),
    "run": ("repeat", "trial"),
    "degree": (),
}  # fmt: skip
_ANSWERS = {"votes": "winner", "scores": "score", "labels": "label"}
_NEEDED = {
    "votes": ("judge", "first", "second", "winner"),
    "scores": ("judge", "item", "score"),
    "labels": ("judge", "item", "label"),
}
#: What values of a column of winners mean, beside the names of the two items.
WINNERS = {
    "first": "first", "second": "second", "tie": "tie", "model_a": "first", "model_b": "second", "model_1": "first",
    "model_2": "second", "left": "first", "right": "second", "a": "first", "b": "second", "draw": "tie",
    "both_bad": "tie", "bothbad": "tie", "tie (bothbad)": "tie", "tie(bothbad)": "tie", "equal": "tie",
}  # fmt: skip


def plain(name: str) -> str:
    """A name of a column without what does not count.

    Examples
    --------
    >>> plain("Model_A "), plain("judge-ID")
    ('modela', 'judgeid')
    """
    return "".join(letter for letter in name.lower() if letter not in " _-.\t")


def aliases(columns: tuple[str, ...]) -> dict[str, str]:
    """Which columns stand for voirdire's, as far as they are not there under their own names.

    Examples
    --------
    >>> aliases(("annotator", "First", "model_b", "winner"))
    {'judge': 'annotator', 'first': 'First', 'second': 'model_b', 'winner': 'winner'}

    Mechanical Turk says of its columns which are answers, and which were shown:

    >>> aliases(("HITId", "WorkerId", "Input.text", "Input.item_id", "Answer.rating"))
    {'judge': 'WorkerId', 'item': 'Input.item_id', 'score': 'Answer.rating'}
    """
    found = {}
    for column, others in ALIASES.items():
        if column in columns:
            found[column] = column
            continue
        prefix = "answer." if column in _ANSWERS.values() else "input."
        for want in (column, *others):
            one = next(
                (
                    name
                    for name in columns
                    if plain(name.lower().removeprefix(prefix)) == want and name not in ALIASES
                ),
                None,
            )
            if one is not None and one not in found.values():
                found[column] = one
                break
    return found


def kind_of(columns: Mapping[str, str]) -> str | None:
    """What a table with such columns is: votes, scores or labels; None where that cannot be told."""
    have = set(columns)
    if {"context", "system"} <= have:
        have.add("item")
    kinds = [kind for kind, needed in _NEEDED.items() if have >= set(needed)]
    own = [kind for kind in kinds if columns[_ANSWERS[kind]] == _ANSWERS[kind]]
    kinds = own if len(own) == 1 else kinds
    return kinds[0] if len(kinds) == 1 else None


def _detect(head: Head) -> bool:
    if head.shape not in ("records", "table"):
        return False
    return kind_of(aliases(head.columns or tuple(head.first or ()))) is not None


def _rows(source: Source, asked: Asked) -> Iterator[Row]:
    columns = source.columns()
    given = dict(asked.columns or {})
    for column, name in given.items():
        if name not in columns:
            raise InputError(
                f"{source.name}: there is no column {name!r} (for {column}){nearest(name, columns)}"
            )
    if asked.wide:
        return _wide(source, asked, columns, given)
    free = tuple(name for name in columns if name not in given.values())
    used = {column: name for column, name in aliases(free).items() if column not in given} | given
    kind = asked.table or kind_of(used)
    if kind is None and asked.judge:
        kind = kind_of(used | {"judge": "judge"})
    if kind is None:
        raise InputError(unknown(source.name, columns))
    return _long(source, asked, kind, used, given)


def unknown(name: str, columns: tuple[str, ...]) -> str:
    """What to do about a table of unknown columns."""
    shown = ", ".join(repr(column) for column in columns[:12]) + (", ..." if len(columns) > 12 else "")
    return (
        f"{name}: the columns {shown} are those of no known format; name them (--map judge=...,first=...,second=..., "
        "winner=... or judge=...,item=...,score=... or label=...), or say --wide judge where columns are judges"
    )


def _long(
    source: Source, asked: Asked, kind: str, used: Mapping[str, str], given: Mapping[str, str]
) -> Iterator[Row]:
    meanings = dict(asked.winners or {})

    def cell(record: Record, column: str) -> str | None:
        name = used.get(column)
        found = None if name is None else named(record.get(name))
        return None if found == "" else found

    def one(record: Record, place: str) -> Iterator[Row]:
        judge = cell(record, "judge") or asked.judge
        about = {column: cell(record, column) for column in ("criterion", "context", "run")}
        if kind == "votes":
            first, second = cell(record, "first"), cell(record, "second")
            said = cell(record, "winner")
            outcome, degree = _outcome(said, first, second, meanings), cell(record, "degree")
            yield Vote(judge, first, second, outcome, degree=degree, **about)
            return
        system = cell(record, "system")
        item = cell(record, "item")
        if item is None and about["context"] is not None and system is not None:
            item = f"{about['context']}/{system}"
        if kind == "scores":
            value = number(record.get(used["score"]))
            if value is None:
                raise Odd(f"score {record.get(used['score'])!r} is no number")
            yield Score(judge, item, value, system=system, **about)
        else:
            yield Label(judge, item, cell(record, "label"), **about)

    yield from each(source, one)
    taken = [
        f"{name!r} as {column}" for column, name in used.items() if name != column and column not in given
    ]
    if taken:
        yield Note(f"{source.name}: columns are taken for voirdire's: {', '.join(taken)}")


def _outcome(said: str | None, first: str | None, second: str | None, meanings: Mapping[str, str]) -> str:
    if said is None:
        raise Odd("no winner")
    if meanings:
        if said not in meanings:
            raise Odd(f"winner {said!r} is none of {', '.join(meanings)}")
        return meanings[said]
    for item, outcome in ((first, "first"), (second, "second")):
        if said == item:
            return outcome
    meant = WINNERS.get(said.strip().lower())
    if meant is None:
        raise Odd(f"winner {said!r} is neither first, second, tie nor one of the two items")
    return meant


def _wide(source: Source, asked: Asked, columns: tuple[str, ...], given: Mapping[str, str]) -> Iterator[Row]:
    if asked.wide != "judge":
        raise InputError(f"wide {asked.wide!r} is not judge; columns can be judges alone")
    known = {"item", "context", "criterion", "system"}
    places = {column: name for column, name in aliases(columns).items() if column in known} | dict(given)
    if "item" not in places:
        places["item"] = columns[0]
    judges = [name for name in columns if name not in places.values()]
    if not judges:
        raise InputError(f"{source.name}: no column is left that could be a judge; --map names the others")
    kind = asked.table or _wide_kind(source, judges)
    empty = 0

    def one(record: Record, place: str) -> Iterator[Row]:
        nonlocal empty
        about: dict[str, Any] = {
            column: named(record[name]) for column, name in places.items() if column != "item"
        }
        item = named(record[places["item"]])
        for judge in judges:
            said = record[judge]
            if said is None or said == "":
                empty += 1
            elif kind == "labels":
                about.pop("system", None)
                yield Label(judge, item, named(said), **about)
            elif (value := number(said)) is not None:
                yield Score(judge, item, value, **about)
            else:
                yield Refused(f"{source.name} {item} {judge}", f"{said!r} is no number")

    yield from each(source, one)
    yield Note(f"{source.name}: {len(judges)} columns are judges: {', '.join(judges[:8])}")
    if empty:
        yield Note(f"{source.name}: {empty} empty cells: not asked")


def _wide_kind(source: Source, judges: list[str]) -> str:
    """Scores where most cells of the first rows are numbers, else labels."""
    numbers = others = 0
    for _, (_, record) in zip(range(100), source.records(), strict=False):
        if isinstance(record, dict):
            cells = [record[judge] for judge in judges if record.get(judge) not in (None, "")]
            numbers += sum(number(cell) is not None for cell in cells)
            others += sum(number(cell) is None for cell in cells)
    return "scores" if numbers > others else "labels"


FORMAT = Format("table", "a table", (), _detect, _rows, ("columns", "winners", "wide", "table", "judge"))
