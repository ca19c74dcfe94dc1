"""Few anchors on pairs that fool the majority: LLMBar, 239 pairs, 58 judges."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire.fit.human import compare_methods
from voirdire.infer import Posterior, find_mode
from voirdire.kinds import VotesProblem, encode_votes, read_anchors
from voirdire.kinds.votes import candidates
from voirdire.kinds.votes.human import HumanVotes
from voirdire.kinds.votes.trust import vote_residuals
from voirdire.model import load_model
from voirdire.tables import read_votes
from voirdire.trust.families import posterior_with_equal_items, shared_error_families
from voirdire.trust.residuals import family_answer_weight


@pytest.fixture(scope="module")
def panel(shared) -> tuple[VotesProblem, np.ndarray, pd.DataFrame]:
    votes = read_votes(shared / "data" / "llmbar_votes.csv")
    problem = encode_votes(load_model("crowd-bt-position"), votes)
    x = find_mode(problem).x
    left = vote_residuals(problem, Posterior(problem.density, x, None))
    alike = vote_residuals(problem, posterior_with_equal_items(problem, x))
    gold = pd.read_csv(shared / "data" / "llmbar_gold.csv")
    return problem, family_answer_weight(problem, shared_error_families(problem, alike), left), gold


@pytest.mark.parametrize(
    ("size", "wanted", "draws"),
    [
        pytest.param(20, 0.89, 6, marks=[pytest.mark.slow, pytest.mark.long]),
        pytest.param(10, 0.87, 100, marks=[pytest.mark.slow, pytest.mark.long]),
        pytest.param(20, 0.89, 100, marks=[pytest.mark.slow, pytest.mark.long]),
        pytest.param(40, 0.90, 100, marks=[pytest.mark.slow, pytest.mark.long]),
    ],
)
def test_few_anchors_find_whom_to_trust(panel, size: int, wanted: float, draws: int) -> None:
    """Share of the other pairs right, by the way that left-out anchors choose (without the joint model, the slowest).

    The mean reaches what is wanted within two standard errors of it, and is never below the judge that agrees with most
    anchors by more than 0.005 beyond two standard errors of their difference.
    """
    problem, answer_weight, gold = panel
    truth = np.where(gold["first"].str.endswith("/1") == (gold["winner"] == "first"), 1, -1)
    pair = gold["first"].str[:-2].to_numpy()
    picked, single, majority = [], [], []
    for draw in range(draws):
        chosen = np.random.default_rng([size, draw, 1]).choice(len(gold), size, replace=False)
        people = read_anchors(gold.loc[chosen, ["first", "second", "winner"]], problem.votes)
        asked = encode_votes(problem.model, problem.votes, anchors=people, answer_weight=answer_weight)
        human = HumanVotes(asked)
        evidence = human.evidence
        method, *_ = compare_methods(human.left_out("cut", np.zeros(asked.density.size)), human.default)
        names = [problem.items[one][:-2] for one in evidence.comparisons.one]
        order = pd.Series(np.arange(len(names)), index=names).loc[pair].to_numpy()
        rest = ~np.isin(np.arange(len(gold)), chosen)
        for p, out in (
            (human.learned[method][0], picked),
            (candidates.best_judge_prediction(evidence)[0], single),
            (candidates.majority_shares(evidence)[0], majority),
        ):
            agreed = np.where(truth > 0, p[order], 1 - p[order])[rest]
            out.append(float(((agreed > 0.5) + 0.5 * (agreed == 0.5)).mean()))
    error = np.std(picked, ddof=1) / np.sqrt(draws)
    assert np.mean(picked) + 2 * error >= wanted
    lead = np.array(picked) - single
    assert lead.mean() + 2 * lead.std(ddof=1) / np.sqrt(draws) >= -0.005
    assert np.mean(majority) == pytest.approx(0.69, abs=0.01)


def test_the_two_who_see_more_are_no_copies(shared) -> None:
    """Six models with one instruction: GPT-4 and PaLM2 are right where the others are fooled, and so agree.

    By correlations alone they might be a family as well (their evidence is .14 above that of none): were they taken for
    one, the panel would order 60% of the pairs rightly in the place of 74%.
    """
    votes = pd.read_csv(shared / "data" / "llmbar_votes.csv").drop(columns="subset")
    gold = pd.read_csv(shared / "data" / "llmbar_gold.csv")
    fit = voirdire.fit(votes[votes["judge"].str.endswith("/Vanilla")], method="map")
    assert not [note for note in fit.notes if "alike" in note]
    score = fit.ranking().set_index("item")["score"]
    first = score[gold["first"]].to_numpy() > score[gold["second"]].to_numpy()
    assert (first == (gold["winner"] == "first")).mean() > 0.72
