"""The verb fit on labels: recovery, results, what is stored, what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import voirdire
from voirdire.cli import app

Simulate = Callable[..., tuple[pd.DataFrame, pd.Series]]
SHARP, SHY, WRONG, BLIND = (
    np.array(rows)
    for rows in ([[0.9, 0.1], [0.1, 0.9]], [[0.95, 0.05], [0.5, 0.5]], [[0.2, 0.8], [0.8, 0.2]], [[1, 0], [1, 0]])
)
PANEL = [SHARP, SHARP, SHARP, SHY, WRONG, BLIND]


@pytest.fixture(scope="module")
def panel(simulate: Simulate) -> tuple[pd.DataFrame, pd.Series]:
    return simulate(PANEL, [0.7, 0.3], 300, ["no", "yes"], 11)


@pytest.fixture(scope="module")
def fitted(panel: tuple[pd.DataFrame, pd.Series]) -> voirdire.Fit:
    return voirdire.fit(panel[0])


def test_what_judges_do_is_recovered(fitted: voirdire.Fit, panel: tuple[pd.DataFrame, pd.Series]) -> None:
    assert fitted.model.name == "hierarchical-dawid-skene"
    assert fitted.notes[:2] == (
        "No model was named: hierarchical-dawid-skene, because the table has labels.",
        "Success is taken to be 'yes', so that more of it is better; --positive no says otherwise.",
    )
    judges = fitted.judges()
    truth = panel[1]
    for k, row in judges.iterrows():
        said = panel[0][panel[0]["judge"] == row["judge"]].set_index("item")["label"]
        for name, label in (("sensitivity", "yes"), ("specificity", "no")):
            # what the judge did on these items, within three widths of a 90% interval's half
            did = float((said[truth[truth == label].index] == label).mean())
            assert abs(row[name] - did) < 1.8 * (row[f"{name}_high"] - row[f"{name}_low"]) / 2 + 0.03, (k, name)
    at_mode = replace(fitted, posterior=replace(fitted.posterior, draws=None))  # medians do not add up
    judges, share = at_mode.judges(), at_mode.shares().set_index("class")["share"]["yes"]
    np.testing.assert_allclose(judges["reliability"], judges[["sensitivity", "specificity"]].mean(axis=1))
    np.testing.assert_allclose(judges["accuracy"], share * judges["sensitivity"] + (1 - share) * judges["specificity"])
    cells = fitted.confusion()
    np.testing.assert_allclose(cells.groupby(["judge", "class"])["probability"].sum(), 1.0)
    found = fitted.classes().set_index("item")
    assert (found["label"] == truth[found.index]).mean() > 0.95
    np.testing.assert_allclose(found[["p_no", "p_yes"]].sum(axis=1), 1.0)
    levels = fitted.checks().set_index("check")["level"]
    assert levels["constant-judges"] == "warn"
    assert levels["below-chance"] == "warn"
    assert levels["label-switching"] == "ok"


def test_results_survive_storage_and_json(fitted: voirdire.Fit, tmp_path: Path) -> None:
    folder = fitted.save(tmp_path / "run")
    again = voirdire.load(folder)
    pd.testing.assert_frame_equal(again.classes(), fitted.classes())
    pd.testing.assert_frame_equal(again.judges(), fitted.judges())
    found = json.loads((folder / "result.json").read_text())
    assert {"items", "judges", "shares", "confusion", "checks"} <= set(found)
    # programs read votes of any kind; tables say what they are
    assert [row["votes"] for row in found["judges"]] == fitted.judges()["answers"].tolist()
    assert "votes" not in fitted.judges()
    assert found["items"][0]["known"] is False
    assert found == json.loads(json.dumps(again.as_dict()))


def test_idata_and_the_pymc_model_are_named(fitted: voirdire.Fit) -> None:
    data = fitted.idata
    posterior = data["posterior"] if hasattr(data, "children") else data.posterior
    assert posterior["confusion"].dims[-3:] == ("judge", "class", "given_label")
    assert list(posterior["class"].to_numpy()) == ["no", "yes"]


def test_majority_label_is_the_most_common_label(panel: tuple[pd.DataFrame, pd.Series]) -> None:
    table = panel[0]
    fit = voirdire.fit(table, model="majority-label", method="map")
    found = fit.classes().set_index("item")
    counts = table.groupby(["item", "label"]).size().unstack(fill_value=0)
    tied = counts["no"] == counts["yes"]
    np.testing.assert_array_equal(found["label"][~tied], counts.idxmax(axis=1)[~tied])
    assert (found["probability"][tied] == 0.5).all()
    assert fit.judges()["reliability"].isna().all()
    assert fit.confusion().empty


def test_known_classes_count_and_are_kept(panel: tuple[pd.DataFrame, pd.Series]) -> None:
    table, truth = panel
    wrong = table[table["judge"].isin(["judge-4", "judge-5"])]  # a judge that reverses, a judge that says nothing
    anchors = truth.head(200).rename("label").rename_axis("item").reset_index()
    alone = voirdire.fit(wrong, method="map").classes().set_index("item")["label"]
    helped = voirdire.fit(wrong, method="map", anchors=anchors).classes().set_index("item")
    assert (helped["label"][anchors["item"]].to_numpy() == anchors["label"].to_numpy()).all()
    rest = truth.index[200:]

    def balanced(found: pd.Series) -> float:
        return float((found[rest] == truth[rest]).groupby(truth[rest]).mean().mean())

    # the judge that reverses is right on 80% of either class, once it is known for what it is
    assert balanced(alone) < 0.6 < 0.7 < balanced(helped["label"])


def test_a_label_that_is_no_class_is_an_answer_only() -> None:
    rows = [(j, f"i{n}", "unsure" if n % 3 == 0 else "ab"[n % 2]) for j in "xyz" for n in range(12)]
    table = pd.DataFrame(rows, columns=["judge", "item", "label"])
    fit = voirdire.fit(table, method="map", classes=["a", "b"])
    assert set(fit.classes()["label"]) <= {"a", "b"}
    assert set(fit.confusion()["label"]) == {"a", "b", "unsure"}


def refused(**request: Any) -> str:
    table = pd.DataFrame({"judge": ["j", "k"] * 2, "item": ["x", "x", "y", "y"], "label": ["a", "b", "a", "a"]})
    with pytest.raises(voirdire.InputError) as caught:
        voirdire.fit(request.pop("table", table), method="map", **request)
    return str(caught.value)


def test_what_is_wrong_is_said() -> None:
    one = pd.DataFrame({"judge": ["j"], "item": ["x"], "label": ["a"]})
    assert "only the label 'a' occurs" in refused(table=one)
    assert "label 'b' is none of 'a', 'c'" in refused(levels=["a", "c"])
    assert "class 'B' is no label; labels are 'a', 'b'; did you mean 'b'?" in refused(classes=["a", "B"])
    assert "fewer than two" in refused(classes=["a"])
    assert "model maple is for votes, but the table has labels; take dawid-skene," in refused(model="maple")
    anchors = pd.DataFrame({"item": ["z", "x", "x"], "label": ["a", "a", "b"]})
    message = refused(anchors=anchors)
    assert "anchors: row 1: no judge has labelled item 'z'" in message
    assert "anchors: row 3: item 'x' is 'b' here and 'a' before" in message
    strange = pd.DataFrame({"item": [f"z{n}" for n in range(40)], "label": "a"})
    message = refused(anchors=strange)
    assert "anchors: rows 1, 2, 3 and 37 more: no judge has labelled items 'z0', 'z1', " in message
    assert "... (40 in all); leave them out" in message
    assert len(message.splitlines()) == 1
    assert "criteria= is not for tables of labels" in refused(criteria=one)
    votes = pd.DataFrame({"judge": "j", "first": ["x"], "second": "y", "winner": "x"})
    assert "classes= is not for tables of votes" in refused(table=votes, classes=["a", "b"])
    scores = pd.DataFrame({"judge": "j", "item": ["x"], "score": [1]})
    assert "scores" in refused(table=scores)


def test_tables_of_votes_are_not_there() -> None:
    table = pd.DataFrame({"judge": ["j", "k"] * 2, "item": ["x", "x", "y", "y"], "label": ["a", "b", "a", "a"]})
    fit = voirdire.fit(table, method="map")
    with pytest.raises(
        voirdire.InputError, match=r"ranking\(\) is for fits of votes, scores or rankings; a fit of labels has classes"
    ):
        fit.ranking()
    assert voirdire.fit(table, method="map", model="one-coin-label").judges()["reliability"].between(0, 1).all()


def test_the_command_line_shows_labels(panel: tuple[pd.DataFrame, pd.Series], tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    panel[0].to_csv(path, index=False)
    shown = CliRunner().invoke(app, ["fit", str(path), "--method", "map"], catch_exceptions=False)
    assert shown.exit_code == 0, shown.stderr
    for text in ("hierarchical-dawid-skene by map: 1,800 labels", "sensitivity", "least certain first", "Classes, by"):
        assert text in shown.stdout
    asked = ["fit", str(path), "--method", "map", "--json", "--classes", "no,yes"]
    result = json.loads(CliRunner().invoke(app, asked, catch_exceptions=False).stdout)
    assert len(result["items"]) == 300
    assert {row["class"] for row in result["shares"]} == {"no", "yes"}


def test_items_of_another_table_are_classified_as_bayes_rule_has_it(panel: tuple[pd.DataFrame, pd.Series]) -> None:
    table, truth = panel
    seen = table["item"] < "item-200"
    fit = voirdire.fit(table[seen], method="map", about="panel")
    # the same labels give the same probabilities as in the fit
    again = fit.predict(table[seen]).set_index("item")
    inside = fit.classes().set_index("item")
    np.testing.assert_allclose(again["p_yes"], inside.loc[again.index, "p_yes"], atol=1e-12)
    new = fit.predict(table[~seen]).set_index("item")
    assert len(new) == 100
    assert (new["label"] == truth[new.index]).mean() > 0.9
    rates = fit.confusion().set_index(["judge", "class", "label"])["probability"]
    share = fit.shares().set_index("class")["share"]
    said = table[table["item"] == "item-250"]
    by_class = {
        of: share[of] * np.prod([rates[row.judge, of, row.label] for row in said.itertuples()]) for of in ("no", "yes")
    }
    assert new.loc["item-250", "p_yes"] == pytest.approx(by_class["yes"] / sum(by_class.values()), rel=1e-9)
    stranger = pd.DataFrame({"judge": ["judge-9"], "item": "x", "label": "yes"})
    with pytest.raises(voirdire.InputError, match="row 1: judge 'judge-9' is not in the fit"):
        fit.predict(stranger)
    with pytest.raises(voirdire.InputError, match="label 'maybe' is none of 'no', 'yes'"):
        fit.predict(stranger.assign(judge="judge-0", label="maybe"))
    majority = voirdire.fit(table[seen], model="majority-label", method="map")
    with pytest.raises(voirdire.InputError, match="takes all alike"):
        majority.predict(table)


@pytest.mark.slow
def test_copies_are_found_and_independent_judges_are_not_suspected(simulate: Simulate) -> None:
    alone = 0
    for seed in range(8):
        table, _ = simulate([SHARP, SHARP, SHY, SHARP, SHARP, SHY], [0.6, 0.4], 150, ["no", "yes"], seed)
        found = voirdire.fit(table, method="map").checks().set_index("check").loc["dependence"]
        alone += found["level"] != "ok"
        copy = table[table["judge"] == "judge-2"].assign(judge="copy")
        flipped = copy.sample(frac=0.05, random_state=seed).index
        copy.loc[flipped, "label"] = copy.loc[flipped, "label"].map({"no": "yes", "yes": "no"})
        if seed < 4:
            both = pd.concat([table, copy], ignore_index=True)
            shared = voirdire.fit(both, method="map")
            assert shared.model.name == "family-dawid-skene"
            assert shared.checks().set_index("check").loc["dependence", "level"] == "ok"  # it explains them
            plain = voirdire.fit(both, method="map", model="hierarchical-dawid-skene")
            found = plain.checks().set_index("check").loc["dependence"]
            assert found["level"] != "ok"
            assert "copy and judge-2" in found["message"]
    assert alone <= 1  # at 1% each


def test_one_copy_among_six_judges_counts_more_than_once_and_not_many_times() -> None:
    rng = np.random.default_rng(3)
    truth = rng.integers(2, size=200)
    said = [np.where(rng.random(200) < 0.75, truth, 1 - truth) for _ in range(5)]
    rows = [(f"j{k}", f"i{i}", "ny"[c]) for k, all_ in enumerate([*said, said[0]]) for i, c in enumerate(all_)]
    table = pd.DataFrame(rows, columns=["judge", "item", "label"])
    known = pd.DataFrame({"item": [f"i{i}" for i in range(10)], "label": ["ny"[c] for c in truth[:10]]})
    for anchors, asked in ((None, "pass items of known class"), (known, "pass more items of known class")):
        fit = voirdire.fit(table, method="map", model="hierarchical-dawid-skene", anchors=anchors)
        message = fit.checks().set_index("check").loc["dependence", "message"]
        assert message.startswith("6 judges carry as much information as about 5 ")
        assert "count as evidence more than once" in message
        assert asked in message


def test_accuracy_counts_ties_half_and_leaves_anchors_out() -> None:
    rows = [(j, f"i{n}", "a" if n < 6 else "b") for j in "xyz" for n in range(10)]
    rows += [("x", "tied", "a"), ("y", "tied", "b")]
    table = pd.DataFrame(rows, columns=["judge", "item", "label"])
    truth = pd.DataFrame({"item": ["i0", "i1", "i2", "i6", "tied"], "label": ["a", "a", "b", "b", "b"]})
    fit = voirdire.fit(table, model="majority-label", method="map", prob=0.8)
    found = fit.accuracy(truth).set_index("measure")
    assert found.loc["accuracy", "value"] == pytest.approx(3.5 / 5)
    assert found.loc["balanced_accuracy", "value"] == pytest.approx((1 + 1.5 / 3) / 2)
    # one resample in ten has no item of a class
    assert found.loc["balanced_accuracy", ["low", "high"]].isna().all()
    assert "resample" in found.loc["balanced_accuracy", "note"]
    # the percentile interval of a mean of independent items is that of the bootstrap itself
    right = np.array([1, 1, 0, 1, 0.5])
    means = np.random.default_rng(5).choice(right, (40_000, 5)).mean(axis=1)
    np.testing.assert_allclose(found.loc["accuracy", ["low", "high"]].astype(float), np.quantile(means, [0.1, 0.9]))
    known = voirdire.fit(table, method="map", anchors=truth.head(2))
    assert known.accuracy(truth)["n"].tolist() == [3, 3]
    with pytest.raises(voirdire.InputError, match="truth: every item in it was an anchor"):
        known.accuracy(truth.head(2))
    with pytest.raises(voirdire.InputError, match="truth: row 1: no judge has labelled item 'z'"):
        fit.accuracy(pd.DataFrame({"item": ["z"], "label": ["a"]}))
