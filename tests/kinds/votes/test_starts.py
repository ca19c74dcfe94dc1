"""Where the search for a mode begins, and which starts it is spared."""

from __future__ import annotations

import numpy as np
import pytest

from voirdire.infer import find_mode
from voirdire.infer import mode as modes
from voirdire.kinds import VotesProblem, encode_votes
from voirdire.kinds.votes import starts
from voirdire.kinds.votes.density import VotesDensity
from voirdire.kinds.votes.starts import agreement_signs, starting_point
from voirdire.model import load_model
from voirdire.simulate import Accuracy, simulate_votes
from voirdire.tables import read_votes

SHARES = (15, 30, 50, 70, 85, 100)


@pytest.fixture(scope="module")
def problem() -> VotesProblem:
    panel = {f"m{share:03d}": Accuracy(share / 100) for share in SHARES}
    made = simulate_votes(panel, items=14, criteria=2, design={"kind": "all-pairs", "order": "fixed"}, seed=3)
    return encode_votes(load_model("maple"), read_votes(made.votes), read_votes(made.criteria_votes))


def test_judges_start_in_the_order_of_what_their_answers_say(problem: VotesProblem) -> None:
    """91 pairs x 2 criteria each: the standard error of a share is 0.04, a quarter of the gap between judges."""
    x = starting_point(problem.density, problem.data, np.ones(len(SHARES)))
    values = problem.density.values(x, np)
    assert (np.diff(values["reliability"]) > 0).all() or values["reliability"][-2] == values["reliability"][-1]
    assert (values["reliability"][:2] < 0).all()
    assert (values["reliability"][3:] > 0).all()
    at_mode = problem.density.values(find_mode(problem).x, np)["strength"]
    for start, end in zip(values["strength"], at_mode, strict=True):
        assert np.corrcoef(start, end)[0, 1] > 0.95


def test_one_judge_starts_reliable() -> None:
    made = simulate_votes({"a": Accuracy(0.8)}, items=5, criteria=1, seed=1)
    one = encode_votes(load_model("crowd-bt"), read_votes(made.votes))
    assert one.density.values(starting_point(one.density, one.data, np.ones(1)), np)["reliability"] > 0


def test_signs_of_agreement_do_not_depend_on_further_sweeps(problem: VotesProblem) -> None:
    signs = agreement_signs(problem.density, problem.data)
    np.testing.assert_allclose(agreement_signs(problem.density, problem.data, sweeps=500), signs, atol=1e-5)
    assert (signs[:2] < 0).all()
    assert (signs[3:] > 0).all()


def test_a_start_that_weighs_judges_as_the_mode_does_is_spared(
    problem: VotesProblem, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = find_mode(problem)
    monkeypatch.setattr(starts, "MIN_COSINE", 2.0)  # nothing is
    thorough = find_mode(problem)
    assert (len(found.starts), len(thorough.starts)) == (2, 3)
    assert thorough.log_density == pytest.approx(found.log_density, abs=1e-8)
    assert found.evaluations < thorough.evaluations


def test_a_lower_mode_is_searched_roughly_and_a_higher_one_to_the_end(
    problem: VotesProblem, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same two modes, reached in either order."""
    there = find_mode(problem)
    again = find_mode(problem, start=np.asarray(problem.density.mirror_values(there.x, np)))
    assert again.starts[0] == pytest.approx(there.starts[1], abs=0.01)
    assert again.starts[0] < again.log_density
    assert again.gradient <= 1e-6
    assert again.log_density == pytest.approx(there.log_density, abs=1e-8)
    np.testing.assert_allclose(again.x, there.x, atol=1e-4)
    monkeypatch.setattr(modes, "ROUGH_TOLERANCE", 0.0)
    assert find_mode(problem).starts[1] == pytest.approx(there.starts[1], abs=1e-2)
    assert find_mode(problem).evaluations > there.evaluations


@pytest.mark.slow
def test_tables_of_one_batch_may_have_different_numbers_of_starts(
    problem: VotesProblem, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = find_mode(problem)
    counts = iter([0, 2, 1])
    somewhere = starting_point(problem.density, problem.data, -np.ones(len(SHARES)))
    monkeypatch.setattr(VotesDensity, "additional_starts", lambda *_: [somewhere] * next(counts))
    monkeypatch.setattr(modes, "MAX_UNCOMPILED_WORK", 0)  # a batch
    found = modes.find_modes(problem.density, [problem.data] * 3)
    assert [len(mode.starts) for mode in found] == [1, 3, 2]
    assert max(mode.log_density for mode in found) == pytest.approx(alone.log_density, abs=1e-6)
