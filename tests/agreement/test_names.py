"""The public names of `voirdire.agreement`, and the paths of the last release."""

from __future__ import annotations

import importlib
import inspect
import sys

import pytest

import voirdire
from voirdire.agreement import __all__ as NAMES
from voirdire.errors import InputError


def test_the_names_are_there_documented_and_sorted() -> None:
    assert list(NAMES) == sorted(NAMES)
    for name in NAMES:
        found = getattr(voirdire.agreement, name)
        assert ">>> " in inspect.getdoc(found), name


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("voirdire.agree.compare", "compare_judges"),
        ("voirdire.agree.experts", "expert_agreement"),
        ("voirdire.agree.leave_out", "leave_one_expert_out"),
        ("voirdire.agree.swap", "swap_consistency"),
        ("voirdire.agree.detection", "detection"),
        ("voirdire.agree.runs", "run_deviation"),
        ("voirdire.agree.phases", "phase_change"),
        ("voirdire.agree.gates", "compare_pass_rates"),
        ("voirdire.agree.multiplicity", "adjust"),
        ("voirdire.agree.resample", "bootstrap"),
        ("voirdire.agree.statistic", "PlainStatistic"),
        ("voirdire.metaeval.compare", "compare_metrics"),
        ("voirdire.metaeval.ceiling", "human_ceiling"),
        ("voirdire.metaeval.table", "metric_table"),
    ],
)
def test_old_paths_give_the_function_and_say_where_it_is(path: str, name: str) -> None:
    with pytest.warns(DeprecationWarning, match=rf"{path}\.{name} is voirdire\.agreement\.{name} now"):
        assert getattr(importlib.import_module(path), name) is getattr(voirdire.agreement, name)


def test_old_verbs_are_the_public_ones_and_stay_callable() -> None:
    with pytest.warns(DeprecationWarning, match="is voirdire.metaeval now"):
        assert importlib.import_module("voirdire.metaeval.verb").metaeval is voirdire.metaeval
    assert voirdire.metaeval is not sys.modules["voirdire.metaeval"]
    assert callable(voirdire.metaeval)
    with pytest.raises(AttributeError, match="nothing"):
        _ = importlib.import_module("voirdire.agree.experts").nothing


def test_settings_are_one_by_one_or_whole_and_the_single_one_wins() -> None:
    how = voirdire.agreement.Resampling(resamples=30, seed=5)
    (one,) = voirdire.agreement.bootstrap(
        [voirdire.agreement.PlainStatistic(9, len)], resampling=how, resamples=7
    )
    assert len(one.draws) == 7
    with pytest.raises(TypeError, match="unexpected keyword argument 'resample'"):
        voirdire.agreement.bootstrap([], resample=3)
    with pytest.raises(InputError) as wrong:
        voirdire.agreement.Resampling(resamples=0, prob=2.0, seed=-1, jobs=0)
    assert [problem.split()[0] for problem in wrong.value.problems] == ["resamples", "jobs", "seed", "prob"]
