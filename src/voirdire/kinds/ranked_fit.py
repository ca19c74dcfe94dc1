"""Fits of items with strengths: of votes, scores, and rankings.

Their results include effects of further terms, and for every pair of items the win probability and the probability of
being better.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from voirdire.errors import InputError
from voirdire.infer.posterior import Posterior
from voirdire.kinds.bootstrap import refit_in_batches
from voirdire.kinds.columns import Columns
from voirdire.kinds.fit import Fit, import_fit_function
from voirdire.kinds.panel_gap import learned_gap, shown_draws
from voirdire.kinds.quantities import effect_tables, spread_table
from voirdire.kinds.results import context_strength_table, strength_table
from voirdire.kinds.terms_kind import TermsKind
from voirdire.model.problem import PANEL, Problem
from voirdire.model.terms.arrays import logistic_sigmoid
from voirdire.settings import is_whole, min_draws_for_interval
from voirdire.tables.output_library import convert_to_library

if TYPE_CHECKING:
    import pandas as pd


def win_matrix(problem: Problem, posterior: Posterior, prob: float) -> Columns:
    """Compute the win probability of every item against every other, with its interval.

    It is the probability that a perfectly reliable judge prefers item i to item j: sigmoid(score_i - score_j), which is
    1 / (1 + exp(score_j - score_i)), with the scores of the fit in log-odds.

    Returns
    -------
    dict of array, shape (items (items - 1),)
        first, second, p_win (median over draws), low, high, p_better (share of draws in which the first is better, ties
        counting half); the last three are missing without draws. Items are in the order of the table.

    Raises
    ------
    InputError
        The items have no scores in log-odds (baselines that count).
    """
    if problem.density.model.pool != "none" or "strength" not in posterior.central_values:
        raise InputError(
            f"win_matrix() needs strengths in log-odds, and {problem.density.model.name} has none; fit crowd-bt"
        )
    items = np.array(problem.items, dtype=object)
    first, second = (side.ravel() for side in np.nonzero(~np.eye(len(items), dtype=bool)))
    columns: Columns = {"first": items[first], "second": items[second]}
    if posterior.values is None:
        centre = {name: value[None] for name, value in posterior.central_values.items()}
        score = shown_draws(problem, centre)[0]
        p_win = logistic_sigmoid(score[first] - score[second], np)
        missing = np.full(len(first), np.nan)
        return columns | {"p_win": p_win, **dict.fromkeys(("low", "high", "p_better"), missing)}
    draws = shown_draws(problem, posterior.values)
    summary = np.empty((4, len(first)))
    for item in range(len(items)):  # one item at a time: memory for draws times items, not draws times pairs
        rows = first == item
        gap = draws[:, [item]] - draws[:, second[rows]]
        wins = logistic_sigmoid(gap, np)
        p_better = (gap > 0).mean(axis=0) + (gap == 0).mean(axis=0) / 2
        summary[:, rows] = (np.median(wins, axis=0), *posterior.interval(wins, prob), p_better)
    return columns | dict(zip(("p_win", "low", "high", "p_better"), summary, strict=True))


_COLUMN_NAMES = {"votes": "answers"}  # other names of columns of groups of judges


class RankedFit(Fit):
    """Fit of items with strengths."""

    def ranking(self) -> pd.DataFrame:
        """Table of items, best first: item, score, sd, low, high, rank, rank_low, rank_high, p_best.

        The score is in log-odds: the strength, or its mean over criteria by their weights. ``low`` and ``high`` are the
        ends of the equal-tailed interval of probability ``prob``; ``rank_low`` and ``rank_high`` are those of the rank
        of the item by itself. ``decide().ranks`` has simultaneous ranges for all items. All columns but score and rank
        are missing under ``map``.
        If the subject of results was requested (``about=``, ``judges=``), further columns are about the other subject:
        ``score_panel``, ``low_panel`` and ``high_panel`` about the panel, or ``score_target``, ... about the target.
        """
        return self._frame(self.tables["items"])

    def as_dict(self, leave_out: Sequence[str] = ()) -> dict[str, Any]:
        """As in :class:`.Fit`, with the subject of results."""
        result = super().as_dict(leave_out)
        if not self.kind.has_scores(self.problem):
            return result
        gap = learned_gap(self.problem, self.posterior.values, self.prob)
        return {"about": self.problem.about or PANEL, **({} if gap is None else {"target": gap}), **result}

    def criteria(self) -> pd.DataFrame:
        """Table of criteria: weight (weights sum to one) with interval."""
        return self._frame(self.tables["criteria"])

    def strengths(self) -> pd.DataFrame:
        """Table of strengths by criterion and item (log-odds): criterion, item, strength, sd, low, high."""
        return self._frame(self.strength_columns())

    def spreads(self) -> pd.DataFrame:
        """Table of learned spreads of items, contexts, tastes and tie habits: name, value, low, high.

        It is empty for models without learned structure; see :func:`voirdire.kinds.quantities.spread_table`.
        """
        return self._frame(spread_table(self.problem, self.posterior, self.prob))

    def board(self, prices: object = None, margin: float = 0.0) -> dict[str, Any]:
        """Make the leaderboard: distinguishable items, cost of a choice; see :func:`voirdire.decide.board.board`."""
        leaderboard: dict[str, Any] = import_fit_function("board")(self.in_pandas, prices, margin)
        return leaderboard

    def decide(self, prices: object = None, margin: float = 0.0) -> Any:
        """Decide which items share the first place; see :func:`voirdire.decide.decision.decide`."""
        return import_fit_function("decide")(self, prices, margin)

    def strength_columns(self) -> Columns:
        """Columns of the strength of every item under every criterion, with sd and interval."""
        return strength_table(self.problem, self.posterior, self.prob)

    def bootstrap(
        self, resamples: int = 1000, seed: int = 0, jobs: int | None = 1, client: object = None
    ) -> pd.DataFrame:
        """Compute the ranking with intervals from modes of resampled answers; columns as in :meth:`ranking`.

        Answers are drawn with replacement; see :mod:`voirdire.kinds.bootstrap`. The intervals show the variation of the
        mode with the answers, without the uncertainty from the prior. They do not depend on the number of processes.

        Parameters
        ----------
        resamples, seed : int
            Number of resamples, and seed of the random numbers.
        jobs : int or None
            Number of processes, by joblib; None takes it from an active ``joblib.parallel_config``.
        client : distributed.Client or str, optional
            Dask cluster, or the address of its scheduler, used instead of ``jobs``.

        Raises
        ------
        InputError
            The model is a baseline of scores, the method is "adam", ``resamples`` are too few for ``prob``, or the
            cluster cannot be used.
        """
        if self.method == "adam":
            raise InputError("bootstrap() finds modes, and method 'adam' is another estimator; fit with method='map'")
        min_resamples = min_draws_for_interval(self.prob)
        if not is_whole(resamples) or resamples < min_resamples:
            raise InputError(
                f"resamples {resamples!r} is too few for intervals of {self.prob}; at least {min_resamples:,}"
            )
        problem, centre = self.problem, self.posterior.centre
        x = refit_in_batches(self.kind, problem, centre, resamples, seed, (jobs, client))
        bootstrap_posterior = Posterior(problem.density, centre, x[None], around_centre=True)
        return self._frame(self.kind.results["items"](problem, bootstrap_posterior, self.prob))


class TermsFit(RankedFit):
    """Fit of a problem with ``added`` terms."""

    problem: Any
    kind: ClassVar[TermsKind[Any, Any]]

    def contexts(self) -> pd.DataFrame:
        """Table of the strength of every item in every context; see :func:`.results.context_strength_table`.

        Raises
        ------
        InputError
            The model has no contexts, or the table does not have several.
        """
        self.kind.check_contexts(self.problem)
        contexts = self.kind.table_of(self.problem).contexts
        return self._frame(context_strength_table(self.problem, contexts, self.posterior, self.prob))

    def covariates(self) -> pd.DataFrame:
        """Table of effects of covariates: name, effect (log-odds, or points), low, high, unit, clear (of 0).

        Scores hold the covariates fixed.

        Raises
        ------
        InputError
            The fit has no covariates.
        """
        return self._term_frame("covariates", "covariates() needs fit(..., covariates=...)")

    def own_family(self) -> pd.DataFrame:
        """Table of the preference for the own family: judge (None: over all), effect (log-odds), low, high.

        Raises
        ------
        InputError
            The fit has no effects of own families.
        """
        return self._term_frame("own_family", "own_family() needs fit(..., families=..., item_families=...)")

    def terms(self) -> pd.DataFrame:
        """Table of values of other further terms: term, level, value (log-odds, or points), low, high.

        Raises
        ------
        InputError
            The fit has no such terms.
        """
        return self._term_frame("terms", "terms() needs fit(..., terms=...) with terms beside items and judges")

    def _term_frame(self, name: str, message: str) -> pd.DataFrame:
        import pandas as pd

        tables = effect_tables(self.problem, self.posterior, self.prob)
        if name not in tables:
            raise InputError(message)
        return pd.DataFrame(tables[name])


class ComparedFit(RankedFit):
    """Fit with comparisons among its answers."""

    def next_comparisons(self, count: int = 10, **settings: Any) -> pd.DataFrame:
        """Choose the next comparisons for a person or a judge; see :func:`voirdire.fit.next.suggest.next_comparisons`.

        Settings: ``who`` answers ("person" or "judge"), ``about`` is the subject to learn ("ranking" or "judges"),
        ``repeats``, ``seed``.
        """
        comparisons: pd.DataFrame = import_fit_function("next_comparisons")(self.in_pandas, count, **settings)
        return convert_to_library(comparisons, self.frames)

    def win_matrix(self) -> pd.DataFrame:
        """Table of the win probability of every item against every other; see :func:`.ranked_fit.win_matrix`.

        Columns: first, second, p_win (probability that a perfectly reliable judge prefers the first), low, high,
        p_better. ``.pivot(index="first", columns="second", values="p_win")`` makes a square matrix.
        """
        return self._frame(win_matrix(self.problem, self.posterior, self.prob))

    def pairs(self) -> pd.DataFrame:
        """Table of the probability that people prefer the first item, for unconnected pairs with anchors.

        Columns: criterion (where there are several), first, second, p_first.

        Raises
        ------
        InputError
            The fit has no anchors, or its items are linked: use :meth:`ranking`.
        """
        if self.anchored is None or not self.anchored.pairs:
            raise InputError("pairs() is for tables of unconnected pairs that were fitted with anchors; use ranking()")
        return self._rows(self.anchored.pairs)


class ScoredFit(RankedFit):
    """Fit with scores among its answers."""

    def cutpoints(self) -> pd.DataFrame:
        """Table of cutpoints between the levels of the scale: criterion, lower, upper, cutpoint, low, high."""
        return self._frame(self.tables["cutpoints"])

    def groups(self) -> pd.DataFrame:
        """Table of groups of judges: group, judges, answers (number of scores), mean, severity, low, high."""
        return self._frame({_COLUMN_NAMES.get(name, name): column for name, column in self.tables["groups"].items()})
