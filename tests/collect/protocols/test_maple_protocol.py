from __future__ import annotations

import itertools

import pytest

from voirdire.collect import Item, Judge, Setting
from voirdire.collect.protocols.pairwise import Pairwise, PairwiseOptions
from voirdire.tables import read_votes
from voirdire_protocols.maple import Maple, MapleOptions


def by_text(question):
    """A judge that knows: the text that comes first in the alphabet is better."""
    shown = question.variables
    return {"winner": "Text 1" if shown["first"] < shown["second"] else "Text 2"}


def criteria(*names):
    return {"criteria": [{"name": name, "definition": f"About {name}."} for name in names]}


@pytest.mark.parametrize("order", ["fixed", "random", "random-by-criterion"])
@pytest.mark.parametrize(("judges", "items", "count"), [(1, 2, 1), (3, 5, 4), (2, 4, 6)])
def test_there_are_as_many_questions_as_the_formula_says(
    order, judges, items, count, script, settle, carry_out
) -> None:
    panel = " ".join(f"j{number}" for number in range(judges))
    setting = settle(Maple(), panel, items, criteria={f"c{n}": "" for n in range(count)}, order=order)
    ask = script()
    carry_out(Maple(), setting, ask)
    formula = judges * (count * items * (items - 1) // 2 + count * (count - 1) // 2)
    assert len(ask.questions) == formula == sum(Maple().calls(setting).most.values())


def test_both_orders_and_repeats_multiply_the_questions(script, settle, carry_out) -> None:
    setting = settle(Maple(), "j k", 4, criteria={"c": "", "d": "", "e": ""}, order="swap", repeats=3)
    ask = script()
    carry_out(Maple(), setting, ask)
    assert len(ask.questions) == 2 * 3 * 2 * (3 * 6 + 3)


def test_criteria_are_generated_once_and_judges_see_no_rubric(script, settle, carry_out, table) -> None:
    setting = settle(Maple(), "writer j k", 3, generator="writer", rubric="RUBRIC", levels=0, task="TASK")
    names = ("clear", "apt", "lively", "short")
    ask = script({"maple/criteria": criteria(*names), "maple/compare": by_text})
    rows = carry_out(Maple(), setting, ask)
    assert ask.templates[0] == "criteria"
    assert "RUBRIC" in ask.prompts[0].user
    assert {question.judge for question in ask.questions[1:]} == {"j", "k"}
    assert not any("RUBRIC" in prompt.user or "RUBRIC" in prompt.system for prompt in ask.prompts[1:])
    compared = [p for q, p in zip(ask.questions, ask.prompts, strict=True) if q.template == "maple/compare"]
    assert all(sum(f"About {name}." in prompt.user for name in names) == 1 for prompt in compared)
    votes = table(rows, "votes")
    assert all((vote["winner"] == "first") == (vote["first"] < vote["second"]) for vote in votes)
    assert read_votes(frame(votes)).criteria == tuple(sorted(names))
    assert read_votes(frame(table(rows, "criteria"))).items == tuple(sorted(names))
    assert [row["criterion"] for row in table(rows, "texts")] == list(names)


def frame(rows):
    import pandas as pd

    return pd.DataFrame(rows)


def test_the_choice_is_forced(script, settle, carry_out) -> None:
    ask = script()
    carry_out(Maple(), settle(Maple(), "j", 3, criteria={"c": "", "d": ""}), ask)
    allowed = [next(iter(question.schema["properties"].values()))["enum"] for question in ask.questions]
    assert {len(words) for words in allowed} == {2}
    assert not any("tie" in words for words in allowed)


def test_criteria_of_one_name_are_asked_for_again(script, settle, carry_out, table) -> None:
    setting = settle(Maple(), "j", 2, rubric="r", levels=0, least=2, most=3)
    answers = iter([criteria("Style", " style"), criteria("first", "x"), criteria("Style", "Sense")])
    ask = script({"maple/criteria": lambda question: next(answers)})
    rows = carry_out(Maple(), setting, ask)
    assert ask.templates[:3] == ["criteria"] * 3
    assert [question.key for question in ask.questions[:3]] == [("criteria", n) for n in (1, 2, 3)]
    reasons = [row["reason"] for row in table(rows, "missing")]
    assert reasons == ["two criteria are called 'style'", "a criterion is called 'first', as a vote's winner may be"]
    assert {row["criterion"] for row in table(rows, "votes")} == {"Style", "Sense"}


def test_without_criteria_nothing_is_compared(script, settle, table) -> None:
    import asyncio

    setting = settle(Maple(), "j", 2, rubric="r")
    ask = script({"maple/criteria": None})
    rows = asyncio.run(Maple().run(setting, ask))
    assert ask.templates == ["criteria"]
    assert [(row["judge"], row["reason"]) for row in table(rows, "missing")] == [("j", "scripted to be missing")]
    assert len(rows) == 1


def test_the_schema_asks_for_four_to_six_whole_criteria(script, settle, carry_out) -> None:
    ask = script()
    carry_out(Maple(), settle(Maple(), "j", 2, rubric="r"), ask)
    listed = ask.questions[0].schema["properties"]["criteria"]
    assert (listed["minItems"], listed["maxItems"]) == (4, 6)
    assert list(listed["items"]["properties"]["levels"]["properties"]) == list("123456")
    assert Maple().calls(settle(Maple(), "j", 4, rubric="r")).least == {"j": 1 + 4 * 6 + 6}
    assert Maple().calls(settle(Maple(), "j", 4, rubric="r")).most == {"j": 3 + 6 * 6 + 15}


def test_a_missing_vote_is_listed_and_not_guessed(script, settle, carry_out, table) -> None:
    def forgetful(question):
        return None if question.key[2:4] in {("a", "b"), ("b", "a")} else by_text(question)

    setting = settle(Maple(), "j", 3, criteria={"c": ""}, order="fixed")
    rows = carry_out(Maple(), setting, script({"maple/compare": forgetful}))
    assert [(row["first"], row["second"]) for row in table(rows, "votes")] == [("a", "c"), ("b", "c")]
    (lost,) = table(rows, "missing")
    assert lost == {
        "table": "votes",
        "judge": "j",
        "first": "a",
        "second": "b",
        "criterion": "c",
        "run": 1,
        "key": "compare/c/a/b/1",
        "reason": "scripted to be missing",
    }


def test_random_order_is_the_same_under_every_criterion_and_balanced(script, settle, carry_out, table) -> None:
    setting = settle(Maple(), "j k", 10, criteria={"c": "", "d": ""})
    votes = table(carry_out(Maple(), setting, script()), "votes")
    shown = {
        (judge, name): [(v["first"], v["second"]) for v in votes if (v["judge"], v["criterion"]) == (judge, name)]
        for judge, name in itertools.product("jk", "cd")
    }
    assert shown["j", "c"] == shown["j", "d"]
    assert shown["j", "c"] != shown["k", "c"]
    turned = sum(first > second for first, second in shown["j", "c"] + shown["k", "c"])
    assert 30 <= turned <= 60  # 90 fair coins: 45, standard deviation 4.7
    own = settle(Maple(), "j", 10, criteria={"c": "", "d": ""}, order="random-by-criterion")
    votes = table(carry_out(Maple(), own, script()), "votes")
    assert [v["first"] for v in votes if v["criterion"] == "c"] != [v["first"] for v in votes if v["criterion"] == "d"]


def test_texts_of_different_contexts_are_not_compared(script, settle, carry_out, table) -> None:
    items = [Item(name, name, context=name[0]) for name in ("p1", "p2", "p3", "q1", "q2")]
    setting = settle(Pairwise(), "j", items)
    ask = script()
    votes = table(carry_out(Pairwise(), setting, ask), "votes")
    assert len(votes) == 3 + 1
    assert all(vote["first"][0] == vote["second"][0] == vote["context"] for vote in votes)
    assert len(read_votes(frame(votes)).contexts) == 2


def test_designs(script, settle, carry_out, table) -> None:
    star = settle(Pairwise(), "j", 5, design="referenced", reference="c", order="fixed")
    votes = table(carry_out(Pairwise(), star, script()), "votes")
    assert [(v["first"], v["second"]) for v in votes] == [("a", "c"), ("b", "c"), ("c", "d"), ("c", "e")]
    share = settle(Pairwise(), "j k", 6, design="share", share=0.4)
    votes = table(carry_out(Pairwise(), share, script()), "votes")
    assert len(votes) == 2 * 6
    pairs = {judge: {frozenset((v["first"], v["second"])) for v in votes if v["judge"] == judge} for judge in "jk"}
    assert pairs["j"] == pairs["k"]


def test_pairwise_shows_the_rubric_and_ties_only_where_allowed(script, settle, carry_out, table) -> None:
    ask = script({"pairwise/compare": {"winner": "tie"}})
    rows = carry_out(Pairwise(), settle(Pairwise(), "j k", 3, rubric="RUBRIC", ties=True, evaluators=("k",)), ask)
    assert all("RUBRIC" in prompt.user for prompt in ask.prompts)
    assert {(row["judge"], row["winner"]) for row in table(rows, "votes")} == {("k", "tie")}
    assert "criterion" not in table(rows, "votes")[0]
    strict = script()
    carry_out(Pairwise(), settle(Pairwise(), "j", 3), strict)
    assert strict.questions[0].schema["properties"]["winner"]["enum"] == ["Text 1", "Text 2"]


def test_all_problems_are_told_at_once() -> None:
    items = (Item("a", "x"), Item("tie", "y", context="q"))
    options = MapleOptions(evaluators=("jj",), generator="w", least=5, most=4)
    found = Maple().problems(Setting((Judge("j", "m"),), items, options))
    assert [problem.split(":")[0].split(" is ")[0].split(" are ")[0] for problem in found] == [
        "option evaluators",
        "option generator",
        "items",
        "items",
        "items",
        "context 'q'",
        "option rubric",
        "options least and most",
    ]
    assert "did you mean 'j'?" in found[0]
    wrong = PairwiseOptions(design="share", share=0.1)
    (only,) = Pairwise().problems(Setting((Judge("j", "m"),), tuple(Item(n, n) for n in "abc"), wrong))
    assert "at least 2 pairs" in only or "0.1" in only
