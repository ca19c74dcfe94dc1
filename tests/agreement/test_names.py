"""The public names of `voirdire.agreement`."""

from __future__ import annotations

import inspect

import pytest

import voirdire
from voirdire.agreement import __all__ as NAMES
from voirdire.errors import InputError


def test_the_names_are_there_documented_and_sorted() -> None:
    assert list(NAMES) == sorted(NAMES)
    for name in NAMES:
        found = getattr(voirdire.agreement, name)
        assert ">>> " in inspect.getdoc(found), name


def test_settings_are_one_by_one_or_whole_and_the_single_one_wins() -> None:
    how = voirdire.agreement.Resampling(resamples=30, seed=5)
    (one,) = voirdire.agreement.bootstrap([voirdire.agreement.PlainStatistic(9, len)], resampling=how, resamples=7)
    assert len(one.draws) == 7
    with pytest.raises(TypeError, match="unexpected keyword argument 'resample'"):
        voirdire.agreement.bootstrap([], resample=3)
    with pytest.raises(InputError) as wrong:
        voirdire.agreement.Resampling(resamples=0, prob=2.0, seed=-1, jobs=0)
    assert [problem.split()[0] for problem in wrong.value.problems] == ["resamples", "jobs", "seed", "prob"]
