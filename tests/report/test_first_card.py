"""What a page says first is what the checks say; judges who are swayed by position are not simply good."""

from __future__ import annotations

import itertools

import pandas as pd

import voirdire
from voirdire.model.check import Check
from voirdire.report.fit_page import fit_page
from voirdire.report.sections.judges import standing


def test_the_first_card_holds_the_checks_and_nothing_contradicts_them() -> None:
    votes = pd.DataFrame(
        [(j, a, b, a) for j in "abc" for a, b in itertools.combinations(["u", "v", "w", "x", "<y>"], 2)],
        columns=["judge", "first", "second", "winner"],
    )
    fit = voirdire.fit(votes, method="map")
    page = fit_page(fit)
    assert page.tiles[0][0] == "Checks"
    assert (
        page.title == "Report of a judge panel: \u2068u\u2069, \u2068v\u2069, \u2068w\u2069 and 2 more items"
    )
    object.__setattr__(
        fit, "method_checks", (*fit.method_checks, Check("mirror", "fail", 0.5, "It may be turned round."))
    )
    fit.__dict__.pop("_checks", None)
    page = fit_page(fit)
    assert page.tiles[0][:2] == ("Checks", "failed")
    assert page.tiles[1] == ("Best item", "\u2068u\u2069", "not to be relied on: checks failed")
    judges = next(section for section in page.sections if section.name == "judges")
    assert judges.blocks[0].text.endswith("But checks failed: see what they say before trusting this.")


def test_a_judge_who_is_swayed_by_position_is_said_to_be() -> None:
    good = {
        "reliability_low": 0.6,
        "reliability_high": 0.8,
        "position_bias_low": -0.05,
        "position_bias_high": 0.08,
    }
    swayed = good | {"position_bias_low": 0.3, "position_bias_high": 0.44}
    assert standing([good, swayed]) == "2 better than chance, 1 swayed by position"
    assert standing([good, swayed], whole=True) == (
        "2 of 2 judges are better than chance; one judge is swayed by the order in which items are shown "
        "(position bias above 0.1)."
    )
    assert standing([good, good]) == "2 better than chance"
