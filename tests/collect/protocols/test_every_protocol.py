"""What holds of every protocol: determinism, tables that can be read, announced numbers of questions."""

from __future__ import annotations

import asyncio
import dataclasses
import tomllib
import typing
from importlib import import_module
from typing import Any

import pandas as pd
import pytest

from voirdire.collect import Answer, Item, Question, Row
from voirdire.collect.options import build_options
from voirdire.collect.protocol import TABLES, ask_all
from voirdire.tables import read_labels, read_scores, read_votes

ITEMS = [Item(letter, f"text {letter}", source=f"source {letter}", reference="text") for letter in "abc"]
CRITERIA = {"style": "How it reads.", "sense": "What it says."}

#: Options with which each protocol runs on three items and judges j, k, l.
OPTIONS: dict[str, dict[str, Any]] = {
    "maple": {"rubric": "Good texts are good.", "order": "swap"},
    "pairwise": {"ties": True, "repeats": 2},
    "ranking": {"rounds": 2, "wanted": "best-worst"},
    "masa": {"summarizers": ("j",), "reference": "k"},
    "maj-eval": {"documents": ("Parents want fun.", "Teachers want sense."), "criteria": CRITERIA},
    "simple-role": {"roles": {"Teachers": "You teach.", "Parents": "You care."}, "criteria": CRITERIA},
    "debate": {"criteria": CRITERIA, "tie_breaker": True},
    "mareval": {"runs": 2},
    "vanilla": {"runs": 3},
    "cot": {"criteria": CRITERIA},
    "self-refine": {},
    "g-eval": {"weighting": "samples", "samples": 3},
    "chat-eval": {"combine": "majority"},
    "rouge-l": {},
    "bert-score": {"model": "."},
}
#: Protocols that ask nobody.
METRICS = ("rouge-l", "bert-score")

READERS = {
    "votes": read_votes,
    "criteria": read_votes,
    "decisions": read_votes,
    "scores": read_scores,
    "labels": read_labels,
}


pytestmark = pytest.mark.usefixtures("bert_score")


@pytest.fixture(scope="session")
def entries(request: pytest.FixtureRequest) -> dict[str, str]:
    project = request.getfixturevalue("project")
    text = (project / "pyproject.toml").read_text(encoding="utf-8")
    return dict(tomllib.loads(text)["project"]["entry-points"]["voirdire.protocols"])


def made(name: str, entries: dict[str, str]) -> Any:
    module, cls = entries[name].split(":")
    return getattr(import_module(module), cls)()


def test_the_entry_points_name_every_protocol(entries) -> None:
    assert set(entries) == set(OPTIONS)
    for name in entries:
        assert made(name, entries).name == name


@pytest.mark.parametrize("name", OPTIONS)
def test_options_have_defaults_and_plain_types(name, entries) -> None:
    options = made(name, entries).Options
    options()
    assert options.__dataclass_params__.frozen
    allowed = {str, int, float, bool, tuple[str, ...]}
    for field, kind in typing.get_type_hints(options).items():
        plain = kind in allowed or typing.get_origin(kind) is typing.Literal
        assert plain or str(kind) == "collections.abc.Mapping[str, str]", (field, kind)
    assert all(
        field.name in (options.__doc__ or "") or inherited(options, field.name) for field in dataclasses.fields(options)
    )


def inherited(options: type, field: str) -> bool:
    return any(field in (base.__doc__ or "") for base in options.__mro__[1:-1])


@pytest.mark.slow
@pytest.mark.parametrize("name", OPTIONS)
def test_the_rows_do_not_depend_on_the_order_of_answers(name, entries, settle, carry_out, script) -> None:
    setting = settle(made(name, entries), "j k l", ITEMS, **OPTIONS[name])
    first = carry_out(made(name, entries), setting, script())
    assert first
    for seed in (1, 2):
        ask = script(shuffle=seed)
        assert carry_out(made(name, entries), setting, ask) == first


@pytest.mark.parametrize("name", OPTIONS)
def test_the_tables_can_be_read(name, entries, settle, carry_out, script, tmp_path) -> None:
    setting = settle(made(name, entries), "j k l", ITEMS, **OPTIONS[name])
    rows = carry_out(made(name, entries), setting, script())
    assert {row.table for row in rows} <= {*TABLES, "decisions"}
    for table, reader in READERS.items():
        values = [row.values for row in rows if row.table == table]
        if values:
            path = tmp_path / f"{table}.csv"
            pd.DataFrame(values).to_csv(path, index=False)
            assert reader(path).rows == len(values)
    texts = [row.values for row in rows if row.table == "texts"]
    assert all(isinstance(row["text"], str) and row["kind"] for row in texts)


@pytest.mark.parametrize("name", [name for name in OPTIONS if name not in METRICS])
def test_a_model_that_never_answers_leaves_missing_rows_and_nothing_else(name, entries, settle, script) -> None:
    import asyncio

    protocol = made(name, entries)
    setting = settle(protocol, "j k l", ITEMS, **OPTIONS[name])

    class Silent(script):
        def __init__(self) -> None:
            super().__init__()
            self.any = lambda question: None

    rows = asyncio.run(protocol.run(setting, Silent()))
    assert {row.table for row in rows} == {"missing"}
    assert all(row.values["reason"] and row.values["key"] for row in rows)


@pytest.mark.parametrize("name", [name for name in OPTIONS if name not in METRICS])
def test_whatever_is_missing_tables_stay_readable(name, entries, settle, script) -> None:
    """One answer in five is missing, by a hash of its key."""
    import asyncio
    import zlib

    protocol = made(name, entries)
    setting = settle(protocol, "j k l", ITEMS, **OPTIONS[name])

    class Patchy(script):
        def __init__(self) -> None:
            super().__init__()
            full = self.any
            self.any = lambda question: (
                None if zlib.crc32(repr((question.judge, question.key)).encode()) % 5 == 0 else full(question)
            )

    rows = asyncio.run(protocol.run(setting, Patchy()))
    assert any(row.table == "missing" for row in rows)
    for table, reader in READERS.items():
        values = [row.values for row in rows if row.table == table]
        if values:
            assert reader(pd.DataFrame(values)).rows == len(values)


@pytest.mark.parametrize("name", OPTIONS)
def test_a_judge_that_is_not_there_is_named(name, entries) -> None:
    from voirdire.collect import Judge, Setting

    protocol = made(name, entries)
    field = next((f for f in ("judges", "evaluators") if hasattr(protocol.Options(), f)), None)
    if field is None:
        pytest.skip("asks no judge")
    options = protocol.Options(**{**OPTIONS[name], field: ("gema",)})
    found = protocol.problems(Setting((Judge("gemma", "m"),), tuple(ITEMS), options))
    assert f"option {field}: 'gema' is no judge of the panel; did you mean 'gemma'?" in found


#: Options that are numbers of things, and the least that each may be.
LEAST: dict[str, dict[str, int]] = {
    "maple": {"levels": 0, "attempts": 1, "repeats": 1, "longest": 0},
    "pairwise": {"repeats": 1, "longest": 0},
    "ranking": {"rounds": 1},
    "masa": {"runs": 1, "longest": 0},
    "maj-eval": dict.fromkeys(("rounds", "stakeholders", "dimensions", "groups", "personas", "runs"), 1),
    "simple-role": {"rounds": 1, "agents": 1},
    "debate": {"iterations": 1},
    "mareval": {"evaluators": 1, "rounds": 1, "runs": 1},
    "vanilla": {"runs": 1, "longest": 0},
    "self-refine": {"rounds": 1},
    "g-eval": {"samples": 1},
    "chat-eval": {"rounds": 1},
}


@pytest.mark.parametrize("name", LEAST)
def test_numbers_below_their_least_are_refused_by_name(entries: dict[str, str], name: str) -> None:
    least, options = LEAST[name], made(name, entries).Options
    found = build_options(options, {option: bound - 1 for option, bound in least.items()})[1]
    assert found == [
        f"option {option} is {bound - 1}; give a whole number of at least {bound}" for option, bound in least.items()
    ]
    assert build_options(options, least)[1] == []


def test_missing_answers_are_noted_in_the_order_of_the_questions() -> None:
    async def answer_late(question: Question) -> Answer:
        await asyncio.sleep(0.01 * question.variables["wait"])
        return Answer(None, "late")

    rows: list[Row] = []
    asked = [
        (Question("ann", "ask", {"wait": wait}, ("ask", wait)), {"judge": "ann", "run": wait}) for wait in (2, 1, 0)
    ]
    assert asyncio.run(ask_all(answer_late, asked, rows)) == [None, None, None]
    assert [row.values["key"] for row in rows] == ["ask/2", "ask/1", "ask/0"]
    assert rows[0].values == {"judge": "ann", "run": 2, "key": "ask/2", "reason": "late"}
