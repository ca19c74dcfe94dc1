from __future__ import annotations

import pandas as pd
import pytest

from voirdire.tables import read_scores
from voirdire_protocols.debate import Debate


def verdicts(*words):
    """The critic's verdicts, one an iteration."""
    return lambda question: {"feedback": f"says {words[question.key[1] - 1]}", "verdict": words[question.key[1] - 1]}


def rising(question):
    """The scorer starts at 1 and goes up by one a revision."""
    return {"reasoning": f"reason {question.key[1]}", "score": 1 + question.key[1]}


def run(settle, carry_out, script, replies=(), **options):
    setting = settle(Debate(), "j", 1, criteria={"style": "How it reads."}, **options)
    ask = script({"debate/score": rising, **dict(replies)})
    return ask, carry_out(Debate(), setting, ask)


def final(rows, table):
    return [row for row in table(rows, "scores") if row["phase"] == "final"]


def test_no_issue_at_once_ends_the_debate(settle, carry_out, script, table) -> None:
    ask, rows = run(settle, carry_out, script, {"debate/criticise": verdicts("NO ISSUE")}, tie_breaker=True)
    assert ask.templates == ["command", "score", "criticise"]
    (row,) = final(rows, table)
    assert (row["score"], row["resolved"], row["iterations"]) == (1, True, 1)


def test_no_issue_later_ends_it_with_the_score_of_then(settle, carry_out, script, table) -> None:
    replies = {"debate/criticise": verdicts("ISSUE", "ISSUE", "NO ISSUE")}
    ask, rows = run(settle, carry_out, script, replies, iterations=5, tie_breaker=True)
    assert ask.templates == ["command", "score", *["criticise", "score"] * 2, "criticise"]
    assert [row["score"] for row in table(rows, "scores")] == [1, 2, 3, 3]
    assert [row["phase"] for row in table(rows, "scores")] == ["initial", "iteration-1", "iteration-2", "final"]


@pytest.mark.parametrize("iterations", [1, 3])
def test_unresolved_the_last_score_counts(iterations, settle, carry_out, script, table) -> None:
    replies = {"debate/criticise": verdicts(*["ISSUE"] * iterations)}
    ask, rows = run(settle, carry_out, script, replies, iterations=iterations)
    assert ask.templates == ["command", "score", *["criticise", "score"] * iterations]
    (row,) = final(rows, table)
    assert (row["score"], row["resolved"]) == (1 + iterations, False)


def test_unresolved_the_tie_breaker_reads_it_all_and_decides(settle, carry_out, script, table) -> None:
    replies = {"debate/criticise": verdicts("ISSUE", "ISSUE"), "debate/break-tie": {"reasoning": "enough", "score": 5}}
    ask, rows = run(settle, carry_out, script, replies, iterations=2, tie_breaker=True)
    assert ask.templates == ["command", "score", *["criticise", "score"] * 2, "break-tie"]
    log = ask.questions[-1].variables["log"]
    assert [turn["speaker"] for turn in log] == ["Scorer", "Critic", "Scorer", "Critic", "Scorer"]
    assert [turn["score"] for turn in log] == [1, None, 2, None, 3]
    (row,) = final(rows, table)
    assert (row["score"], row["resolved"]) == (5, False)


def test_the_commander_passes_on_everything_said_before(settle, carry_out, script) -> None:
    replies = {"debate/criticise": verdicts("ISSUE", "ISSUE"), "debate/command": {"brief": "THE BRIEF"}}
    ask, _ = run(settle, carry_out, script, replies, iterations=2)
    assert [len(q.variables["log"]) for q in ask.questions[1:]] == [0, 1, 2, 3, 4]
    assert all("THE BRIEF" in prompt.user for prompt in ask.prompts[1:])
    assert "reason 0" in ask.prompts[4].user
    assert "reason 1" in ask.prompts[4].user


def test_a_relaying_commander_is_not_asked(settle, carry_out, script) -> None:
    ask, _ = run(settle, carry_out, script, {"debate/criticise": verdicts("NO ISSUE")}, commander="relay")
    assert ask.templates == ["score", "criticise"]
    assert "brief" not in ask.prompts[0].user


def test_four_strengths_are_four_prompts(settle, carry_out, script) -> None:
    told = set()
    for strength in ("plain", "weak", "moderate", "strong"):
        ask, _ = run(settle, carry_out, script, {"debate/criticise": verdicts("NO ISSUE")}, strength=strength)
        told.add(ask.prompts[-1].system)
        assert ("devil's advocate" in ask.prompts[-1].system) == (strength != "plain")
    assert len(told) == 4


@pytest.mark.parametrize("lost", ["command", "score", "criticise", "break-tie"])
def test_no_score_is_guessed_where_an_answer_is_missing(lost, settle, carry_out, script, table) -> None:
    import asyncio

    setting = settle(Debate(), "j", 1, iterations=1, tie_breaker=True)
    replies = {"debate/score": rising, "debate/criticise": verdicts("ISSUE"), f"debate/{lost}": None}
    ask = script(replies)
    rows = asyncio.run(Debate().run(setting, ask))
    assert ask.templates[-1] == lost
    assert final(rows, table) == []
    (row,) = table(rows, "missing")
    assert (row["phase"], row["item"], row["reason"]) == ("final", "a", "scripted to be missing")


def test_scores_can_be_read(settle, carry_out, script, table) -> None:
    setting = settle(Debate(), "j k", 3, criteria={"style": "", "sense": ""}, runs=2)
    rows = carry_out(Debate(), setting, script())
    read = read_scores(pd.DataFrame(table(rows, "scores")))
    assert (read.judges, read.criteria, read.runs) == (("j", "k"), ("sense", "style"), ("1", "2"))
    assert len(final(rows, table)) == 2 * 3 * 2 * 2
