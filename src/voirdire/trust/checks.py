"""Trust checks for every kind of answer: dependent judges, and judges that determine the first place.

Influence of judges on the first place of items, or of systems.

To first order, leaving judge k out changes the posterior mean of a quantity f by -Cov(f, log likelihood of k's
votes), the covariance over the posterior (the Bayesian infinitesimal jackknife, Giordano and Broderick 2023, arXiv
2305.06466), so that one set of draws is sufficient for all judges. The most influential judges are then actually left
out, with a new search for the mode.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from voirdire.infer.latent_gaussian.mode import find_modes_at_spreads
from voirdire.infer.mode import find_modes
from voirdire.infer.posterior import Posterior, integrated_scores, thinned_draws
from voirdire.model.density import Data
from voirdire.model.problem import Check, Problem
from voirdire.model.terms.term import Values
from voirdire.tables.numbers import count_in_words
from voirdire.trust.dependence import MAX_SHOWN_PAIRS, alike_pairs_in_words, most_alike, pairwise_dependence
from voirdire.trust.residuals import Residuals, SharedErrors
from voirdire.typing import Floats

INFLUENCE_DRAWS = 200
MAX_REFITS = 5  # largest number of judges that are left out in a new search
BATCH_SIZE = 4_000_000  # largest number of scores without single judges in memory
MAX_LEAD_SHARE = 0.75  # remaining share of the lead, to first order, above which a judge is not tried


class Rivals(NamedTuple):
    """Candidates for the first place other than items: systems whose answers are the items.

    Attributes
    ----------
    called : str
        Word for one of them.
    names : tuple of str
    part : array, shape (items, rivals)
        Weight of each item in the score of each rival.
    draws : array, shape (draws, rivals)
        Draws of the scores.
    """

    called: str
    names: tuple[str, ...]
    part: Floats
    draws: Floats


def judges_changing_first(
    problem: Problem, posterior: Posterior, rivals: Rivals | None = None
) -> list[tuple[str, str]]:
    """Judges without whom another item (or rival) is first, and its name; the most influential first.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.fit.verb import fit
    >>> table = pd.DataFrame({"judge": ["a"] * 30 + ["b"] * 2, "first": "x", "second": "y"})
    >>> table["winner"] = ["x"] * 20 + ["y"] * 10 + ["y"] * 2
    >>> found = fit(table, model="bradley-terry")
    >>> judges_changing_first(found.problem, found.posterior)
    []
    """
    if posterior.draws is None:
        return []
    draws = thinned_draws(posterior, INFLUENCE_DRAWS)
    stacked = {name: np.stack([values[name] for values in draws]) for name in draws[0]}
    score = _rival_scores(problem, stacked, rivals)
    log = _log_likelihoods(problem, stacked)
    if log is None:
        return []
    central_scores = _rival_scores(problem, posterior.central_values, rivals)
    leader = int(np.argmax(central_scores))
    margin = _leads_without_judges(central_scores, score - score.mean(axis=0), log - log.mean(axis=0))
    # first-order changes are approximate: judges with an almost sufficient change are tried, too
    candidates = np.argsort(margin, kind="stable")[:MAX_REFITS]
    lead = np.delete(central_scores[leader] - central_scores, leader).min() if len(central_scores) > 1 else -np.inf
    candidates = candidates[margin[candidates] < MAX_LEAD_SHARE * lead]
    if not len(candidates):
        return []
    tables = [problem.data, *(_data_without_judge(problem, int(judge)) for judge in candidates)]
    if problem.density.uses_marginal_likelihood:  # spreads barely depend on one judge
        centre, *modes = find_modes_at_spreads(problem.density, tables, posterior.centre)
    else:
        centre, *modes = (find_modes(problem.density, [table])[0].x for table in tables)
    # where mode and mean have different leaders, no judge is the cause of either
    expected_leaders = {leader, int(np.argmax(_rival_scores(problem, problem.density.values(centre, np), rivals)))}
    names = problem.items if rivals is None else rivals.names
    changes = []
    for judge, mode in zip(candidates, modes, strict=True):
        new_leader = int(np.argmax(_rival_scores(problem, problem.density.values(mode, np), rivals)))
        if new_leader not in expected_leaders:
            changes.append((problem.judges[judge], names[new_leader]))
    return changes


def _leads_without_judges(central_scores: Floats, score: Floats, log: Floats) -> Floats:
    """Lead of the first over the next without each judge, to first order, shape (judges,).

    Takes scores, shape (n,), their deviations in draws, shape (draws, n), and those of judges' log likelihoods.
    """
    leader, margin = int(np.argmax(central_scores)), np.empty(log.shape[1])
    step = max(1, BATCH_SIZE // len(central_scores))
    for start in range(0, len(margin), step):
        batch = slice(start, start + step)
        scores_left = log[:, batch].T @ (score / -max(len(score) - 1, 1))
        scores_left += central_scores
        leader_score = scores_left[:, leader].copy()
        scores_left[:, leader] = -np.inf
        margin[batch] = leader_score - scores_left.max(axis=1)
    return margin


def _rival_scores(problem: Problem, values: Values, rivals: Rivals | None) -> Floats:
    """Scores of items, or of rivals, shape (..., n)."""
    scores = integrated_scores(problem.density, values)
    return scores if rivals is None else scores @ rivals.part


def _log_likelihoods(problem: Problem, values: dict[str, Floats]) -> Floats | None:
    """Log likelihood of each judge's decided votes and scores under each draw, shape (draws, judges)."""
    density, judges = problem.density, len(problem.judges)
    tables = [part for part in problem.data.values() if "judge" in part]
    if not any(part["judge"].any() for part in tables):
        return None  # the model does not distinguish judges
    out = np.zeros((len(values["strength"]), judges))
    for row in range(len(out)):
        draw = {name: value[row] for name, value in values.items()}
        # for votes with ties, the tie indicators are separate parts
        parts = zip(density.log_parts(draw, problem.data, np), density.outcome_names(problem.data), strict=True)
        logs = [part for part, name in parts if not name.endswith(("_tied", "_not_tied"))]
        for (log, weight), part in zip(logs, tables, strict=True):
            out[row] += np.bincount(part["judge"], log * weight, judges)
    return out


def _data_without_judge(problem: Problem, judge: int) -> Data:
    """The tables with weight zero for a judge's votes; shapes, and therefore compilations, are unchanged."""
    tables: Data = {}
    for name, part in problem.data.items():
        tables[name] = dict(part)
        for kind, weights in (("judge", ("weight",)), ("tie_judge", ("tied", "decided"))):
            if kind in part:
                keep = part[kind] != judge
                tables[name] |= {weight: part[weight] * keep for weight in weights}
    return tables


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
