"""Choice of the next rankings: items, judge or person, criterion and context.

A ranking of the items S has the expected information J on their strengths eta_S (the mean over draws of minus the
second derivatives of the log probability of a drawn ranking). For a normal posterior with the covariance of the draws
it is an observation of eta_S with precision J. It reduces the variance v_t of the difference of scores of pair t by

    cov(d_t, eta_S) J^(1/2) (1 + J^(1/2) cov(eta_S) J^(1/2))^(-1) J^(1/2) cov(eta_S, d_t),

for any order, so that no orders are listed. As for votes (:mod:`voirdire.fit.next.spread`), each next ranking has the
largest sum over pairs of phi(m_t / sqrt(v_t)) times the share of v_t that it explains, given earlier rankings. After
each choice the deviations of the draws are shrunk to the new covariance. In a new context, the variance between
contexts reduces J.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from voirdire.errors import InputError, raise_problems
from voirdire.fit.next.sets import Search, best_set
from voirdire.infer.posterior import integrated_scores
from voirdire.kinds.rankings.problem import RankingsProblem
from voirdire.kinds.registry import kind_of
from voirdire.model.problem import Problem
from voirdire.settings import is_whole
from voirdire.typing import Floats

if TYPE_CHECKING:
    import pandas as pd

    from voirdire.kinds.fit import Fit

WHO, ABOUT = ("judge", "person"), ("ranking", "best")
DRAWS = 500
MAX_PAIRS = 1000  # most pairs in the utility: those that matter most
PLACES_SEARCHED = 8  # most places (judge, criterion, context) with a search for the best set
QUADRATURE_NODES = 15  # nodes of the quadrature over results of a ranking


def next_rankings(
    fit: Fit, count: int = 5, *, size: int | None = None, who: str = "judge", about: str = "ranking", seed: int = 0
) -> pd.DataFrame:
    """Choose the rankings with the largest expected information.

    Parameters
    ----------
    fit : Fit
        Fit of rankings, with draws.
    count : int
        Number of rankings; they are chosen together, each given the earlier ones.
    size : int, optional
        Number of items per ranking; by default the most frequent size in the table.
    who : {"judge", "person"}
        A judge of the table (chosen, too, if judges have tastes), or a person, if the fit has rankings by people.
    about : {"ranking", "best"}
        Target of the information: the order of all pairs of items, or the best item.
    seed : int
        Seed of the choice of draws and of the noise.

    Returns
    -------
    pandas.DataFrame
        In the order of choice: place, judge (None for a person, or if the model does not distinguish judges), criterion
        (None without), context (for a model with contexts; None for a new context), items (tuple of names), information
        (expected bits on the order of pairs from this ranking alone), gain (bits given earlier rankings). ``attrs`` has
        ``about``, ``entropy`` (current bits) and ``left`` (expected bits after all rankings).

    Raises
    ------
    InputError
        If the fit is not of rankings, has no draws, or has no rankings by people and a person is asked, or a number is
        not valid.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.fit.verb import fit
    >>> rows = {"judge": [*"aaaabbbb"], "item": [*"wxyzwxzy"], "rank": [1, 2, 3, 4] * 2}
    >>> found = next_rankings(fit(pd.DataFrame(rows), method="laplace"), 1, size=2)
    >>> len(found["items"][0])
    2
    """
    import pandas as pd

    problem = check_rankings_request(fit.problem, count, size=size, who=who, about=about, seed=seed)
    if fit.posterior.draws is None:
        raise InputError("the fit has no draws, so it is not known what is uncertain; fit with 'laplace' or 'nuts'")
    rng = np.random.default_rng(seed)
    size = size or int(np.bincount(np.bincount(problem.table.ranking)).argmax())
    state = _State.from_fit(problem, fit, about, rng)
    places = _possible_places(problem, state, who)
    start, rows, entropy = state, [], state.order_entropy()
    for place in range(count):
        where, items = _choose_ranking(state, places, size)
        gain = state.order_entropy() - state.order_entropy(state.make_search(where).variance_reduction(items))
        single_gain = entropy - start.order_entropy(start.make_search(where).variance_reduction(items))
        state = state.conditional_on(where, items)
        rows.append(_ranking_row(problem, place, where, items, single_gain, gain))
    frame = pd.DataFrame(rows)
    frame.attrs |= {"about": about, "entropy": entropy, "left": max(entropy - float(frame["gain"].sum()), 0.0)}
    return frame


def check_rankings_request(
    problem: Problem,
    count: int = 5,
    *,
    size: int | None = None,
    who: str = "judge",
    about: str = "ranking",
    seed: int = 0,
) -> RankingsProblem:
    """Check a request of :func:`next_rankings` before a fit; return the problem.

    Raises
    ------
    InputError
        If no fit of the problem could answer the request.
    """
    if not isinstance(problem, RankingsProblem):
        raise InputError(
            f"next_rankings is for fits of rankings; this is one of {kind_of(problem).words}, for which there is "
            "next_comparisons()"
        )
    problems = []
    if not is_whole(count) or count < 1:
        problems.append(f"count {count!r} is not a positive whole number")
    if size is not None and not (is_whole(size) and 2 <= size <= len(problem.items)):
        problems.append(f"size {size!r}: a ranking has from two items to all {len(problem.items)}")
    if who not in WHO:
        problems.append(f"who {who!r} is neither 'judge' nor 'person'")
    elif who == "person" and problem.anchors is None:
        problems.append(
            "who='person': only rankings by people show how people differ from judges, and this fit has none; "
            "pass some (anchors=, --anchors), or ask judges"
        )
    if about not in ABOUT:
        problems.append(f"about {about!r} is none of {', '.join(ABOUT)}; judges are asked about by votes")
    if not is_whole(seed) or seed < 0:
        problems.append(f"seed {seed!r} is no whole number from 0")
    raise_problems(problems)
    return problem


class _RankingPlace(NamedTuple):
    """Judge, criterion and context of a ranking; judge -1 for a person or any judge, context -1 for a new one."""

    judge: int
    criterion: int
    context: int
    parts: tuple[tuple[Any, ...], ...]  # name and index of the values of each term
    noise: float  # variance that a new context adds


def _possible_places(problem: RankingsProblem, state: _State, who: str) -> list[_RankingPlace]:
    values, places = state.values, []
    judges = range(len(problem.judges)) if "taste" in values and who == "judge" else [-1]
    contexts = [-1, *range(len(problem.table.contexts))] if "context_strength" in values else [-1]
    for judge, criterion, context in product(judges, range(len(problem.criteria)), contexts):
        parts: list[tuple[Any, ...]] = [("strength", criterion)]
        if "panel_error" in values and who == "judge":
            parts.append(("panel_error", 0, criterion))
        if judge >= 0:
            parts.append(("taste", judge))
        if context >= 0:
            parts.append(("context_strength", criterion, slice(None), context))
        new = "context_strength" in values and context < 0
        places.append(_RankingPlace(judge, criterion, context, tuple(parts), state.new_context if new else 0.0))
    return places


@dataclass(frozen=True, eq=False)
class _State:
    """Draws as deviations from their means, which shrink with each chosen ranking.

    Attributes
    ----------
    values : dict of array, shape (draws, ...)
        Deviations of the terms of item strengths.
    means : dict of array
        Means of the terms.
    gaps, middle : array, shape (draws, pairs) and (pairs,)
        Deviations of the differences of scores of pairs, and means of these differences.
    before : array, shape (pairs,)
        Variances of these differences before any ranking was chosen.
    matters : array, shape (pairs,)
        Weight of the order of each pair.
    new_context : float
        Variance of an item's strength between contexts.
    noise, fresh : array, shape (draws, items)
        Gumbel noise of drawn rankings, and standard normal noise of a new context.
    """

    values: dict[str, Floats]
    means: dict[str, Floats]
    gaps: Floats
    middle: Floats
    before: Floats
    matters: Floats
    new_context: float
    noise: Floats
    fresh: Floats

    @classmethod
    def from_fit(cls, problem: RankingsProblem, fit: Fit, about: str, rng: np.random.Generator) -> _State:
        """Build the state from a fit's draws."""
        assert fit.posterior.draws is not None
        density = problem.density
        x = fit.posterior.draws.reshape(-1, density.size)
        drawn = density.values(x[np.sort(rng.permutation(len(x))[:DRAWS])], np)
        theta = integrated_scores(density, drawn)
        first, second = np.triu_indices(theta.shape[1], 1)
        gaps = theta[:, first] - theta[:, second]
        matters = np.ones(len(first))
        if about == "best":
            low, high = np.sort(np.argsort(-theta, axis=1)[:, :2], axis=1).T
            top_two_share = np.zeros((theta.shape[1],) * 2)
            np.add.at(top_two_share, (low, high), 1.0 / len(theta))
            matters = top_two_share[first, second]
        sd = np.maximum(gaps.std(axis=0), 1e-12)
        kept = np.argsort(-matters * np.exp(-0.5 * (gaps.mean(axis=0) / sd) ** 2), kind="stable")[:MAX_PAIRS]
        spread = drawn.get("log_context_spread")
        means = {term.name: drawn[term.name].mean(axis=0) for term in density.terms}
        deviations = {name: drawn[name] - mean for name, mean in means.items()}
        middle, new_context = gaps[:, kept].mean(axis=0), 0.0 if spread is None else float(np.exp(2.0 * spread).mean())
        noise = rng.gumbel(size=theta.shape), rng.normal(size=theta.shape)
        centred = gaps[:, kept] - middle
        return cls(deviations, means, centred, middle, sd[kept] ** 2, matters[kept], new_context, *noise)

    @property
    def pair_variances(self) -> Floats:
        """Variance of the differences of pairs, shape (pairs,)."""
        return np.asarray(np.maximum((self.gaps**2).mean(axis=0), 1e-12))

    def make_search(self, where: _RankingPlace) -> Search:
        """Quantities for a search of the best set of items at a place."""
        mean = sum(self.means[name][tuple(index)] for name, *index in where.parts)
        deviations = self.deviations_at(where)
        near = self.matters * np.exp(-0.5 * self.middle**2 / self.before) / self.pair_variances
        scores = mean + deviations + np.sqrt(where.noise) * self.fresh
        covariance, shared = (deviations.T @ other / len(deviations) for other in (deviations, self.gaps))
        return Search(scores, self.noise, covariance, shared, near, where.noise)

    def deviations_at(self, where: _RankingPlace) -> Floats:
        """Deviations of item scores at a place, shape (draws, items)."""
        return np.asarray(sum(self.values[name][(slice(None), *index)] for name, *index in where.parts))

    def order_entropy(self, reduction: Floats | float = 0.0) -> float:
        """Weighted entropy of the order of pairs, in bits, given chosen rankings.

        The mean of each difference will change with the rankings; the variance of its change is the reduction of the
        variance. The entropy is averaged over it. ``reduction`` is a further reduction, shape (pairs,).
        """
        remaining = np.maximum(self.pair_variances - reduction, 1e-9 * self.before)
        node, weight = np.polynomial.hermite_e.hermegauss(QUADRATURE_NODES)
        shifts = np.sqrt(np.maximum(self.before - remaining, 0.0))[:, None] * node
        entropy = _order_entropy((self.middle[:, None] + shifts) / np.sqrt(remaining)[:, None])
        return float(self.matters @ (entropy @ weight) / weight.sum())

    def conditional_on(self, where: _RankingPlace, items: tuple[int, ...]) -> _State:
        """State with deviations shrunk to the covariance given a ranking."""
        root = self.make_search(where).information_root(items)
        projected = self.deviations_at(where)[:, list(items)] @ root / np.sqrt(len(self.gaps))
        left_vectors, size, _ = np.linalg.svd(projected, full_matrices=False)
        shrink = 1.0 / np.sqrt(1.0 + size**2) - 1.0

        def condition_deviations(deviations: Floats) -> Floats:
            flat = deviations.reshape(len(deviations), -1)
            return np.asarray(
                (flat + left_vectors @ (shrink[:, None] * (left_vectors.T @ flat))).reshape(deviations.shape)
            )

        values = {name: condition_deviations(value) for name, value in self.values.items()}
        return replace(self, values=values, gaps=condition_deviations(self.gaps))


def _order_entropy(z: Floats) -> Floats:
    """Entropy, in bits, of an order with probability Phi(z)."""
    from scipy.special import ndtr, xlogy

    p = ndtr(z)
    return np.asarray(-(xlogy(p, p) + xlogy(1 - p, 1 - p)) / np.log(2.0))


def _choose_ranking(state: _State, places: list[_RankingPlace], size: int) -> tuple[_RankingPlace, tuple[int, ...]]:
    """Choose the place and the items with the largest information gain."""
    searches = [state.make_search(where) for where in places]
    first = best_set(searches[0], size)
    first_gain = np.array([float(search.information_gain(np.array([first]))[0]) for search in searches])
    best: tuple[float, int, tuple[int, ...]] = (-np.inf, 0, first)
    for number in np.argsort(-first_gain, kind="stable")[:PLACES_SEARCHED]:
        items = best_set(searches[number], size)
        gain = float(searches[number].information_gain(np.array([items]))[0])
        if gain > best[0]:
            best = (gain, int(number), items)
    return places[best[1]], best[2]


def _ranking_row(
    problem: RankingsProblem, number: int, where: _RankingPlace, items: tuple[int, ...], alone: float, gain: float
) -> dict[str, Any]:
    row: dict[str, Any] = {"place": number + 1, "judge": None, "criterion": None}
    if where.judge >= 0:
        row["judge"] = problem.judges[where.judge]
    if problem.table.has_criteria:
        row["criterion"] = problem.criteria[where.criterion]
    if "context_strength" in {term.name for term in problem.density.terms}:
        row["context"] = None if where.context < 0 else problem.table.contexts[where.context]
    return row | {"items": tuple(problem.items[i] for i in items), "information": alone, "gain": gain}
