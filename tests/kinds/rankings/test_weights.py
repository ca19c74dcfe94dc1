"""Rankings under several criteria whose weights are given."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import voirdire
from voirdire import InputError
from voirdire.cli import app

TABLE = pd.DataFrame(
    [
        (judge, criterion, item, rank)
        for judge in "abc"
        for criterion, order in (("clear", "xyz"), ("true", "zyx"))
        for rank, item in enumerate(order)
    ],
    columns=["judge", "criterion", "item", "rank"],
)
WEIGHTS = pd.DataFrame({"criterion": ["true", "clear"], "weight": [3, 1]})


def scores(fit: Any) -> pd.Series[float]:
    return fit.ranking().set_index("item")["score"].sort_index()


def test_the_score_is_the_weighted_sum_of_strengths(tmp_path: Path) -> None:
    fit = voirdire.fit(TABLE, criteria=WEIGHTS, method="map")
    strengths = fit.strengths().pivot_table("strength", "item", "criterion")
    np.testing.assert_allclose(scores(fit), 0.25 * strengths["clear"] + 0.75 * strengths["true"])
    assert fit.criteria().set_index("criterion")["weight"].to_dict() == {"clear": 0.25, "true": 0.75}
    assert fit.ranking()["item"].tolist() == ["z", "y", "x"]
    again = voirdire.load(fit.save(tmp_path / "fit"))
    pd.testing.assert_frame_equal(again.ranking(), fit.ranking())


def test_an_update_keeps_the_weights_or_takes_new_ones() -> None:
    fit = voirdire.fit(TABLE, criteria=WEIGHTS, method="map")
    more = TABLE.assign(judge=TABLE["judge"] + "2")
    whole = voirdire.fit(pd.concat([TABLE, more]), criteria=WEIGHTS, method="map")
    np.testing.assert_allclose(scores(fit.update(more)), scores(whole), atol=0.01)
    turned = fit.update(more, criteria=WEIGHTS.assign(weight=[1, 3]))
    assert turned.ranking()["item"].tolist() == ["x", "y", "z"]
    with pytest.raises(InputError, match="no weight for 'new'"):
        fit.update(more[more["criterion"] == "true"].assign(criterion="new"))


def test_the_weights_are_checked() -> None:
    with pytest.raises(InputError) as caught:
        voirdire.fit(TABLE, criteria=pd.DataFrame({"criterion": ["clear", "trues"], "weight": [1, -1]}))
    for said in ("'trues' has no rankings", "weight -1 is negative", "no weight for 'true'"):
        assert said in str(caught.value)
    others = pd.DataFrame({"criterion": [f"c{n}" for n in range(200)], "weight": [f"w{n % 2}" for n in range(200)]})
    with pytest.raises(InputError) as caught:
        voirdire.fit(TABLE, criteria=others)
    assert len(caught.value.problems) == 4  # not one for each of 200 rows
    for said in ("197 more: 'c0', 'c1', ", "(200 in all) have no rankings", "97 more: weight 'w0' is not a number"):
        assert said in str(caught.value)


def test_the_command_line(tmp_path: Path) -> None:
    TABLE.to_csv(tmp_path / "rankings.csv", index=False)
    WEIGHTS.to_csv(tmp_path / "weights.csv", index=False)
    words = ["fit", "rankings.csv", "--criteria", "weights.csv", "--method", "map", "--json"]
    done = CliRunner().invoke(app, [str(tmp_path / w) if w.endswith(".csv") else w for w in words])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["items"][0]["item"] == "z"
