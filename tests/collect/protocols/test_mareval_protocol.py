from __future__ import annotations

import asyncio
import math

import pandas as pd
import pytest

from voirdire.collect import Answer
from voirdire.tables import read_scores
from voirdire_protocols.mareval import Mareval


def summary(question):
    return {"summary": f"SUMMARY OF ROUND {question.key[1]}"}


def test_the_sequence_of_one_run(settle, carry_out, script) -> None:
    setting = settle(Mareval(), "j", 1, runs=1, evaluators=3, rounds=2)
    ask = script()
    carry_out(Mareval(), setting, ask)
    one = ["evaluate"] * 3 + ["moderate"]
    assert ask.templates == ["plan", *one, *one, "arbitrate"]
    assert [q.key[:3] for q in ask.questions[1:4]] == [("evaluate", 1, j) for j in (1, 2, 3)]


def test_the_arbitrator_sees_of_the_debate_the_last_summary_alone(settle, carry_out, script) -> None:
    setting = settle(Mareval(), "j", 1, runs=1, evaluators=2, rounds=3)
    ask = script(
        {
            "mareval/moderate": summary,
            "mareval/evaluate": lambda q: {"reasoning": f"EVALUATION {q.key[1]}.{q.key[2]}", "score": 2},
        }
    )
    carry_out(Mareval(), setting, ask)
    (decision,) = [p.user for q, p in zip(ask.questions, ask.prompts, strict=True) if q.key[0] == "arbitrate"]
    assert "SUMMARY OF ROUND 3" in decision
    assert "SUMMARY OF ROUND 1" not in decision
    assert "SUMMARY OF ROUND 2" not in decision
    assert "EVALUATION" not in decision
    shown = {q.key[:3]: p.user for q, p in zip(ask.questions, ask.prompts, strict=True)}
    # evaluators see all summaries of rounds before, and no evaluation but through them
    third = shown["evaluate", 3, 1]
    assert "SUMMARY OF ROUND 1" in third
    assert "SUMMARY OF ROUND 2" in third
    assert "EVALUATION" not in third
    assert "SUMMARY" not in shown["evaluate", 1, 1]
    # the moderator sees its round's evaluations and its last summary
    (moderated,) = [p.user for q, p in zip(ask.questions, ask.prompts, strict=True) if q.key[:2] == ("moderate", 3)]
    assert "SUMMARY OF ROUND 2" in moderated
    assert "SUMMARY OF ROUND 1" not in moderated
    assert all((f"EVALUATION {t}." in moderated) == (t == 3) for t in (1, 2, 3))


def test_plans_are_made_together_and_handed_out(settle, carry_out, script) -> None:
    plan = {
        "evaluator": [["E1 first", "E1 second"], ["E2 only"]],
        "moderator": ["M1", "M2"],
        "arbitrator": "ARBITRATE SO",
    }
    ask = script({"mareval/plan": plan})
    carry_out(Mareval(), settle(Mareval(), "j", 1, runs=1, evaluators=2, rounds=2), ask)
    told = {q.key[:2]: p.user for q, p in zip(ask.questions, ask.prompts, strict=True)}
    assert "E1 first" in told["evaluate", 1]
    assert "E1 second" in told["evaluate", 1]
    assert "E2 only" not in told["evaluate", 1]
    assert "E2 only" in told["evaluate", 2]
    assert "M1" in told["moderate", 1]
    assert "M2" in told["moderate", 2]
    assert "ARBITRATE SO" in told["arbitrate", "a"]
    schema = ask.questions[0].schema["properties"]
    assert (schema["evaluator"]["minItems"], schema["moderator"]["maxItems"]) == (2, 2)


def test_ablations(settle, carry_out, script) -> None:
    ask = script({"mareval/evaluate": lambda q: {"reasoning": f"EVALUATION {q.key[1]}.{q.key[2]}", "score": 2}})
    setting = settle(Mareval(), "j", 1, runs=1, evaluators=2, rounds=2, plan=False, moderate=False)
    carry_out(Mareval(), setting, ask)
    assert ask.templates == ["evaluate"] * 4 + ["arbitrate"]
    assert "EVALUATION 1.2" in ask.prompts[2].user
    assert "EVALUATION 2" not in ask.prompts[3].user
    assert all(f"EVALUATION {t}.{j}" in ask.prompts[-1].user for t in (1, 2) for j in (1, 2))


def test_the_result_is_the_mean_of_the_runs(settle, carry_out, script, table) -> None:
    setting = settle(Mareval(), "j", 2, runs=3, evaluators=1, rounds=1)
    ask = script({"mareval/arbitrate": lambda q: {"reasoning": "", "score": q.key[-1] + (q.key[1] == "b")}})
    rows = carry_out(Mareval(), setting, ask)
    final = [row for row in table(rows, "scores") if row["phase"] == "final"]
    assert [(row["item"], row["score"], row["run"], row["answers"]) for row in final] == [
        ("a", 2.0, "all", 3),
        ("b", 3.0, "all", 3),
    ]
    read = read_scores(pd.DataFrame(table(rows, "scores")))
    assert read.phases == ("final", "round-1", "run")


def test_runs_without_a_score_are_left_out_and_listed(settle, script, table) -> None:
    setting = settle(Mareval(), "j", 1, runs=3, evaluators=1, rounds=1)
    ask = script(
        {
            "mareval/plan": lambda q: None if q.key[-1] == 2 else script.any(q),
            "mareval/arbitrate": lambda q: {"reasoning": "", "score": q.key[-1] + 1},
        }
    )
    rows = asyncio.run(Mareval().run(setting, ask))
    (final,) = [row for row in table(rows, "scores") if row["phase"] == "final"]
    assert (final["score"], final["answers"]) == (3.0, 2)  # runs 1 and 3: (2 + 4) / 2
    assert [(row["run"], row["phase"]) for row in table(rows, "missing")] == [(2, "run")]


@pytest.mark.parametrize("lost", ["plan", "evaluate", "moderate", "arbitrate"])
def test_without_any_run_there_is_no_score(lost, settle, script, table) -> None:
    setting = settle(Mareval(), "j", 1, runs=2, evaluators=2, rounds=1)
    rows = asyncio.run(Mareval().run(setting, script({f"mareval/{lost}": None})))
    assert [row for row in table(rows, "scores") if row["phase"] in ("run", "final")] == []
    last = table(rows, "missing")[-1]
    assert (last["phase"], last["run"], last["reason"]) == ("final", "all", "none of 2 runs came to a score")


def test_an_evaluator_without_an_answer_is_left_out_of_its_round(settle, carry_out, script, table) -> None:
    setting = settle(Mareval(), "j", 1, runs=1, evaluators=3, rounds=1)
    ask = script({"mareval/evaluate": lambda q: None if q.key[2] == 2 else script.any(q)})
    rows = carry_out(Mareval(), setting, ask)
    moderated = ask.questions[ask.templates.index("moderate")]
    assert [one["evaluator"] for one in moderated.variables["evaluations"]] == [1, 3]
    (lost,) = table(rows, "missing")
    assert (lost["judge"], lost["phase"]) == ("j/evaluator-2", "round-1")


def test_the_weighted_score_is_that_of_the_hand_computation(settle, carry_out, script, table) -> None:
    # p(4) = 0.5, p(3) = 0.25, p(5) = 0.125, and 0.125 for a token that is no score:
    # (4 * 0.5 + 3 * 0.25 + 5 * 0.125) / 0.875 = 3.375 / 0.875
    alternatives = tuple((token, math.log(p)) for token, p in (("4", 0.5), ("3", 0.25), ("5", 0.125), ("x", 0.125)))
    answer = Answer(
        {"score": 4}, logprobs=(('{"', ()), ("score", ()), ('":', ()), (" ", ()), ("4", alternatives), ("}", ()))
    )
    setting = settle(Mareval(), "j", 1, runs=1, weighting="logprobs")
    ask = script({"mareval/arbitrate": answer})
    rows = carry_out(Mareval(), setting, ask)
    asked = ask.questions[-1]
    assert asked.logprobs
    assert list(asked.schema["properties"]) == ["score"]
    (final,) = [row for row in table(rows, "scores") if row["phase"] == "final"]
    assert final["score"] == pytest.approx(3.375 / 0.875, abs=1e-12)
    (single,) = [row for row in table(rows, "scores") if row["phase"] == "run"]
    assert single["mass"] == pytest.approx(0.875, abs=1e-12)


def test_the_number_of_questions(settle) -> None:
    for m, t, n in ((4, 2, 5), (1, 1, 1)):
        setting = settle(Mareval(), "j k", 3, criteria={"c": "", "d": ""}, evaluators=m, rounds=t, runs=n)
        assert Mareval().calls(setting).most == dict.fromkeys("jk", 3 * 2 * n * (1 + t * (m + 1) + 1))
