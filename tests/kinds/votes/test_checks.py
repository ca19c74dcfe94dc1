"""Checks: what is wrong with a table or a posterior is said, with its number and a remedy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire.infer import checks
from voirdire.kinds import VotesProblem, encode_votes
from voirdire.kinds import checks as shared
from voirdire.kinds.votes import checks as vote_checks
from voirdire.model import Check, load_model
from voirdire.model.problem import worst_level
from voirdire.simulate import OneCoin, simulate_votes
from voirdire.tables import read_votes


def encoded(rows: list[tuple[str, ...]], model: str = "crowd-bt", on_criteria: Any = None) -> VotesProblem:
    columns = ["judge", "first", "second", "winner", "criterion"][: len(rows[0])]
    votes = read_votes(pd.DataFrame(rows, columns=columns))
    return encode_votes(load_model(model), votes, on_criteria)


def of(problem: VotesProblem, name: str) -> Check:
    return next(check for check in vote_checks.comparison_checks(problem) if check.check == name)


CYCLE = [("ann", "x", "y", "x"), ("ann", "y", "z", "y"), ("ann", "z", "x", "z")]


def test_a_sound_table_passes() -> None:
    assert {check.level for check in vote_checks.comparison_checks(encoded(CYCLE))} == {"ok"}


def test_groups_that_no_vote_links_are_named() -> None:
    apart = encoded([*CYCLE, ("ann", "p", "q", "p"), ("ann", "p", "q", "q")])
    found = of(apart, "connectivity")
    assert (found.level, found.value) == ("warn", 2.0)
    assert "2 groups" in found.message
    assert "p, q" in found.message
    assert of(apart, "separation").level == "ok"


def test_items_that_win_or_lose_everything_are_named() -> None:
    found = of(encoded([*CYCLE, ("ann", "best", "x", "best"), ("ann", "worst", "y", "y")]), "separation")
    assert (found.level, found.value) == ("warn", 2.0)
    assert "best, worst are winning or losing every vote" in found.message


def test_a_tie_ends_separation() -> None:
    won = [*CYCLE, ("ann", "best", "x", "best")]
    assert of(encoded(won), "separation").level == "warn"
    assert of(encoded([*won, ("ann", "best", "y", "tie")]), "separation").level == "ok"


def test_criteria_are_looked_at_one_by_one_where_the_model_keeps_them_apart() -> None:
    """Under each criterion only two of three items meet; together they are linked."""
    rows = [("ann", "x", "y", winner, "good") for winner in "xy"]
    rows += [("ann", "y", "z", winner, "short") for winner in "yz"]
    assert of(encoded(rows, "crowd-bt"), "connectivity").level == "ok"
    apart = of(encoded(rows, "maple"), "connectivity")
    assert apart.level == "warn"
    assert "criterion 'good' (and 1 more criterion)" in apart.message


def test_weights_without_votes_are_the_priors() -> None:
    rows = [("ann", "x", "y", winner, criterion) for winner in "xy" for criterion in ("good", "short")]
    (found,) = vote_checks.weights_check(encoded(rows, "maple"))
    assert found.level == "warn"
    assert "the prior's alone" in found.message
    on_criteria = pd.DataFrame({"judge": ["ann"], "first": "good", "second": "short", "winner": "good"})
    assert vote_checks.weights_check(encoded(rows, "maple", read_votes(on_criteria))) == []
    assert vote_checks.weights_check(encoded(rows, "maple-fixed-weights")) == []
    assert vote_checks.weights_check(encoded(CYCLE, "maple")) == []  # one criterion needs no weight


@pytest.mark.parametrize(("mass", "level"), [(0.0, "ok"), (0.05, "ok"), (0.051, "warn"), (0.3, "warn"), (0.31, "fail")])
def test_the_mirror_warns_above_five_percent(mass: float, level: str) -> None:
    found = shared.orientation_check(mass)
    assert (found.level, found.value) == (level, mass)
    assert f"{mass:.2g} posterior probability that this panel is wrong as a whole" in found.message
    assert ("Collect human answers" in found.message) == (level != "ok")
    assert "at the mode alone" in shared.orientation_check(mass, at_mode=True).message


def test_judges_below_chance_are_named_if_their_whole_interval_is() -> None:
    problem = encoded([(judge, "x", "y", "x") for judge in ("ann", "bob", "cem")])
    found = shared.below_chance_check(problem, {"reliability_high": np.array([0.49, 0.51, 0.2])})
    assert [check.level for check in found] == ["warn"]
    assert found[0].value == 2.0
    assert found[0].message.startswith("ann, cem are clearly worse than chance")
    fine = shared.below_chance_check(problem, {"reliability_high": np.array([0.6, 0.51, 0.9])})
    assert [check.level for check in fine] == ["ok"]
    assert shared.below_chance_check(problem, {"reliability_high": np.full(3, np.nan)}) == []


def test_many_names_are_counted() -> None:
    rows = [("ann", f"item{k}", "x", "x") for k in range(8)] + [("ann", "x", "y", "tie")]
    message = of(encoded(rows), "separation").message
    assert "item0, item1, item2, item3, item4 and 5 more are" in message  # x and y win as a group


def test_a_search_or_a_curvature_that_failed_says_so() -> None:
    assert checks.check_convergence(1e-7, True).level == "ok"
    assert checks.check_convergence(0.3, False).level == "fail"
    assert checks.check_curvature(0.1).level == "ok"
    for flat in (0.0, -0.2):
        assert checks.check_curvature(flat).level == "fail"
        assert "method='nuts'" in checks.check_curvature(flat).message


def test_draws_in_both_modes_are_told() -> None:
    found = checks.check_both_modes(0.25)
    assert found.level == "warn"
    assert "25% of the draws" in found.message


def test_the_worst_level_wins() -> None:
    made = [Check("a", level, 0.0, "") for level in ("ok", "warn", "ok")]
    assert worst_level(made) == "warn"
    assert worst_level([*made, Check("b", "fail", None, "")]) == "fail"
    assert worst_level([]) == "ok"


@pytest.mark.parametrize(
    ("depend", "anchored", "level"),
    [("fail", False, "warn"), ("warn", False, "ok"), ("ok", False, "ok"), ("fail", True, "ok")],
)
def test_that_a_panel_is_right_as_a_whole_is_not_claimed_of_dependent_judges(
    depend: Any, anchored: bool, level: str
) -> None:
    found = [shared.orientation_check(7e-51), Check("dependence", depend, 2.0, "8 judges, worth about 2.")]
    told = shared.withhold_orientation_probability(found, anchored)
    assert (told[0].level, told[1]) == (level, found[1])
    assert ("7e-51 posterior probability" in told[0].message) == (level == "ok")
    assert ("Shared mistakes of judges would raise it" in told[0].message) == (depend == "warn")


@pytest.mark.parametrize(("mode", "follows"), [("joint", True), ("cut", False)])
def test_where_judges_outweigh_people_who_contradict_them_it_is_said(mode: str, follows: bool) -> None:
    judges = {f"j{k}": OneCoin(0.05 if k < 5 else 0.95) for k in range(7)}
    made = simulate_votes(judges, 6, 1, seed=0)
    best = [made.truth.items[at] for at in np.argsort(-made.truth.strengths[0])]
    anchors = pd.DataFrame([(best[k], best[k + apart]) for apart in (2, 3) for k in range(6 - apart)])
    anchors = anchors.set_axis(["first", "second"], axis=1).assign(winner="first")
    fitted = voirdire.fit(made.votes, anchors=anchors, anchor_mode=mode, method="map")
    said = fitted.checks().set_index("check").loc["anchors", "message"]
    agrees = fitted.ranking()["item"].tolist().index(best[0]) < 3
    assert agrees is not follows
    assert ("The scores still follow the judges (they agree with people on 0 of" in said) is follows
    assert ("Trust what rests on the anchors" in said) is not follows
