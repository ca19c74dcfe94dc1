"""Prompts that tell items apart: information, saturated ones, small sets that keep the ranking, what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau
from typer.testing import CliRunner

from voirdire.cli import app
from voirdire.decide.informative_prompts import PromptInformation, kendall_taus, telling
from voirdire.errors import InputError

PROMPTS, FLAT = 14, 4


def votes_like_llmfao(seed: int, votes: int = 13_209, items: int = 59) -> tuple[pd.DataFrame, Any]:
    """Votes of 40 judges on 59 models in 14 prompts, of which four tell nothing, and the models' worth in each."""
    rng = np.random.default_rng(seed)
    sharp = np.where(np.arange(PROMPTS) < FLAT, 0.05, rng.uniform(0.7, 1.5, PROMPTS))
    worth = sharp[:, None] * (rng.normal(0, 1.2, items) + 0.3 * rng.normal(size=(PROMPTS, items)))
    first = rng.integers(0, items, votes)
    second = (first + rng.integers(1, items, votes)) % items
    prompt = rng.integers(0, PROMPTS, votes)
    wins = rng.random(votes) < 1 / (1 + np.exp(worth[prompt, second] - worth[prompt, first]))
    table = pd.DataFrame(
        {
            "judge": rng.integers(0, 40, votes).astype(str),
            "first": [f"m{i:02}" for i in first],
            "second": [f"m{i:02}" for i in second],
            "context": [f"p{x:02}" for x in prompt],
            "winner": np.where(wins, "first", "second"),
        }
    )
    return table, worth


def test_half_of_the_prompts_of_a_table_like_llmfao_keeps_the_ranking() -> None:
    """Held against the models' true worth, which no answer says."""
    for seed in (0, 1):
        table, worth = votes_like_llmfao(seed)
        found = telling(table)
        order = sorted(found["prompts"], key=lambda row: row["place"])
        half = [int(row["prompt"][1:]) for row in order[: PROMPTS // 2]]
        assert kendalltau(worth[half].mean(axis=0), worth.mean(axis=0)).statistic >= 0.95
        flat = {f"p{x:02}" for x in range(FLAT)}
        alike = {row["prompt"] for row in found["prompts"] if row["alike"]}
        assert alike <= flat
        assert len(alike) >= FLAT - 1  # at two standard errors one in forty is not found
        assert {row["prompt"] for row in found["prompts"][-FLAT:]} == flat
        for row in found["sizes"][1:-3]:
            assert row["tau"] > row["random"]
        assert found["sizes"][-1]["tau"] == pytest.approx(1.0)


@pytest.mark.slow
def test_with_enough_answers_half_of_the_prompts_keeps_the_ranking_of_answers_that_were_held_out() -> None:
    found = telling(votes_like_llmfao(0, 130_000)[0])
    assert found["smallest"] <= PROMPTS // 2
    assert found["sizes"][PROMPTS // 2 - 1]["tau"] >= 0.95
    assert found["chosen"] == [
        row["prompt"] for row in sorted(found["prompts"], key=lambda row: row["place"])[: found["smallest"]]
    ]


def scored(rng: np.random.Generator) -> pd.DataFrame:
    """Scores of six judges, severe and mild, of eight systems in twelve prompts; in half of these all are alike."""
    worth, rows = np.linspace(-2, 2, 8), []
    for judge in range(6):
        for prompt in range(12):
            seen = worth * (prompt % 2) + rng.normal(0, 0.7, 8) + 0.5 * judge
            rows += [
                {"judge": f"j{judge}", "context": f"p{prompt}", "system": f"s{at}", "score": round(float(x), 2)}
                for at, x in enumerate(seen)
            ]
    return pd.DataFrame(rows)


def test_of_scores_severity_says_nothing_and_information_is_that_of_normal_variables() -> None:
    found = telling(scored(np.random.default_rng(0)))
    told = {row["prompt"]: row for row in found["prompts"]}
    worth = np.linspace(-2, 2, 8)
    noise = 0.7**2 * 7 / 8
    for prompt in range(1, 12, 2):
        row = told[f"p{prompt}"]
        assert row["spread"] == pytest.approx(worth.std(), rel=0.3)
        assert row["information"] == pytest.approx(0.5 * np.log2(1 + worth.var() / noise), rel=0.3)
        assert not row["alike"]
    assert sum(told[f"p{prompt}"]["alike"] for prompt in range(0, 12, 2)) >= 5
    assert max(told[f"p{prompt}"]["information"] for prompt in range(0, 12, 2)) < 0.2
    assert {int(one[1:]) % 2 for one in found["chosen"][:3]} == {1}


def test_labels_tell_as_scores_do() -> None:
    table = scored(np.random.default_rng(1))
    labels = table.assign(label=np.where(table["score"] > table["score"].median(), "pass", "fail"))
    found = telling(labels.drop(columns="score"))
    assert {int(row["prompt"][1:]) % 2 for row in found["prompts"][:4]} == {1}
    with pytest.raises(InputError, match="none is known to be better; say which: --positive"):
        telling(labels.drop(columns="score").replace({"pass": "red", "fail": "blue"}))


def test_who_holds_its_own_against_the_best_is_worth_more_than_who_does_in_the_middle() -> None:
    """Of five in a row each beats the next; a sixth meets the first alone, and an equal number is won by either."""
    first, second = np.array([0, 1, 2, 3, 5, 0]), np.array([1, 2, 3, 4, 0, 5])
    first, second = np.tile(first, 20), np.tile(second, 20)
    y, nothing = np.ones(len(first)), np.zeros(len(first), dtype=np.int64)
    told = PromptInformation(y, nothing, (first, second), nothing, (1, 6))
    worth = told.estimate_worths(np.ones(len(y), dtype=bool)).mean_scores(0)
    assert (np.diff(worth[:5]) < 0).all()
    assert worth[5] > worth[1] + 0.1  # as good as the first, or nearly; both won as many as they lost


def test_renaming_and_the_order_shown_change_nothing() -> None:
    table, _ = votes_like_llmfao(2, 3000, 12)
    sides = table["winner"].map({"first": "second", "second": "first"})
    turned = table.rename(columns={"first": "second", "second": "first"}).assign(winner=sides)
    one, other = telling(table), telling(turned)
    assert one["chosen"] == other["chosen"]
    assert [row["tau"] for row in one["sizes"]] == pytest.approx([row["tau"] for row in other["sizes"]])
    assert telling(table) == one


def test_tau_is_that_of_kendall() -> None:
    rng = np.random.default_rng(3)
    values, target = rng.integers(0, 5, (20, 12)).astype(float), rng.integers(0, 5, 12).astype(float)
    expected = [kendalltau(value, target).statistic for value in values]
    assert kendall_taus(values, target) == pytest.approx(expected)


def test_what_is_wrong_is_named() -> None:
    table, _ = votes_like_llmfao(4, 500, 6)
    with pytest.raises(InputError, match="column 'context'"):
        telling(table.drop(columns="context"))
    with pytest.raises(InputError, match="keep 2 is no tau"):
        telling(table, keep=2)
    with pytest.raises(InputError, match="there are 3 prompts"):
        telling(table[table["context"].isin(["p00", "p01", "p02"])])


def test_the_command_says_the_same(tmp_path: Path) -> None:
    table, _ = votes_like_llmfao(5, 3000, 12)
    table.to_csv(tmp_path / "votes.csv", index=False)
    words = ["prompts", "--telling", str(tmp_path / "votes.csv"), "--keep", "0.9"]
    found = json.loads(CliRunner().invoke(app, [*words, "--json"], catch_exceptions=False).stdout)
    assert found == json.loads(json.dumps(telling(table, keep=0.9)))
    shown = CliRunner().invoke(app, words, catch_exceptions=False).stdout
    assert f"{found['smallest']} of 14 prompts keep the ranking" in " ".join(shown.split())
    assert CliRunner().invoke(app, ["prompts"]).exit_code == 2
    assert CliRunner().invoke(app, ["prompts", "g-eval", *words[1:]]).exit_code == 2
