"""The result of a fit."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from voirdire.errors import InputError
from voirdire.fit.anchored import Anchored
from voirdire.infer import checks as check
from voirdire.infer.checks import Check
from voirdire.infer.posterior import Posterior
from voirdire.kinds import kind as kinds
from voirdire.kinds.columns import Columns, frame, records
from voirdire.kinds.labels.problem import LabelsProblem
from voirdire.kinds.votes import results as summaries
from voirdire.kinds.votes.problem import VotesProblem
from voirdire.model.problem import Problem
from voirdire.model.specs import Model
from voirdire.settings import least_draws

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from voirdire.report.observed import Observed

_RANKED = ("votes", "scores", "mixed")  # kinds of data whose items have strengths


@dataclass(frozen=True, eq=False)
class Fit:
    """A fitted model.

    Attributes
    ----------
    problem : Problem
        The model and the counted table.
    posterior : Posterior
        Centre and draws.
    method, sampler : str
    seed : int
    prob : float
        Probability of every interval in the tables.
    seconds : float
        Time the fit took.
    versions : dict
    sample_stats : dict of array
        What the sampler recorded, shape (chains, draws) each; empty unless NUTS ran.
    notes : tuple of str
        Choices made on the user's behalf, in words.
    anchored : Anchored or None
        How human answers were used.
    families : dict or None
        Family of each judge, where families were named.
    """

    problem: Problem
    posterior: Posterior
    method: str
    sampler: str
    seed: int
    prob: float
    seconds: float
    versions: dict[str, str]
    method_checks: tuple[Check, ...]
    notes: tuple[str, ...] = ()
    sample_stats: dict[str, npt.NDArray[Any]] = field(default_factory=dict)
    anchored: Anchored | None = None
    families: dict[str, str] | None = None

    @property
    def model(self) -> Model:
        """The model that was fitted."""
        return self.problem.model

    def ranking(self) -> pd.DataFrame:
        """Items, best first: item, score, sd, low, high, rank, rank_low, rank_high, p_best.

        The score is in log-odds: the strength, or its average over criteria by their weights. ``low`` and ``high``
        bound the equal-tailed interval of probability ``prob``; all but score and rank are missing under ``map``.
        """
        kinds.require(self.problem, _RANKED, "ranking")
        return frame(self._results["items"])

    def classes(self) -> pd.DataFrame:
        """Items of a fit of labels: class, probability of every class; see :func:`.kinds.labels.results.items`."""
        kinds.require(self.problem, "labels", "classes")
        return frame(self._results["items"])

    def confusion(self) -> pd.DataFrame:
        """Judges' confusion matrices: judge, class, label, probability, low, high; for fits of labels."""
        kinds.require(self.problem, "labels", "confusion")
        return frame(self._results["confusion"])

    def shares(self) -> pd.DataFrame:
        """Shares of the classes: criterion, class, share, low, high; for fits of labels."""
        kinds.require(self.problem, "labels", "shares")
        return frame(self._results["shares"])

    def accuracy(self, truth: object, **settings: Any) -> pd.DataFrame:
        """Accuracy and balanced accuracy of a fit of labels against known classes, with bootstrap intervals.

        ``truth`` has columns item and label; see :func:`voirdire.kinds.labels.accuracy.accuracy` for the settings.
        """
        from voirdire.kinds.labels.accuracy import accuracy

        return accuracy(self, truth, **settings)

    def judges(self) -> pd.DataFrame:
        """Judges: votes, reliability, position bias, behaviour on a typical pair; see :func:`.votes.results.judges`.

        For labels: reliability, accuracy, sensitivity and specificity; see :func:`.labels.results.judges`. For scores:
        severity, discrimination, components of variance; see :func:`.kinds.scores.results.judges`. For votes and scores
        both; see :func:`.kinds.joint.results.judges`.
        """
        return frame(self._results["judges"])

    def judges_by_criterion(self) -> pd.DataFrame:
        """Reliability per judge and criterion, for ``maple-criterion-reliability``."""
        return frame(
            summaries.judges_by_criterion(self._votes("judges_by_criterion"), self.posterior, self.prob)
        )

    def criteria(self) -> pd.DataFrame:
        """Criteria: weight (they sum to one) with interval."""
        kinds.require(self.problem, _RANKED, "criteria")
        return frame(self._results["criteria"])

    def strengths(self) -> pd.DataFrame:
        """Strength of every item under every criterion (log-odds): criterion, item, strength, sd, low, high."""
        kinds.require(self.problem, _RANKED, "strengths")
        return frame(kinds.strengths(self.problem, self.posterior, self.prob))

    def cutpoints(self) -> pd.DataFrame:
        """Limits between the levels of a scale: criterion, lower, upper, cutpoint, low, high; for fits of scores."""
        kinds.require(self.problem, ("scores", "mixed"), "cutpoints")
        return frame(self._results["cutpoints"])

    def groups(self) -> pd.DataFrame:
        """Groups of judges: group, judges, votes, mean, severity, low, high; for fits of scores."""
        kinds.require(self.problem, ("scores", "mixed"), "groups")
        return frame(self._results["groups"])

    def people(self) -> pd.DataFrame:
        """People who gave anchors of scores: criterion, scores, severity, discrimination or noise, with intervals.

        On the scales of :meth:`judges`; see :func:`.kinds.scores.results.people`. Empty without anchors.
        """
        kinds.require(self.problem, "scores", "people")
        return frame(self._results["people"])

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
        return self._table(self.anchored.pairs)

    def anchor_methods(self) -> pd.DataFrame:
        """How well each way to use the anchors predicts anchors left out: method, log_loss, log_loss_se, accuracy,
        chosen.

        Raises
        ------
        InputError
            The fit has no anchors.
        """
        if self.anchored is None:
            raise InputError("anchor_methods() needs anchors; pass fit(..., anchors=...)")
        return self._table(self.anchored.methods)

    @staticmethod
    def _table(rows: tuple[dict[str, Any], ...]) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame(list(rows))

    @cached_property
    def _checks(self) -> tuple[Check, ...]:
        chosen = None if self.anchored is None else self.anchored.chosen
        found, judges = list(self.method_checks), self._results["judges"]
        return tuple(kinds.all_checks(self.problem, self.posterior, judges, found, self.seed, chosen))

    def checks(self) -> pd.DataFrame:
        """What may be wrong: check, level (ok, warn, fail), value, message."""
        found = [entry.as_dict() for entry in self._checks]
        return frame({key: [entry[key] for entry in found] for key in found[0]})

    @property
    def level(self) -> str:
        """The worst level among the checks."""
        return check.worst(self._checks)

    def predict(self, votes: object) -> pd.DataFrame:
        """Probability of each answer to each comparison; see :func:`voirdire.fit.predict.predict`.

        Of labels, the classes of the items of another table; see :func:`voirdire.kinds.labels.predict.classify`.
        """
        if isinstance(self.problem, LabelsProblem):
            from voirdire.kinds.labels.predict import classify

            return frame(classify(self.problem, self.posterior, votes))
        from voirdire.fit.predict import predict

        return predict(self, votes)

    def next_comparisons(self, count: int = 10, **settings: Any) -> pd.DataFrame:
        """Comparisons to send to a person or a judge next; see :func:`voirdire.fit.next.suggest.next_comparisons`.

        ``who`` is "person" or "judge", ``about`` what is to become surer: "ranking" or "judges"; also
        ``repeats`` and ``seed``.
        """
        from voirdire.fit.next.suggest import next_comparisons

        return next_comparisons(self, count, **settings)

    def update(self, votes: object, criteria: object = None) -> Fit:
        """Fit again with new answers added, starting from this fit; see :func:`voirdire.fit.update.update`."""
        from voirdire.fit.update import update

        return update(self, votes, criteria)

    def bootstrap(self, resamples: int = 1000, seed: int = 0) -> pd.DataFrame:
        """The ranking with intervals from modes of resampled votes and scores; columns as :meth:`ranking`.

        Answers are drawn with replacement; see :mod:`voirdire.infer.refit`. The intervals show how the mode varies with
        them, and nothing of what the prior leaves open.

        Raises
        ------
        InputError
            The fit is one of labels or of a baseline of scores, or ``resamples`` are too few for its ``prob``.
        """
        from voirdire.infer.refit import refit_resampled

        problem = self.problem
        kinds.require(problem, _RANKED, "bootstrap")
        if resamples < (least := least_draws(self.prob)):
            raise InputError(
                f"resamples {resamples} is too few for intervals of {self.prob}; at least {least:,}"
            )
        x = refit_resampled(problem, self.posterior.centre, resamples, np.random.default_rng(seed))
        around = Posterior(problem.density, self.posterior.centre, x[None])
        return frame(kinds.results(problem)["items"](problem, around, self.prob))

    @property
    def idata(self) -> Any:
        """Draws as an ArviZ container: named, with coordinates and, after NUTS, sample statistics.

        Raises
        ------
        InputError
            The fit has no draws (method "map").
        """
        from voirdire.infer.diagnose import to_arviz

        if self.posterior.draws is None:
            raise InputError("method 'map' has no draws; fit with method='laplace' or 'nuts'")
        density = self.problem.density
        values = {k: v for k, v in density.values(self.posterior.draws, np).items() if v.size}
        coords = self.problem.coords
        dims = {p.name: list(p.dims) for p in density.parameters}
        return to_arviz(values, self.sample_stats, coords, dims)

    @property
    def pymc_model(self) -> Any:
        """The same model and table as a ``pymc.Model``."""
        from voirdire.infer.pymc_model import pymc_model

        return pymc_model(self.problem)

    def plot(self, kind: str, ax: Axes | None = None) -> Axes:
        """Draw a figure ("ranking", "judges", "position", "agreement", ...); see :func:`.figures.plot`."""
        from voirdire.report.figures import plot

        return plot(self, kind, ax)

    def report(self, output: str | Path, *, overwrite: bool = False) -> Path:
        """Write a report: HTML, Markdown or LaTeX by the file's ending; see :func:`voirdire.report.verb.report`."""
        from voirdire.report.verb import report

        return report(self, output, overwrite=overwrite)

    def save(self, folder: str | Path, *, overwrite: bool = False) -> Path:
        """Write the fit to a folder, whole or not at all; see :func:`voirdire.fit.store.save`."""
        from voirdire.fit.store import save

        return save(self, folder, overwrite=overwrite)

    def as_dict(self) -> dict[str, Any]:
        """Return the result as plain Python, in the shape of ``voirdire fit --json``."""
        return {
            "model": self.model.name,
            "method": self.method,
            "seed": self.seed,
            "prob": self.prob,
            **kinds.counts(self.problem),
            "seconds": round(self.seconds, 3),
            "versions": self.versions,
            "notes": list(self.notes),
            **{name: records(columns) for name, columns in self._results.items()},
            **({} if self.anchored is None else self._anchored_dict(self.anchored)),
            "checks": [entry.as_dict() for entry in self._checks],
        }

    @staticmethod
    def _anchored_dict(anchored: Anchored) -> dict[str, Any]:
        how = {"mode": anchored.mode, "chosen": anchored.chosen, "methods": list(anchored.methods)}
        return {"anchors": how} | ({"pairs": list(anchored.pairs)} if anchored.pairs else {})

    @cached_property
    def _observed(self) -> Observed:
        from voirdire.report.observed import measure

        return measure(self)

    @cached_property
    def _results(self) -> dict[str, Columns]:
        found = kinds.results(self.problem)
        return {name: make(self.problem, self.posterior, self.prob) for name, make in found.items()}

    def _votes(self, what: str) -> VotesProblem:
        kinds.require(self.problem, "votes", what)
        assert isinstance(self.problem, VotesProblem)
        return self.problem

    def _repr_html_(self) -> str:
        """What a notebook shows; see :func:`voirdire.report.notebook.notebook`."""
        from voirdire.report.notebook import notebook

        return notebook(self)

    def __repr__(self) -> str:
        problem = self.problem
        return (
            f"<Fit of {self.model.name} by {self.method}: {kinds.answers(problem)}, "
            f"{len(problem.items)} items, {len(problem.judges)} judges, checks {self.level}>"
        )
