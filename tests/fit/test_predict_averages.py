"""What predictions say of what questions leave open: averages are named, and unseen values have their spread."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire.kinds.target_predictions import predictive_draws
from voirdire.notices import listen_for_notes

RNG = np.random.default_rng(3)
JUDGES, ITEMS = [f"j{k}" for k in range(6)], [f"i{n}" for n in range(12)]
WORTH, TASTE = RNG.normal(0, 1, 12), RNG.normal(0, 1.2, (6, 12))
SCORES = pd.DataFrame(
    [
        (judge, item, criterion, int(np.clip(round(3 + WORTH[n] + TASTE[k, n] + 0.5 * RNG.normal()), 1, 5)), n % 3)
        for k, judge in enumerate(JUDGES)
        for n, item in enumerate(ITEMS)
        for criterion in "pqr"
    ],
    columns=["judge", "item", "criterion", "score", "subject"],
)
MET = SCORES[(SCORES["judge"] != "j0") | ~SCORES["item"].isin(["i0", "i5"])]


@pytest.mark.parametrize("terms", ["item + item:subject", "item + subject"])
def test_predictions_say_what_they_average_over(terms: str) -> None:
    plain = SCORES.query("criterion == 'p'").drop(columns="criterion")
    plain["subject"] = plain["subject"] if terms.endswith("+ subject") else "s" + plain["subject"].astype(str)
    fit, said = voirdire.fit(plain, terms=terms, method="map"), list[str]()
    with listen_for_notes(said.append):
        fit.predict(plain[["judge", "item"]].head(2).assign(subject=99))
    assert said == ["Answers are predicted on average over subject, whatever the questions say of it."]


def test_contexts_that_a_fit_has_not_are_named() -> None:
    table = SCORES.rename(columns={"criterion": "context"}).drop(columns="subject")
    fit, said = voirdire.fit(table, model="rating-contexts", method="map"), list[str]()
    with listen_for_notes(said.append):
        fit.predict(table.head(2).assign(context=["p", "zz"]))
        fit.predict(table.head(2))
    assert said == ["The fit has no context 'zz': taken as any context like those that it has."]


def test_at_the_mode_what_a_judge_makes_of_an_item_that_it_has_not_seen_has_its_spread() -> None:
    asked = pd.DataFrame({"judge": ["j0", "j0", "j1"], "item": ["i0", "i5", "i0"], "criterion": "p"})
    mode, draws = (voirdire.fit(MET.drop(columns="subject"), method=method) for method in ("map", "laplace"))
    assert mode.model.name == "rating-halo"
    levels = [f"p_{level}" for level in range(1, 6)]
    found, wanted = (fit.predict(asked)[levels].to_numpy() for fit in (mode, draws))
    np.testing.assert_allclose(found[:2], wanted[:2], atol=0.06)
    assert found[:2].max() < 0.5  # at a taste of zero one level has 60% and more
    codes = {"judge": np.array([0, 1]), "item": np.array([0, 0])}
    table = {name: getattr(mode.problem.table, name) for name in codes}
    drawn = np.array([values["taste"] for values in predictive_draws(mode.posterior, table, codes)])
    spread = np.exp(mode.posterior.central_values["log_taste_spread"])
    assert drawn[:, 0, 0].std() == pytest.approx(float(spread), rel=0.15)
    assert np.ptp(drawn[:, 1, 0]) == 0.0
    assert np.ptp(drawn[:, 0, 5]) == 0.0  # not asked
