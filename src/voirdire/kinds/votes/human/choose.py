"""Choose how to use anchors by how well each way predicts anchors that were left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from voirdire.infer.mode import find_modes
from voirdire.infer.posterior import scores
from voirdire.kinds.human import DEFAULT
from voirdire.kinds.votes.human import candidates
from voirdire.kinds.votes.human.candidates import Evidence
from voirdire.kinds.votes.human.cut import cut_mode
from voirdire.kinds.votes.problem import VotesProblem
from voirdire.model.density import Data
from voirdire.tables.pairs import pair_keys
from voirdire.typing import Floats, Ints

FOLDS = 20  # joint and cut posteriors are refitted this many times at most
LEAST = 3  # anchors from which methods are compared
TIED = 1e-9  # answers whose probabilities differ by less are equally likely
CLEAR = 2.0  # standard errors by which a method must predict better than the default

BASELINE = "majority"
INDEPENDENT, BY_FAMILY = "cut, independent", "cut, by family"
LEARNED = {
    "best judge": candidates.best_single,
    INDEPENDENT: candidates.independent,
    BY_FAMILY: candidates.by_family,
    "stacking": candidates.stacking,
}


@dataclass(frozen=True, eq=False)
class Choice:
    """The methods with their left-out predictions, and the one to use.

    Attributes
    ----------
    chosen : str
    rows : tuple of dict
        See :class:`voirdire.kinds.human.Anchored`.
    p : array, shape (comparisons,), or None
        Probability that the one item is better by the chosen method, where it is one of pairs.
    """

    chosen: str
    rows: tuple[dict[str, Any], ...]
    p: Floats | None


def choose_for_pairs(problem: VotesProblem, evidence: Evidence, mode: str | None) -> Choice:
    """Compare the ways to answer unconnected pairs; ``mode`` restricts them to joint or to those that cut.

    Judges taken as independent although their votes say otherwise (some are discounted) are shown, but not chosen:
    with few anchors such overconfident answers may all be right by luck.
    """
    predicted: dict[str, tuple[Floats | None, Floats]] = {BASELINE: candidates.majority(evidence)}
    dependent = bool((evidence.discount < 1.0).any())
    if mode != "joint":
        for name, method in LEARNED.items():
            if name != BY_FAMILY or dependent:
                predicted[name] = method(evidence)
    if mode != "cut":
        predicted["joint"] = (None, _joint_left_out(problem, evidence))
    shown_only = (BASELINE, INDEPENDENT) if dependent else (BASELINE,)
    return _chosen(predicted, evidence, "joint" if mode == "joint" else DEFAULT["pairs"], shown_only)


def choose_for_ranking(problem: VotesProblem, evidence: Evidence) -> Choice:
    """Compare the joint and the cut posterior of linked items."""
    predicted: dict[str, tuple[Floats | None, Floats]] = {
        BASELINE: candidates.majority(evidence),
        "joint": (None, _joint_left_out(problem, evidence)),
        "cut": (None, _cut_left_out(problem, evidence)),
    }
    return _chosen(predicted, evidence, DEFAULT["linked"])


def _chosen(
    predicted: dict[str, tuple[Floats | None, Floats]],
    evidence: Evidence,
    default: str,
    shown_only: tuple[str, ...] = (BASELINE,),
) -> Choice:
    found = {}
    for name, (_, left_out) in predicted.items():
        p = np.where(evidence.answers > 0, left_out, 1.0 - left_out)
        found[name] = LeftOut(p, np.minimum(p, 1.0 - p), (p > 0.5) + 0.5 * (p == 0.5))
    chosen, rows = compare(found, default, shown_only)
    return Choice(chosen, rows, predicted[chosen][0])


@dataclass(frozen=True, eq=False)
class LeftOut:
    """What a method says of anchors that it did not see, shape (anchors,) each.

    Attributes
    ----------
    p : array
        Probability of what people answered.
    doubt : array
        Probability of all but the likeliest answer.
    right : array
        1 where the likeliest answer is people's, its share where several are equally likely.
    """

    p: Floats
    doubt: Floats
    right: Floats

    @classmethod
    def of_several(cls, chance: Floats, answer: Ints) -> LeftOut:
        """Of answers that are one of several.

        Parameters
        ----------
        chance : array, shape (anchors, answers)
            Probability of every answer.
        answer : int array, shape (anchors,)
            What people answered.

        Examples
        --------
        >>> LeftOut.of_several(np.array([[0.25, 0.75], [0.5, 0.5]]), np.array([1, 0])).right.tolist()
        [1.0, 0.5]
        """
        rows, best = np.arange(len(answer)), chance > chance.max(axis=1, keepdims=True) - TIED
        doubt = np.sort(chance, axis=1)[:, :-1].sum(axis=1)  # not one less the largest, which rounds to zero
        return cls(chance[rows, answer], doubt, best[rows, answer] / best.sum(axis=1))


def compare(
    found: dict[str, LeftOut], default: str, shown_only: tuple[str, ...] = (BASELINE,)
) -> tuple[str, tuple[dict[str, Any], ...]]:
    """The method to use, and the table of all of them (see :class:`voirdire.kinds.human.Anchored`).

    Parameters
    ----------
    default : str
        Used unless another is clearly better.
    shown_only : tuple of str
        Methods that cannot be used.

    Examples
    --------
    >>> half, good = np.full(20, 0.5), np.full(20, 0.9)
    >>> found = {"joint": LeftOut(half, half, half), "cut": LeftOut(good, 1 - good, half + 0.5)}
    >>> compare(found, "joint")[0]
    'cut'
    """
    rows, losses = [], {}
    for name, left_out in found.items():
        loss = -np.log(np.clip(left_out.p, 1e-12, 1.0))
        losses[name] = np.append(loss, _if_wrong(left_out.doubt))
        rows.append(
            {
                "method": name,
                "log_loss": float(loss.mean()) if len(loss) else None,
                "log_loss_se": float(loss.std(ddof=1) / np.sqrt(len(loss))) if len(loss) >= 2 else None,
                "accuracy": float(left_out.right.mean()) if len(loss) else None,
            }
        )
    chosen = _best({name: loss for name, loss in losses.items() if name not in shown_only}, default)
    return chosen, tuple({**row, "chosen": row["method"] == chosen} for row in rows)


def _if_wrong(doubt: Floats) -> float:
    """Loss of one more anchor, imagined, that a method gets wrong as surely as it answers on average."""
    return float(np.mean(-np.log(np.clip(doubt, 1e-12, 1.0)))) if len(doubt) else 0.0


def _best(losses: dict[str, Floats], default: str) -> str:
    """The default method, unless another's log loss is lower by more than twice the noise of the difference.

    The lowest of several noisy losses is often low by luck: with ten anchors, a method that is overconfident looks best
    whenever its answers to those ten happen to be right, and no noise shows. So each method is also charged for one
    imagined anchor that it gets wrong (as the rule of succession counts one failure more), the last of ``losses``.
    """
    base = losses[default]
    if len(base) < LEAST + 1:
        return default
    best, lead = default, 0.0
    for name, loss in losses.items():
        gain = base - loss
        noise = float(gain.std(ddof=1)) / np.sqrt(len(gain))
        if gain.mean() > max(lead, CLEAR * noise):
            best, lead = name, float(gain.mean())
    return best


def people_prefer(
    problem: VotesProblem, values: dict[str, Floats], evidence: Evidence, rows: Ints | None = None
) -> Floats:
    """Mean probability that people prefer the one item, over draws of named values with a leading axis."""
    found = evidence.found
    pick = np.arange(len(found.keys)) if rows is None else rows
    if problem.anchors is not None and problem.anchors.overall:
        score = scores(problem.density, values)
        d = score[..., found.one[pick]] - score[..., found.other[pick]]
    else:
        criterion = (
            found.criterion[pick] if problem.model.criteria == "separate" else found.criterion[pick] * 0
        )
        strength = values["strength"]
        d = strength[..., criterion, found.one[pick]] - strength[..., criterion, found.other[pick]]
    coin = expit(values["anchor"])[..., None]
    return np.asarray((coin * expit(d) + (1.0 - coin) * expit(-d)).mean(axis=0))


def _joint_left_out(problem: VotesProblem, evidence: Evidence) -> Floats:
    """At the joint mode without each fold of anchors."""
    parts = folds(len(evidence.rows))
    modes = find_modes(problem.density, [_hidden(problem, evidence, fold) for fold in parts])
    return _predicted(problem, evidence, parts, [mode.x for mode in modes])


def _cut_left_out(problem: VotesProblem, evidence: Evidence) -> Floats:
    """At the mode given the coins' means, without each fold of anchors."""
    parts = folds(len(evidence.rows))
    found = []
    for fold in parts:
        part = evidence
        for index in sorted(fold, reverse=True):
            part = part.without(int(index))
        found.append(cut_mode(problem, *candidates.coin_means(part), data=_hidden(problem, evidence, fold)).x)
    return _predicted(problem, evidence, parts, found)


def folds(count: int) -> list[Ints]:
    """Parts of so many anchors that are left out together: one each, or ``FOLDS`` parts."""
    return [np.arange(start, count, FOLDS) for start in range(min(FOLDS, count))]


def _predicted(problem: VotesProblem, evidence: Evidence, parts: list[Ints], modes: list[Floats]) -> Floats:
    p = np.empty(len(evidence.rows))
    for fold, x in zip(parts, modes, strict=True):
        values = problem.density.values(x[None], np)
        p[fold] = people_prefer(problem, values, evidence, evidence.rows[fold])
    return p


def _hidden(problem: VotesProblem, evidence: Evidence, fold: Ints) -> Data:
    """The problem's tables with the anchors of a fold weighing nothing."""
    assert problem.anchors is not None
    people = problem.anchors.votes
    keys = pair_keys(people, criteria=people.has_criteria and problem.votes.has_criteria)
    hidden = np.isin(keys, evidence.found.keys[evidence.rows[fold]])
    part = problem.data["anchors"]
    return problem.data | {"anchors": part | {"counts": part["counts"] * ~hidden[:, None]}}
