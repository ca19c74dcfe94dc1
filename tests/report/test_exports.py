"""Fits in the formats of other tools."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import voirdire
from voirdire import Fit, InputError
from voirdire.cli import app


@pytest.fixture(scope="module")
def votes() -> Fit:
    table = {
        "judge": ["a", "b"] * 6,
        "first": "x",
        "second": ["y", "z"] * 6,
        "winner": ["x"] * 8 + ["y", "z", "tie", "tie"],
    }
    return voirdire.fit(pd.DataFrame(table), model="crowd-bt", method="laplace")


@pytest.fixture(scope="module")
def grades() -> Fit:
    rows = [
        {"judge": judge, "item": f"s{at}/org/model/{epoch}", "label": "CI"[(at + epoch) % 2], "context": f"s{at}"}
        for judge in "abc"
        for at in range(4)
        for epoch in (1, 2)
    ]
    return voirdire.fit(pd.DataFrame(rows), method="map")


def test_inspect_gets_a_record_per_sample_and_epoch(grades: Fit, tmp_path: Path) -> None:
    out = tmp_path / "scores.json"
    grades.export("inspect", out)
    found = {(one["id"], one["epoch"]): one for one in json.loads(out.read_text())}
    assert set(found) == {(f"s{at}", epoch) for at in range(4) for epoch in (1, 2)}
    assert {key: one["value"] for key, one in found.items()} == {
        (f"s{at}", epoch): "CI"[(at + epoch) % 2] for at in range(4) for epoch in (1, 2)
    }
    assert found["s0", 1]["metadata"]["p_I"] > 0.5
    with pytest.raises(InputError, match="is there"):
        grades.export("inspect", out)


def test_inspect_is_told_whose_scores_are_wanted(tmp_path: Path) -> None:
    rows = [
        {"judge": judge, "item": f"s{at}/{model}", "context": f"s{at}", "score": 1 + (at + len(model)) % 3}
        for judge in "ab"
        for at in range(4)
        for model in ("m", "org/mm")
    ]
    fit = voirdire.fit(pd.DataFrame(rows), method="map")
    with pytest.raises(InputError, match="name one with --system"):
        fit.export("inspect", tmp_path / "a.json")
    fit.export("inspect", tmp_path / "b.json", system="org/mm")
    found = json.loads((tmp_path / "b.json").read_text())
    assert [one["id"] for one in sorted(found, key=lambda one: one["id"])] == ["s0", "s1", "s2", "s3"]
    assert all(isinstance(one["value"], float) for one in found)


def test_argilla_and_label_studio_get_scores_with_uncertainty(votes: Fit, tmp_path: Path) -> None:
    best = votes.ranking().iloc[0]
    votes.export("argilla", tmp_path / "a.json")
    record = json.loads((tmp_path / "a.json").read_text())[0]
    assert record["id"] == best["item"]
    assert record["metadata"]["low"] == pytest.approx(best["low"])
    assert record["metadata"]["interval"] == 0.9
    votes.export("label-studio", tmp_path / "l.json")
    task = json.loads((tmp_path / "l.json").read_text())[0]
    (result,) = task["predictions"][0]["result"]
    assert result["value"]["number"] == pytest.approx(best["score"])
    assert task["meta"]["sd"] == pytest.approx(best["sd"])


def test_deepeval_gets_goldens_with_the_label_as_expected_output(grades: Fit, votes: Fit, tmp_path: Path) -> None:
    grades.export("deepeval", tmp_path / "g.json")
    found = {one["input"]: one for one in json.loads((tmp_path / "g.json").read_text())}
    assert found["s0/org/model/1"]["expected_output"] == "I"
    assert found["s0/org/model/1"]["additional_metadata"]["p_I"] > 0.5
    assert {*found["s0/org/model/1"]} == {"input", "name", "expected_output", "additional_metadata"}
    votes.export("deepeval", tmp_path / "v.json")
    best = votes.ranking().iloc[0]
    golden = json.loads((tmp_path / "v.json").read_text())[0]
    assert (golden["input"], "expected_output" in golden) == (best["item"], False)
    assert golden["additional_metadata"]["score"] == pytest.approx(best["score"])


def test_openai_evals_gets_samples_whose_ideal_is_the_label(grades: Fit, votes: Fit, tmp_path: Path) -> None:
    grades.export("openai-evals", tmp_path / "samples.jsonl")
    found = [json.loads(line) for line in (tmp_path / "samples.jsonl").read_text().splitlines()]
    assert {one["input"]: one["ideal"] for one in found} == {
        f"s{at}/org/model/{epoch}": "CI"[(at + epoch) % 2] for at in range(4) for epoch in (1, 2)
    }
    with pytest.raises(InputError, match="'openai-evals' is of labels"):
        votes.export("openai-evals", tmp_path / "v.jsonl")
    assert not (tmp_path / "v.jsonl").exists()


@pytest.mark.parametrize("to", ["csv", "parquet"])
def test_tables_are_written_by_the_command(votes: Fit, tmp_path: Path, to: str) -> None:
    votes.save(tmp_path / "run")
    done = CliRunner().invoke(app, ["export", str(tmp_path / "run"), "--to", to, "--out", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    read = pd.read_csv if to == "csv" else pd.read_parquet
    found = read(tmp_path / "out" / f"items.{to}")  # type: ignore[operator]
    assert found["item"].tolist() == votes.ranking()["item"].tolist()
    assert np.allclose(found["sd"], votes.ranking()["sd"])
    assert CliRunner().invoke(app, ["export", str(tmp_path / "run"), "--to", "excel", "--out", "x"]).exit_code == 1


@pytest.mark.slow
def test_the_container_of_draws_holds_log_likelihoods(votes: Fit) -> None:
    import arviz as az

    log = np.asarray(votes.idata["log_likelihood"]["answers"])
    assert log.reshape(-1, 12).shape == (votes.posterior.draws[..., 0].size, 12)  # type: ignore[index]
    counts = votes.problem.coded_votes.counts  # type: ignore[attr-defined]
    assert counts.sum() == 12
    # summed over answers it is the log likelihood of the density, up to what does not depend on the draw
    assert np.isfinite(log).all()
    assert (log < 0).all()
    assert np.isfinite(
        float(az.loo(votes.idata).elpd_loo if hasattr(az.loo(votes.idata), "elpd_loo") else az.loo(votes.idata).elpd)
    )


def test_log_likelihoods_are_those_of_the_density() -> None:
    rows = {
        "judge": ["a", "b", "c"] * 4,
        "item": [f"i{at // 3}" for at in range(12)],
        "score": [1, 2, 1, 3, 3, 2, 1, 1, 2, 3, 2, 3],
    }
    fit = voirdire.fit(pd.DataFrame(rows), method="laplace")
    log = np.asarray(fit.idata["log_likelihood"]["answers"]).sum(axis=-1).ravel()
    values = fit.problem.density.values(fit.posterior.draws, np)  # type: ignore[arg-type]
    flat = [{name: value.reshape(-1, *value.shape[2:])[at] for name, value in values.items()} for at in range(5)]
    want = [float(fit.problem.density.log_likelihood(one, fit.problem.data, np)) for one in flat]
    assert np.allclose(np.diff(log[:5]), np.diff(want), atol=1e-8)
    assert fit.to_dict() == fit.as_dict()
