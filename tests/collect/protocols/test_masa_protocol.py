from __future__ import annotations

import itertools
from collections import Counter

import pandas as pd
import pytest

from voirdire.collect import Item, Judge, Setting
from voirdire.collect.protocols.pairing import TIE, majority_of_runs, winner_of_both_orders
from voirdire.tables import read_labels, read_votes
from voirdire_protocols.masa import Masa, MasaOptions


def outright(answers):
    """More than half, else a tie: the rule for answers that are all there."""
    for answer in set(answers):
        if answers.count(answer) * 2 > len(answers):
            return answer
    return TIE


@pytest.mark.parametrize("runs", [1, 2, 3, 4])
def test_majority_is_what_every_completion_gives(runs) -> None:
    for answers in itertools.product(["a", "b", TIE, None], repeat=runs):
        gaps = answers.count(None)
        possible = set()
        for filled in itertools.product(["a", "b", TIE], repeat=gaps):
            rest = iter(filled)
            possible.add(outright([next(rest) if answer is None else answer for answer in answers]))
        assert majority_of_runs(answers) == (possible.pop() if len(possible) == 1 else None), answers


def test_swap_is_what_every_completion_gives() -> None:
    for one, other in itertools.product(["a", "b", TIE, None], repeat=2):
        possible = {
            x if x == y else TIE
            for x in (["a", "b", TIE] if one is None else [one])
            for y in (["a", "b", TIE] if other is None else [other])
        }
        assert winner_of_both_orders(one, other) == (possible.pop() if len(possible) == 1 else None)


def given(*systems, contexts=("d1",)):
    return [
        Item(f"{context}-{system}", f"summary by {system}", context=context, system=system, source=f"source {context}")
        for context in contexts
        for system in systems
    ]


def by_system(winners):
    """Answers by the two summaries shown and the run: what `winners` says for (first, second, run)."""

    def reply(question):
        _, _, first, second, run = question.key
        return {"reasoning": "r", "winner": winners(first, second, run), "confidence": "medium"}

    return reply


def test_models_summarise_and_are_compared_with_the_reference_only(script, settle, carry_out, table) -> None:
    items = [Item("d1", "SOURCE ONE"), Item("d2", "SOURCE TWO")]
    setting = settle(Masa(), "llama mistral gpt judge", items, summarizers=("llama", "mistral"), reference="gpt")
    ask = script()
    rows = carry_out(Masa(), setting, ask)
    assert ask.templates[:6] == ["summarise"] * 6
    assert Counter(ask.templates[6:]) == {"enhanced": 2 * 2 * 2 * 3, "error": 6}
    assert {q.judge for q in ask.questions[:6]} == {"llama", "mistral", "gpt"}
    assert {q.judge for q in ask.questions[6:]} == {"judge"}
    votes = table(rows, "votes")
    assert all("gpt" in (vote["first"], vote["second"]) for vote in votes)
    read = read_votes(pd.DataFrame(votes))
    assert (read.items, read.contexts, read.rows) == (("gpt", "llama", "mistral"), ("d1", "d2"), 24)
    assert read_votes(pd.DataFrame(table(rows, "decisions"))).rows == 4
    labels = read_labels(pd.DataFrame(table(rows, "labels")), levels=["no", "yes"])
    assert (labels.rows, labels.systems, labels.criteria) == (6, ("gpt", "llama", "mistral"), ("factual-error",))
    assert {vote["confidence"] for vote in votes} <= {"low", "medium", "high"}
    # who wrote a summary is not shown
    assert not any(name in p.user for p in ask.prompts[6:] for name in ("llama", "mistral", "gpt"))


def test_every_pair_is_shown_in_both_orders_in_every_run(script, settle, carry_out) -> None:
    setting = settle(Masa(), "j", given("x", "y", "ref"), given=True, reference="ref", runs=2, errors=False)
    ask = script()
    carry_out(Masa(), setting, ask)
    assert [q.key for q in ask.questions] == [
        ("compare", "d1", first, second, run)
        for system in ("x", "y")
        for first, second in ((system, "ref"), ("ref", system))
        for run in (1, 2)
    ]
    shown = ask.prompts[2].user
    assert shown.index("summary by ref") < shown.index("summary by x")


@pytest.mark.parametrize(
    ("winners", "decision"),
    [
        (lambda first, second, run: "Text 1" if first == "x" else "Text 2", "x"),
        (lambda first, second, run: "Text 1" if first == "ref" else "Text 2", "ref"),
        (lambda first, second, run: "Text 1", TIE),  # always the first: the orders contradict each other
        (lambda first, second, run: "tie", TIE),
        # x in one order by 2 of 3 runs, in the other by 2 of 3 too
        (lambda first, second, run: ("Text 1" if first == "x" else "Text 2") if run > 1 else "tie", "x"),
        # no majority in the second order: 1 of 3 each
        (lambda first, second, run: "Text 1" if first == "x" else ("Text 1", "Text 2", "tie")[run - 1], TIE),
    ],
)
def test_majority_of_runs_then_swap(winners, decision, script, settle, carry_out, table) -> None:
    setting = settle(Masa(), "j", given("x", "ref"), given=True, reference="ref", errors=False)
    rows = carry_out(Masa(), setting, script({"masa/enhanced": by_system(winners)}))
    (row,) = table(rows, "decisions")
    assert row["winner"] == decision
    (read,) = read_votes(pd.DataFrame([row])).row_outcome
    assert read == {"x": 0, "ref": 1, TIE: 2}[decision]


def test_a_decision_that_hangs_on_a_missing_answer_is_missing(script, settle, carry_out, table) -> None:
    def reply(lost):
        def inner(question):
            _, _, first, _, run = question.key
            if (first, run) in lost:
                return None
            return {"reasoning": "", "winner": "Text 1" if first == "x" else "Text 2", "confidence": "low"}

        return inner

    setting = settle(Masa(), "j", given("x", "ref"), given=True, reference="ref", errors=False)
    rows = carry_out(Masa(), setting, script({"masa/enhanced": reply({("x", 1), ("ref", 3)})}))
    assert table(rows, "decisions")[0]["winner"] == "x"  # 2 of 3 in both orders whatever the others said
    assert len(table(rows, "missing")) == 2
    rows = carry_out(Masa(), setting, script({"masa/enhanced": reply({("x", 1), ("x", 3)})}))
    assert table(rows, "decisions") == []
    assert [row["table"] for row in table(rows, "missing")] == ["votes", "votes", "decisions"]


def test_the_baseline_prompt_names_the_aspects_and_asks_for_no_confidence(script, settle, carry_out, table) -> None:
    setting = settle(
        Masa(), "j", given("x", "ref"), given=True, reference="ref", guidance="baseline", errors=False, runs=1
    )
    ask = script()
    rows = carry_out(Masa(), setting, ask)
    assert list(ask.questions[0].schema["properties"]) == ["winner"]
    assert "confidence" not in table(rows, "votes")[0]
    for word in ("coherence", "consistency", "fluency", "relevance"):
        assert word in ask.prompts[0].user


def test_all_pairs_instead_of_the_reference(script, settle, carry_out) -> None:
    setting = settle(Masa(), "j", given("x", "y", "z"), given=True, against="all", runs=1, errors=False)
    ask = script()
    carry_out(Masa(), setting, ask)
    assert len(ask.questions) == 2 * 3


def test_a_summary_that_is_missing_is_not_compared(script, settle, table) -> None:
    import asyncio

    setting = settle(Masa(), "x ref j", [Item("d", "s")], summarizers=("x",), reference="ref", runs=1)
    ask = script({"masa/summarise": lambda q: None if q.judge == "x" else {"summary": "s"}})
    rows = asyncio.run(Masa().run(setting, ask))
    assert ask.templates == ["summarise", "summarise", "error"]
    assert [(r["system"], r["kind"]) for r in table(rows, "missing")] == [("x", "summary")]


def test_problems_of_given_summaries() -> None:
    items = (
        *given("x", "ref"),
        *given("x", contexts=("d2",)),
        Item("again", "t", context="d1", system="x", source="s"),
        Item("bare", "t", context="d1", system="y"),
    )
    options = MasaOptions(given=True, reference="ref")
    found = Masa().problems(Setting((Judge("j", "m"),), items, options))
    assert found == [
        "items 'd1-x' and 'again' are both by 'x' in context 'd1'; keep one",
        "item 'bare' has no source; given = true needs context, source and system",
        "context 'd2' has no summary by 'ref'",
    ]
    options = MasaOptions(summarizers=("j",), reference="j")
    found = Masa().problems(Setting((Judge("j", "m"),), items, options))
    assert any("no judge is left" in problem for problem in found)
    assert any("is the reference" in problem for problem in found)
