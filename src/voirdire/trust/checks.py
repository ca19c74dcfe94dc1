"""Trust checks for every kind of answer: dependent judges, and judges that determine the first place."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from voirdire.infer.posterior import Posterior, integrated_scores
from voirdire.model.problem import Check, Problem
from voirdire.tables.words import count_in_words
from voirdire.trust.dependence import MAX_SHOWN_PAIRS, alike_pairs_in_words, most_alike, pairwise_dependence
from voirdire.trust.influence import Rivals, judges_changing_first
from voirdire.trust.residuals import Residuals
from voirdire.trust.shared_errors import SharedErrors
from voirdire.typing import Floats

SIGNIFICANCE_LEVEL = 0.01  # joint level of the tests in one check
MIN_CLEAR_LEAD = 0.9  # smallest probability of a clear lead


def check_dependent_judges(
    problem: Problem,
    residuals: Residuals | SharedErrors,
    seed: int,
    chosen: str | None = None,
    remedy: Callable[[], str] = lambda: "Drop copies",
) -> list[Check]:
    """Check whether judges agree more than independent ones would, and estimate the effective number of judges.

    Parameters
    ----------
    chosen : str, optional
        The method that resolves pairs by anchors.
    remedy : callable
        Gives the remedy for a panel with many copies, in words.
    """
    count = len(residuals.judges)
    if count < 2:
        return []
    dependence = pairwise_dependence(residuals, np.random.default_rng(seed))
    similar = most_alike(dependence, SIGNIFICANCE_LEVEL)
    summary = (
        f"{count} judges carry as much information as about {dependence.size:.0f} independent judges "
        f"(90% interval {dependence.low:.0f} to {dependence.high:.0f})"
    )
    if not similar:
        return [Check("dependence", "ok", dependence.size, f"{summary}: none agree more than the model expects.")]
    pairs = alike_pairs_in_words([problem.judges[judge] for judge in residuals.judges], similar)
    if not dependence.matters:
        message = dependence.minor_message(f"{pairs} agree", f"{count} judges")
        return [Check("dependence", "ok", dependence.size, message)]
    message = f"{summary}: {pairs} agree far more than the model expects of independent judges"
    if chosen is not None and chosen not in ("joint", "cut"):
        message += f". The pairs do not rest on their consensus but on the anchors ({chosen}); strengths and ranks do."
        return [Check("dependence", "warn", dependence.size, message)]
    people = (getattr(problem, name, None) for name in ("anchors", "target_answers"))
    human = "human answers" if all(answers is None for answers in people) else "more human answers"
    weight = getattr(problem, "answer_weight", None)
    weight = np.ones(count) if weight is None else weight[residuals.judges]
    if dependence.high < 0.5 * weight.sum():
        message += (
            ". Their shared mistakes count as evidence many times over: this ranking and its intervals must not be "
            f"trusted as they are. {remedy()}; name families of judges (families=..., --families)."
        )
        return [Check("dependence", "fail", dependence.size, message)]
    if (weight[np.unique(similar)] < 1.0).all():
        message += (
            f". So their answers count for less, all {count} judges as {weight.sum():.1f} independent ones. "
            f"{'Drop copies, and get' if weight.sum() > dependence.high else 'Get'} {human} for important decisions."
        )
        return [Check("dependence", "warn", dependence.size, message)]
    message += (
        ". Their agreement counts more than it should: name families (families=..., --families) or drop copies, and "
        f"get {human} for important decisions."
    )
    return [Check("dependence", "warn", dependence.size, message)]


def check_influence(problem: Problem, posterior: Posterior, rivals: Rivals | None = None) -> list[Check]:
    """Check for judges without whom another item, or system, would be first."""
    if posterior.values is None or len(problem.judges) < 2:
        return []
    changed = judges_changing_first(problem, posterior, rivals)
    if rivals is not None:
        return [check_first_place(changed, rivals.called, rivals.names, rivals.draws)]
    draws = integrated_scores(problem.density, posterior.values)
    return [check_first_place(changed, "item", problem.items, draws)]


def check_first_place(changed: Sequence[tuple[str, str]], called: str, names: Sequence[str], draws: Floats) -> Check:
    """Check whether single judges determine the first place: a warning where the lead is clear with all judges.

    Parameters
    ----------
    changed : sequence of (judge, name)
        Judges without whom another is first, and its name.
    called : str
        Word for one of the compared names.
    names : sequence of str
    draws : array, shape (draws, names)
        Draws of the scores.

    Examples
    --------
    >>> draws = np.array([[1.0, 0.0]] * 20)
    >>> check_first_place([("ann", "y")], "item", ["x", "y"], draws).message
    'Which item is ranked first depends on single judges: without ann it is y. Ask more judges about the best items.'
    """
    leader = int(np.argmax(np.median(draws, axis=0)))
    # the mode may have had another leader
    changed = [(judge, name) for judge, name in changed if name != names[leader]]
    if not changed:
        return Check("influence", "ok", 0.0, f"No single judge decides which {called} is first.")
    changes = [f"without {judge} it is {name}" for judge, name in changed[:MAX_SHOWN_PAIRS]]
    hidden = len(changed) - MAX_SHOWN_PAIRS
    rest_note = f" (and {count_in_words(hidden, 'more judges')})" if hidden > 0 else ""
    lead = [(draws[:, leader] > draws[:, names.index(name)]).mean() for _, name in changed]
    if max(lead) <= MIN_CLEAR_LEAD:
        message = f"Which {called} is ranked first changes with single judges: {'; '.join(changes)}{rest_note}."
        return Check("influence", "ok", float(len(changed)), message)
    message = (
        f"Which {called} is ranked first depends on single judges: {'; '.join(changes)}{rest_note}. "
        f"Ask more judges about the best {called}s."
    )
    return Check("influence", "warn", float(len(changed)), message)
