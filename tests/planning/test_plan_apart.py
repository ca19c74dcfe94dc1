"""A pilot says how many more answers make two items distinguishable, and keeps its promise."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import voirdire
from voirdire.cli import app
from voirdire.decide.decision import round_up
from voirdire.errors import InputError
from voirdire.planning.distinguish import plan_to_distinguish

NAMES = np.array(list("wxyz"))
HOW: dict[str, Any] = {"model": "bradley-terry", "method": "laplace", "priors": {"strength.sd": 0.8}}


def votes(worth: np.ndarray, size: int, rng: np.random.Generator) -> pd.DataFrame:
    first = rng.integers(0, len(worth), size)
    second = (first + rng.integers(1, len(worth), size)) % len(worth)
    won = rng.random(size) < 1 / (1 + np.exp(worth[second] - worth[first]))
    table = pd.DataFrame({"judge": "a", "first": NAMES[first], "second": NAMES[second]})
    return table.assign(winner=np.where(won, "first", "second"))


def kept(seed: int, margin: float | None = None, sd: float = 0.8) -> bool | None:
    """Whether the two are settled after as many votes as planned; None where none were, or none needed."""
    rng = np.random.default_rng(seed)
    worth = rng.normal(0, sd, 4)
    pilot = votes(worth, 150, rng)
    plan = plan_to_distinguish(voirdire.fit(pilot, **HOW), margin=margin)
    if plan.distinguishable or plan.within or plan.rows[0]["more"] is None:
        return None
    decision = voirdire.fit(pd.concat([pilot, votes(worth, plan.rows[0]["more"], rng)]), **HOW).decide()
    one, other = (decision.items.index(item) for item in plan.items)
    pairs = decision.pairs
    near = abs(pairs.median[one, other]) + pairs.t * pairs.deviation[one, other] <= (margin or 0.0)
    return bool(pairs.better[one, other] or pairs.better[other, one] or near)


@pytest.mark.slow
@pytest.mark.long
def test_what_is_promised_is_reached() -> None:
    found = [one for one in map(kept, range(400)) if one is not None]
    assert len(found) > 100
    assert np.mean(found) >= 0.85


@pytest.mark.slow
def test_what_is_promised_with_a_margin_is_reached_also_of_items_that_are_nearly_equal() -> None:
    found = [one for seed in range(60) if (one := kept(seed, 0.5, sd=0.2)) is not None]
    assert len(found) > 50
    assert np.mean(found) >= 0.85


def test_far_items_need_less_than_near_ones_and_known_ones_nothing() -> None:
    fit = voirdire.fit(votes(np.array([1.2, 1.1, 0.7, -2.0]), 300, np.random.default_rng(0)), **HOW)
    order = fit.decide().items
    near, far = plan_to_distinguish(fit), plan_to_distinguish(fit, (order[0], order[2]))
    assert near.items == order[:2]
    known = plan_to_distinguish(fit, f"{order[0]},{order[3]}")
    assert known.distinguishable
    assert "distinguishable already" in str(known)
    many, few = (one.rows[0]["more"] for one in (near, far))
    assert few is not None
    assert many is None or few < many


def test_nothing_will_is_said() -> None:
    """Two items with the same answers: no multiple of them, but their prior's doubt, would make them differ."""
    rows = [("a", one, other, one if n % 2 else other) for n in range(400) for one, other in [("x", "y")]]
    fit = voirdire.fit(pd.DataFrame(rows, columns=["judge", "first", "second", "winner"]), model="bradley-terry")
    found = plan_to_distinguish(fit)
    assert all(row["more"] is None for row in found.rows)
    assert "Nothing within 100 times" in str(found)
    settled = [plan_to_distinguish(fit, margin=margin) for margin in (0.05, 0.1)]
    narrow, wide = (one.rows[0]["more"] for one in settled)
    assert 0 < wide < narrow
    assert "distinguishable, or surely within 0.1, with probability 0.8 after about" in str(settled[1])
    near = plan_to_distinguish(fit, margin=2.0)
    assert (near.within, near.rows) == (True, [])
    assert str(near).endswith("are within 2 of each other already.")
    for wrong in (0.0, -1.0, float("inf"), float("nan")):
        with pytest.raises(InputError, match="not above 0 and finite"):
            plan_to_distinguish(fit, margin=wrong)


def test_what_boards_say_would_settle_it_is_said_beside_what_allows_for_a_smaller_difference() -> None:
    for seed in (2, 0):
        fit = voirdire.fit(votes(np.array([1.2, 1.1, -0.7, -2.0]), 300, np.random.default_rng(seed)), **HOW)
        found = plan_to_distinguish(fit)
        assert set(fit.decision.first) == set(found.items)
        assert [row["seeming"] for row in found.rows] == [row["more"] for row in fit.decision.next]
        if (more := found.rows[0]["seeming"]) is not None:
            assert f"if the difference is as large as seen so far, it takes about {round_up(more):,} more votes" in str(
                found
            )
            assert f"About {round_up(more):,} more votes" in fit.decision.settle()
            assert more < (found.rows[0]["more"] or np.inf)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["plan", "--apart", "w,q"], "'q' is none of the 4 items; known are 'w', 'x', 'y', 'z'"),
        (["plan", "--apart", "top", "--margin", "-1"], "margin -1.0 is not above 0"),
        (["board", "--prices", "prices.csv", "--margin", "1"], "no price of 'x', 'y', 'z'"),
    ],
)
def test_a_request_that_names_what_there_is_not_is_refused_before_the_fit(
    arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(import_module("voirdire.fit.verb"), "weigh_answers", None)
    votes(np.zeros(4), 50, np.random.default_rng(0)).to_csv("pilot.csv", index=False)
    Path("prices.csv").write_text("item,price\nw,1\n")
    done = CliRunner().invoke(app, [arguments[0], "pilot.csv", *arguments[1:]])
    assert done.exit_code == 1, done.output
    assert said in done.stderr


def test_unlinked_pairs_and_labels_of_no_systems_are_refused_before_the_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(import_module("voirdire.fit.verb"), "weigh_answers", None)
    rows = [f"{j},{k}a,{k}b,first" for j in ("ann", "bob") for k in range(9)]
    Path("pairs.csv").write_text("\n".join(["judge,first,second,winner", *rows]))
    Path("labels.csv").write_text("judge,item,label\nann,x,good\nbob,x,bad\nann,y,good\nbob,y,good\n")
    for verb in (["board"], ["plan", "--apart", "top"]):
        for name, said in (("pairs.csv", "stands by itself"), ("labels.csv", "lacks context and system")):
            done = CliRunner().invoke(app, [verb[0], name, *verb[1:]])
            assert done.exit_code == 1, done.output
            assert said in done.stderr


def test_in_the_same_contexts_more_votes_do_not_help_for_ever() -> None:
    rng = np.random.default_rng(4)
    table = pd.concat([votes(rng.normal([0.5, 0.2, 0, -0.7], 1.0), 200, rng).assign(context=f"p{x}") for x in range(8)])
    found = plan_to_distinguish(voirdire.fit(table, method="laplace"))
    of = {row["of"].split(",")[0]: row for row in found.rows}
    assert of["votes in the same contexts"]["more"] is None
    assert of["votes in the same contexts"]["probability"] < of["contexts"]["probability"]


@pytest.mark.slow
def test_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "pilot.csv"
    votes(np.array([0.6, 0.3, 0.0, -1.0]), 200, np.random.default_rng(3)).to_csv(path, index=False)
    done = CliRunner().invoke(app, ["plan", str(path), "--apart", "top", "--json"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert {"items", "distinguishable", "rows", "power", "decision", "apart", "margin", "within"} == set(found)
    itself = voirdire.fit(path)  # one rule, one fit: what fit and board say of the table
    assert found["decision"] == json.loads(json.dumps(itself.decision.as_dict()))
    assert found["rows"] == plan_to_distinguish(itself).rows
    done = CliRunner().invoke(app, ["plan", str(path), "--apart", "top", "--margin", "0.5", "--json"])
    near = json.loads(done.stdout)
    assert near["margin"] == 0.5
    assert near["rows"][0]["more"] < (found["rows"][0]["more"] or np.inf)
    shown = CliRunner().invoke(app, ["plan", str(path), "--apart", "w,z"])
    assert shown.exit_code == 0, shown.output
    assert "w and z are distinguishable" in shown.stdout
    people = tmp_path / "people.csv"
    votes(np.array([0.6, 0.3, 0.0, -1.0]), 40, np.random.default_rng(4)).drop(columns="judge").assign(
        person=[f"p{k % 8}" for k in range(40)]
    ).to_csv(people, index=False)
    for verb in (["plan", "--apart", "top"], ["board"]):
        told = CliRunner().invoke(app, [*verb, str(path), "--anchors", str(people), "--about", "target", "--json"])
        assert told.exit_code == 0, told.output
        fit = voirdire.fit(path, anchors=people, about="target")
        assert json.loads(told.stdout)["decision"]["first"] == fit.decision.as_dict()["first"]
        assert json.loads(told.stdout)["decision"]["next"] == fit.decision.as_dict()["next"]
    for wrong, said in (
        (["plan", "--items", "4", "--anchors", str(people)], "--anchors is for --apart and a pilot"),
        (["plan", "--items", "4", "--margin", "1"], "--margin is for --apart and a pilot"),
        (["plan", str(path)], "go together"),
        (["plan", "--apart", "top"], "go together"),
        (["plan", str(path), "--apart", "top", "--items", "4"], "not for --apart"),
        (["plan"], "--items is missing"),
    ):
        refused = CliRunner().invoke(app, wrong)
        assert refused.exit_code == 2
        assert said in " ".join(refused.output.replace("│", " ").split())
    for wrong, said in (("w,q", "'q' is none of the 4 items"), ("w", "is not two items")):
        refused = CliRunner().invoke(app, ["plan", str(path), "--apart", wrong])
        assert refused.exit_code == 1
        assert said in refused.output


def test_unknown_items_are_refused() -> None:
    fit = voirdire.fit(votes(np.zeros(3), 60, np.random.default_rng(0)), **HOW)
    with pytest.raises(InputError, match="'q' is none of the 3 items; known are 'w', 'x', 'y'"):
        plan_to_distinguish(fit, ("w", "q"))


def test_more_judges_leave_open_what_other_contexts_would_say() -> None:
    """Systems in few contexts, of which two judges who agree say much: other judges tell no more, other contexts do."""
    rng = np.random.default_rng(2)
    worth = np.array([0.1, 0.0])[None] + 0.8 * rng.normal(size=(24, 2))
    rows = [
        (judge, context, system, float(np.clip(3 + worth[context, n] + 0.1 * rng.normal(), 1, 5)))
        for judge in "abc"
        for context in range(24)
        for n, system in enumerate("xy")
    ]
    table = pd.DataFrame(rows, columns=["judge", "context", "system", "score"])
    fit = voirdire.fit(table, model="rating-continuous", levels=[1, 5], seed=0)
    assert not fit.decide().pairs.better.any()
    by = {row["of"].split(",")[0]: row["more"] for row in plan_to_distinguish(fit).rows}
    assert by["contexts"] is not None
    assert by["judges"] is None
    needed = {row["of"]: row["more"] for row in fit.decide().next}
    assert needed["contexts"] is not None
    assert needed["judges"] is None
