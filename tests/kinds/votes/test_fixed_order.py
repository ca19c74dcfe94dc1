"""Position and item cannot be told apart where a fixed order of the items decided who was shown first."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire.cli.fit import show_fit
from voirdire.report.fit_page import fit_page
from voirdire.report.html import notebook
from voirdire.tables import read_votes
from voirdire.tables.graph import fixed_order_rule

Pairs = list[tuple[str, str]]
SORTED = list(itertools.combinations("wxyz", 2))


def votes(pairs: Pairs) -> pd.DataFrame:
    rows = [(judge, *pair, "first") for judge in "ab" for pair in pairs]
    return pd.DataFrame(rows, columns=["judge", "first", "second", "winner"])


@pytest.mark.parametrize(
    ("pairs", "told"),
    [
        ([("r", other) for other in "wxyz"], "r is always first"),
        ([(other, "r") for other in "wxyz"], "r is always second"),
        ([("w", "x"), ("z", "y")], "no item is shown in both places"),
        (SORTED, "items are always shown in the order of their names"),
        ([("y", "w"), ("w", "x"), ("y", "x")], "items are always shown in one fixed order"),
        ([*SORTED, ("z", "w")], None),
        ([("w", "x"), ("x", "y"), ("y", "w")], None),
        ([*SORTED, *((b, a) for a, b in SORTED)], None),
    ],
)
def test_what_decided_who_was_shown_first(pairs: Pairs, told: str | None) -> None:
    assert fixed_order_rule(read_votes(votes(pairs))) == told


def test_always_first_and_always_right_are_the_same_answers() -> None:
    """A cycle is what tells them apart: without one some ranking has every first item above its second."""
    rng = np.random.default_rng(0)
    for _ in range(300):
        pairs = [tuple("vwxyz"[k] for k in rng.permutation(5)[:2]) for _ in range(rng.integers(1, 7))]
        rankings = (dict(zip(order, range(5), strict=True)) for order in itertools.permutations("vwxyz"))
        explained = any(all(rank[a] < rank[b] for a, b in pairs) for rank in rankings)
        assert (fixed_order_rule(read_votes(votes(pairs))) is not None) == explained


@pytest.mark.parametrize("model", ["crowd-bt-position", "crowd-bt", "bradley-terry"])
def test_the_check_claims_no_bias_that_the_design_cannot_show(model: str) -> None:
    def position(pairs: Pairs) -> pd.Series:
        return voirdire.fit(votes(pairs * 5), model=model).checks().set_index("check").loc["position"]

    one = position([("r", other) for other in "wxyz"])
    assert one["level"] == "warn"
    assert one["message"].startswith("Position bias cannot be told: r is always first")
    some_in_both = position([*SORTED, ("z", "w"), ("y", "x")])
    assert "cannot be told" not in some_in_both["message"]


@pytest.mark.long
@pytest.mark.slow
def test_human_answers_tell_position_from_strength() -> None:
    people = pd.DataFrame({"first": ["r"] * 4, "second": list("wxyz"), "winner": "second"})
    fit = voirdire.fit(votes([("r", other) for other in "wxyz"]), anchors=people, anchor_mode="joint")
    assert "cannot be told" not in " ".join(fit.checks()["message"])


@pytest.mark.long
@pytest.mark.slow
def test_what_cannot_be_told_is_left_out_with_its_reason_once(capsys: pytest.CaptureFixture[str]) -> None:
    one, both = (voirdire.fit(votes(pairs * 5)) for pairs in ([("r", x) for x in "wxyz"], [*SORTED, ("z", "w")]))
    for fit, told in ((one, False), (both, True)):
        assert ("position bias" in notebook(fit)) == told
        show_fit(fit)
        assert ("position bias" in capsys.readouterr().out) == told
    judges = next(section for section in fit_page(one).sections if section.name == "judges")
    assert str(judges).count("r is always first") == 1
    assert "Position bias is left out: r is always first" in str(judges)
