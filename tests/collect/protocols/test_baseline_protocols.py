from __future__ import annotations

import asyncio
import math

import pandas as pd
import pytest

from voirdire.collect import Answer, Item, Judge, Setting
from voirdire.tables import read_scores
from voirdire_protocols.baselines import ChatEval, Cot, SelfRefine, Vanilla
from voirdire_protocols.g_eval import GEval, GEvalOptions
from voirdire_protocols.metrics import RougeL, RougeLOptions
from voirdire_protocols.weighted import expected_score


@pytest.mark.parametrize("protocol", [Vanilla(), Cot()])
def test_one_question_for_each_judge_item_criterion_and_run(protocol, settle, carry_out, script, table) -> None:
    setting = settle(protocol, "j k", 3, criteria={"style": "How.", "sense": "What."}, runs=2, low=0, high=1)
    ask = script()
    rows = carry_out(protocol, setting, ask)
    assert len(ask.questions) == 2 * 3 * 2 * 2
    read = read_scores(pd.DataFrame(table(rows, "scores")))
    assert set(read.score) == {0.0, 1.0}
    assert (read.criteria, read.runs, read.phases) == (("sense", "style"), ("1", "2"), ("final",))
    lost = carry_out(protocol, setting, script({f"{protocol.name}/score": None}))
    assert {row.table for row in lost} == {"missing"}
    assert len(lost) == 24


def test_sources_and_systems_reach_prompts_and_tables(settle, carry_out, script, table) -> None:
    items = [
        Item("a", "TEXT", context="CONTEXT", system="s1", source="SOURCE"),
        Item("b", "T", context="Q", system="s2"),
    ]
    ask = script()
    rows = carry_out(Vanilla(), settle(Vanilla(), "j", items), ask)
    assert "SOURCE" in ask.prompts[0].user
    assert "CONTEXT" not in ask.prompts[0].user
    assert "Q" in ask.prompts[1].user.split("The text to judge")[0]
    read = read_scores(pd.DataFrame(table(rows, "scores")))
    assert (read.contexts, read.systems) == (("CONTEXT", "Q"), ("s1", "s2"))


def test_chain_of_thought_reasons_before_it_scores(settle, carry_out, script, table) -> None:
    ask = script({"cot/score": {"steps": ["one", "two"], "reasoning": "so", "score": 4}})
    rows = carry_out(Cot(), settle(Cot(), "j", 1), ask)
    assert list(ask.questions[0].schema["properties"]) == ["steps", "reasoning", "score"]
    assert table(rows, "texts")[0]["text"] == "one\ntwo\nso"


@pytest.mark.parametrize(
    ("changes", "asked", "scores"),
    [
        (["no"], ["score", "feedback"], [1, 1]),
        (["yes", "no"], ["score", "feedback", "revise", "feedback"], [1, 2, 2]),
        (["yes", "yes"], ["score", "feedback", "revise", "feedback", "revise"], [1, 2, 3, 3]),
    ],
)
def test_self_refine_revises_until_nothing_is_to_change(
    changes, asked, scores, settle, carry_out, script, table
) -> None:
    ask = script(
        {
            "self-refine/score": {"reasoning": "R0", "score": 1},
            "self-refine/feedback": lambda q: {"feedback": f"F{q.key[1]}", "change": changes[q.key[1] - 1]},
            "self-refine/revise": lambda q: {"reasoning": f"R{q.key[1]}", "score": 1 + q.key[1]},
        }
    )
    rows = carry_out(SelfRefine(), settle(SelfRefine(), "j", 1, rounds=2), ask)
    assert ask.templates == asked
    assert [row["score"] for row in table(rows, "scores")] == scores
    if len(asked) == 5:
        assert "R1" in ask.prompts[3].user
        assert "F2" in ask.prompts[4].user


def test_self_refine_guesses_nothing(settle, script, table) -> None:
    setting = settle(SelfRefine(), "j", 1)
    rows = asyncio.run(SelfRefine().run(setting, script({"self-refine/feedback": None})))
    assert [row["phase"] for row in table(rows, "scores")] == ["initial"]
    assert [row["phase"] for row in table(rows, "missing")] == ["final"]


def tokens(*pieces, at, alternatives):
    return tuple((piece, alternatives if place == at else ((piece, -0.01),)) for place, piece in enumerate(pieces))


def logs(**shares):
    return tuple((token.replace("_", " "), math.log(share)) for token, share in shares.items())


def test_weighted_score_by_hand() -> None:
    shown = tokens(
        '{"', "score", '":', " ", "4", "}", at=4, alternatives=logs(**{"4": 0.6, "3": 0.2, "5": 0.1, "9": 0.1})
    )
    found = expected_score(shown, 1, 5)
    assert found.value == pytest.approx((4 * 0.6 + 3 * 0.2 + 5 * 0.1) / 0.9, abs=1e-12)
    assert found.mass == pytest.approx(0.9, abs=1e-12)


@pytest.mark.parametrize(
    ("pieces", "at", "alternatives"),
    [
        (('{"score"', ":", " 4", "}"), 2, {"_4": 0.5, "_2": 0.5}),
        (('{"score"', ": ", "4}"), 2, {"4}": 0.5, "2}": 0.5}),
        (('{"score":4', "}"), 0, {'{"score":4': 0.5, '{"score":2': 0.5}),
        (("\n", '{"score"', ':"', '4"', "}"), 3, {'4"': 0.5, '2"': 0.5}),
        (('{"reasoning": "score 2", "score": ', "4", "}"), 1, {"4": 0.25, "_4": 0.25, "2": 0.5}),
    ],
)
def test_the_place_of_the_score_is_found_however_it_is_cut_into_tokens(pieces, at, alternatives) -> None:
    found = expected_score(tokens(*pieces, at=at, alternatives=logs(**alternatives)), 1, 5)
    assert found.value == pytest.approx(3.0)
    assert found.mass == pytest.approx(1.0)


def test_no_weighted_score_without_probabilities() -> None:
    assert expected_score((), 1, 5) == "the server gave no token probabilities"
    none = tokens('{"score": ', "4", "}", at=1, alternatives=logs(x=0.5, y=0.5))
    assert expected_score(none, 1, 5) == "no score from 1 to 5 is among the token's alternatives"
    assert "could be read" in expected_score((("four", ()),), 1, 5)
    for wrong in (1000.0, math.nan, math.inf):
        odd = tokens('{"score": ', "4", "}", at=1, alternatives=(("4", wrong), ("3", -1.0)))
        assert "not all numbers of at most 0" in expected_score(odd, 1, 5)
    # 45 is not a 4
    many = tokens('{"score": ', "4", "}", at=1, alternatives=logs(**{"4": 0.5, "45": 0.5}))
    assert expected_score(many, 1, 5).mass == pytest.approx(0.5)


def test_g_eval_writes_steps_once_and_weighs(settle, carry_out, script, table) -> None:
    alternatives = logs(**{"2": 0.75, "4": 0.25})
    reply = Answer({"score": 2}, logprobs=tokens('{"score": ', "2", "}", at=1, alternatives=alternatives))
    ask = script({"g-eval/steps": {"steps": ["READ IT", "SCORE IT"]}, "g-eval/score": reply})
    setting = settle(GEval(), "j k", 3, criteria={"style": "How.", "sense": "What."})
    rows = carry_out(GEval(), setting, ask)
    assert ask.templates == ["steps"] * 4 + ["score"] * 12
    assert all("1. READ IT\n2. SCORE IT" in prompt.user for prompt in ask.prompts[4:])
    assert all(question.logprobs for question in ask.questions[4:])
    scores = table(rows, "scores")
    assert [row["score"] for row in scores] == pytest.approx([2.5] * 12)
    assert read_scores(pd.DataFrame(scores)).rows == 12


def test_g_eval_by_samples(settle, carry_out, script, table) -> None:
    ask = script({"g-eval/score": lambda q: None if q.key[1] == 3 else {"score": q.key[1]}})
    setting = settle(GEval(), "j", 1, weighting="samples", samples=5, temperature=0.7, steps={"overall": "READ"})
    rows = carry_out(GEval(), setting, ask)
    assert ask.templates == ["score"] * 5
    assert {question.temperature for question in ask.questions} == {0.7}
    (score,) = table(rows, "scores")
    assert (score["score"], score["answers"]) == ((1 + 2 + 4 + 5) / 4, 4)
    assert len(table(rows, "missing")) == 1


def test_g_eval_without_probabilities_or_steps(settle, script, table) -> None:
    setting = settle(GEval(), "j", 1)
    rows = asyncio.run(GEval().run(setting, script()))
    (lost,) = table(rows, "missing")
    assert lost["reason"] == "the server gave no token probabilities; use weighting = 'samples'"
    ask = script({"g-eval/steps": None})
    rows = asyncio.run(GEval().run(setting, ask))
    assert ask.templates == ["steps"]
    assert [row["table"] for row in table(rows, "missing")] == ["texts"]


def test_token_probabilities_need_scores_of_one_digit() -> None:
    found = GEval().problems(Setting((Judge("j", "m"),), (), GEvalOptions(high=10, steps={"x": "y"})))
    assert "scores of one digit" in found[0]
    assert "there is no criterion 'x'" in found[1]


def test_roles_speak_in_turn_and_hear_what_was_said(settle, carry_out, script, table) -> None:
    ask = script(
        {"chat-eval/speak": lambda q: {"comment": f"{q.key[2]} {q.key[1]}", "score": len(q.variables["said"]) + 1}}
    )
    rows = carry_out(ChatEval(), settle(ChatEval(), "j", 1, rounds=2), ask)
    assert [q.key[1:3] for q in ask.questions] == [(1, "reader"), (1, "critic"), (2, "reader"), (2, "critic")]
    assert [[turn["comment"] for turn in q.variables["said"]] for q in ask.questions][-1] == [
        "reader 1",
        "critic 1",
        "reader 2",
    ]
    scores = table(rows, "scores")
    assert [(row["judge"], row["phase"], row["score"]) for row in scores] == [
        ("j/reader", "round-1", 1),
        ("j/critic", "round-1", 2),
        ("j/reader", "round-2", 3),
        ("j/critic", "round-2", 4),
        ("j", "final", 3.5),
    ]


def test_majority_of_roles_and_missing_ones(settle, carry_out, script, table) -> None:
    roles = {"a": "A.", "b": "B.", "c": "C."}

    def result(scores):
        setting = settle(ChatEval(), "j", 1, roles=roles, rounds=1, combine="majority")
        reply = script({"chat-eval/speak": lambda q: scores[q.key[2]] and {"comment": "", "score": scores[q.key[2]]}})
        rows = carry_out(ChatEval(), setting, reply)
        final = [row["score"] for row in table(rows, "scores") if row["phase"] == "final"]
        return final or table(rows, "missing")[-1]["reason"]

    assert result({"a": 2, "b": 5, "c": 2}) == [2]
    assert result({"a": 2, "b": 5, "c": 4}) == "no score has a majority of the roles"
    assert result({"a": 2, "b": None, "c": 2}) == "no last score from b"


def test_rouge_l_is_the_longest_common_subsequence(table) -> None:
    pytest.importorskip("rouge_score", reason="the extra 'rouge' is not installed")
    items = (
        Item("same", "the cat sat", reference="the cat sat"),
        # subsequence "police the gunman" of 3; text of 4, reference of 4 words
        Item("lin", "police kill the gunman", reference="police killed the gunman"),
        Item("none", "one two", reference="three four five"),
        Item("empty", "?!", reference="three"),
    )

    def scores(**options):
        setting = Setting((), items, RougeLOptions(stem=False, **options))
        assert RougeL().problems(setting) == []
        return asyncio.run(RougeL().run(setting, None))

    rows = scores()
    assert [row["score"] for row in table(rows, "scores")] == pytest.approx([1.0, 0.75, 0.0])
    assert [row["item"] for row in table(rows, "missing")] == ["empty"]
    assert read_scores(pd.DataFrame(table(rows, "scores"))).judges == ("rouge-l",)
    shorter = (Item("a", "a b", reference="a c b d"),)
    for measure, value in (("precision", 1.0), ("recall", 0.5), ("f1", 2 / 3)):
        setting = Setting((), shorter, RougeLOptions(stem=False, measure=measure))
        (row,) = asyncio.run(RougeL().run(setting, None))
        assert row.values["score"] == pytest.approx(value)
    (problem,) = RougeL().problems(Setting((), (Item("a", "x"),), RougeLOptions()))
    assert problem == "items: 1 have no reference ('a'); rouge-l needs one for each item"
