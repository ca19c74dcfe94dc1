"""Fits whose items have strengths: of comparisons, of scores, of rankings.

Results of fits of votes, scores and rankings for terms beside those of their model.

Pairs of items: how often one wins against another, and how sure it is that it is the better one.
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
from voirdire.kinds.results import context_table, strength_table
from voirdire.kinds.terms_kind import TermsKind
from voirdire.model.problem import PANEL, Problem
from voirdire.model.terms.arrays import logistic_sigmoid
from voirdire.settings import is_whole, least_draws
from voirdire.tables.output_library import convert_to_library

if TYPE_CHECKING:
    import pandas as pd


def win_matrix(problem: Problem, posterior: Posterior, prob: float) -> Columns:
    """Win probability of every item against every other, with its interval.

    Item i wins against item j where a judge who errs by nothing but how close they are prefers it:
    sigmoid(score_i - score_j), which is 1 / (1 + exp(score_j - score_i)) in log-odds of the scores that the fit shows.

    Returns
    -------
    dict of array, shape (items (items - 1),)
        first, second, p_win (median over draws), low, high, p_better (share of draws in which the first is better, ties
        counting half); the last three are missing without draws. By items as the table has them.

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
    for item in range(len(items)):  # pairs of one item at a time: draws times items, not times pairs
        rows = first == item
        gap = draws[:, [item]] - draws[:, second[rows]]
        wins = logistic_sigmoid(gap, np)
        p_better = (gap > 0).mean(axis=0) + (gap == 0).mean(axis=0) / 2
        summary[:, rows] = (np.median(wins, axis=0), *posterior.interval(wins, prob), p_better)
    return columns | dict(zip(("p_win", "low", "high", "p_better"), summary, strict=True))


_COLUMN_NAMES = {"votes": "answers"}  # columns of groups of judges by another name


class RankedFit(Fit):
    """A fit whose items have strengths."""

    def ranking(self) -> pd.DataFrame:
        """Items, best first: item, score, sd, low, high, rank, rank_low, rank_high, p_best.

        The score is in log-odds: the strength, or its average over criteria by their weights. ``low`` and ``high``
        bound the equal-tailed interval of probability ``prob``, and so do ``rank_low`` and ``rank_high``, of each item
        by itself; ``decide().ranks`` are those that hold of all together. All but score and rank are missing under
        ``map``.
        Where it was said what results are about (``about=``, ``judges=``), ``score_panel``, ``low_panel`` and
        ``high_panel`` are about the panel, or ``score_target``, ... about the target, whichever does not head.
        """
        return self._frame(self.tables["items"])

    def as_dict(self, leave_out: Sequence[str] = ()) -> dict[str, Any]:
        """As of :class:`.Fit`, and what results are about."""
        result = super().as_dict(leave_out)
        if not self.kind.has_scores(self.problem):
            return result
        gap = learned_gap(self.problem, self.posterior.values, self.prob)
        return {"about": self.problem.about or PANEL, **({} if gap is None else {"target": gap}), **result}

    def criteria(self) -> pd.DataFrame:
        """Criteria: weight (they sum to one) with interval."""
        return self._frame(self.tables["criteria"])

    def strengths(self) -> pd.DataFrame:
        """Strength of every item under every criterion (log-odds): criterion, item, strength, sd, low, high."""
        return self._frame(self.strength_columns())

    def spreads(self) -> pd.DataFrame:
        """Learned spreads of items, contexts, tastes and tie habits: name, value, low, high.

        Empty of models without learned structure; see :func:`voirdire.kinds.quantities.spread_table`.
        """
        return self._frame(spread_table(self.problem, self.posterior, self.prob))

    def board(self, prices: object = None, margin: float = 0.0) -> dict[str, Any]:
        """The leaderboard: what is distinguishable, what a choice may cost; see :func:`voirdire.decide.board.board`."""
        leaderboard: dict[str, Any] = import_fit_function("board")(self.in_pandas, prices, margin)
        return leaderboard

    def decide(self, prices: object = None, margin: float = 0.0) -> Any:
        """Decide which items share the first place; see :func:`voirdire.decide.decision.decide`."""
        return import_fit_function("decide")(self, prices, margin)

    def strength_columns(self) -> Columns:
        """Strength of every item under every criterion, with sd and interval; one row per cell."""
        return strength_table(self.problem, self.posterior, self.prob)

    def bootstrap(
        self, resamples: int = 1000, seed: int = 0, jobs: int | None = 1, client: object = None
    ) -> pd.DataFrame:
        """The ranking with intervals from modes of resampled votes and scores; columns as :meth:`ranking`.

        Answers are drawn with replacement; see :mod:`voirdire.kinds.bootstrap`. The intervals show how the mode varies
        with them, and nothing of what the prior leaves open. They are the same whoever refits.

        Parameters
        ----------
        resamples, seed : int
        jobs : int or None
            Processes, by joblib. None leaves it to an active ``joblib.parallel_config``.
        client : distributed.Client or str, optional
            A Dask cluster in the place of ``jobs``, or the address of its scheduler.

        Raises
        ------
        InputError
            The fit is one of a baseline of scores, or by method "adam", ``resamples`` are too few for its ``prob``, or
            the cluster cannot be used.
        """
        if self.method == "adam":
            raise InputError(
                "bootstrap() finds modes, and method 'adam' is another estimator; fit with method='map'"
            )
        min_resamples = least_draws(self.prob)
        if not is_whole(resamples) or resamples < min_resamples:
            raise InputError(
                f"resamples {resamples!r} is too few for intervals of {self.prob}; at least {min_resamples:,}"
            )
        problem, centre = self.problem, self.posterior.centre
        x = refit_in_batches(self.kind, problem, centre, resamples, seed, (jobs, client))
        bootstrap_posterior = Posterior(problem.density, centre, x[None], around_centre=True)
        return self._frame(self.kind.results["items"](problem, bootstrap_posterior, self.prob))


class TermsFit(RankedFit):
    """A fit whose problem has ``added`` terms."""

    problem: Any
    kind: ClassVar[TermsKind[Any, Any]]

    def contexts(self) -> pd.DataFrame:
        """Strength of every item in every context; see :func:`.results.context_table`.

        Raises
        ------
        InputError
            The model has no contexts, or the table not several.
        """
        self.kind.check_contexts(self.problem)
        contexts = self.kind.table_of(self.problem).contexts
        return self._frame(context_table(self.problem, contexts, self.posterior, self.prob))

    def covariates(self) -> pd.DataFrame:
        """Effects of covariates, held fixed: name, effect (log-odds, or points), low, high, unit, clear (of 0).

        Raises
        ------
        InputError
            The fit has none.
        """
        return self._term_frame("covariates", "covariates() needs fit(..., covariates=...)")

    def own_family(self) -> pd.DataFrame:
        """Preference of judges for their own family: judge (None: over all), effect (log-odds), low, high.

        Raises
        ------
        InputError
            The fit was not asked for it.
        """
        return self._term_frame("own_family", "own_family() needs fit(..., families=..., item_families=...)")

    def terms(self) -> pd.DataFrame:
        """Values of the other terms beside a model's own: term, level, value (log-odds, or points), low, high.

        Raises
        ------
        InputError
            The fit has none.
        """
        return self._term_frame(
            "terms", "terms() needs fit(..., terms=...) with terms beside those of items and judges"
        )

    def _term_frame(self, name: str, message: str) -> pd.DataFrame:
        import pandas as pd

        tables = effect_tables(self.problem, self.posterior, self.prob)
        if name not in tables:
            raise InputError(message)
        return pd.DataFrame(tables[name])


class ComparedFit(RankedFit):
    """A fit that rests on comparisons, perhaps among other answers."""

    def next_comparisons(self, count: int = 10, **settings: Any) -> pd.DataFrame:
        """Comparisons to send to a person or a judge next; see :func:`voirdire.fit.next.suggest.next_comparisons`.

        ``who`` is "person" or "judge", ``about`` what is to become surer: "ranking" or "judges"; also
        ``repeats`` and ``seed``.
        """
        comparisons: pd.DataFrame = import_fit_function("next_comparisons")(self.in_pandas, count, **settings)
        return convert_to_library(comparisons, self.frames)

    def win_matrix(self) -> pd.DataFrame:
        """Win probability of every item against every other; see :func:`.ranked_fit.win_matrix`.

        Columns: first, second, p_win (how often a judge who errs by nothing but how close they are prefers the first),
        low, high, p_better. ``.pivot(index="first", columns="second", values="p_win")`` makes it a square.
        """
        return self._frame(win_matrix(self.problem, self.posterior, self.prob))

    def pairs(self) -> pd.DataFrame:
        """Probability that the first item is better (that people prefer it), for unconnected pairs with anchors.

        Columns: criterion (where there are several), first, second, p_first.

        Raises
        ------
        InputError
            The fit has no anchors, or its items are linked: use :meth:`ranking`.
        """
        if self.anchored is None or not self.anchored.pairs:
            raise InputError(
                "pairs() is for tables of unconnected pairs that were fitted with anchors; use ranking()"
            )
        return self._rows(self.anchored.pairs)


class ScoredFit(RankedFit):
    """A fit that rests on scores, perhaps among other answers."""

    def cutpoints(self) -> pd.DataFrame:
        """Limits between the levels of the scale: criterion, lower, upper, cutpoint, low, high."""
        return self._frame(self.tables["cutpoints"])

    def groups(self) -> pd.DataFrame:
        """Groups of judges: group, judges, answers (scores given), mean, severity, low, high."""
        return self._frame(
            {_COLUMN_NAMES.get(name, name): column for name, column in self.tables["groups"].items()}
        )
