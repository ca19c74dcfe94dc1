"""Fits: a problem, its posterior, the method, and the tables of every fit.

Verbs of a fit (update, save, report, plot, ...) are in packages above this one. ``voirdire.FIT_VERBS`` maps each verb
to its module, which is imported at the first call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
import numpy.typing as npt

from voirdire.errors import InputError, NotThisKindError
from voirdire.infer.diagnose import summarise_draws, to_arviz
from voirdire.infer.posterior import Posterior
from voirdire.infer.pymc_model import pymc_model, variable_draws
from voirdire.kinds.checks import CheckBasis, withhold_orientation_probability
from voirdire.kinds.columns import Columns, TablesByName, to_data_frame, to_records
from voirdire.kinds.human import Anchored
from voirdire.kinds.idata import split_chains, to_inference_data
from voirdire.kinds.kind import Kind
from voirdire.kinds.panel_gap import check_result_subject
from voirdire.model.problem import TARGET, Check, Problem, worst_level
from voirdire.model.specs import GRAMMARS, Model
from voirdire.notices import give_notice
from voirdire.tables.numbers import count_in_words
from voirdire.tables.output_library import convert_to_library
from voirdire.tables.problems import Problems
from voirdire.tables.read import columns_among
from voirdire.trust.drift import AnswersOverTime, check_drift, habits_over_time
from voirdire.trust.prior import check_prior

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

F = TypeVar("F", bound="Fit")
NO_JUDGE_MESSAGE = (
    "the table has no column 'judge' (it has {}): name the judge whose answers are predicted, or predict people's "
    "answers (about='target', --about target)"
)


@dataclass(frozen=True, eq=False)
class Fit:
    """Fitted model; each kind of data has its own class, with its tables.

    Attributes
    ----------
    problem : Problem
        The model and the counted table.
    posterior : Posterior
        Centre and draws.
    method, sampler : str
        Method and sampler that ran.
    seed : int
    prob : float
        Probability of every interval in the tables.
    seconds : float
        Time of the fit, in seconds.
    versions : dict
        Versions of voirdire and of the packages it uses.
    sample_stats : dict of array
        Statistics of the sampler, shape (chains, draws) each; empty unless NUTS ran.
    notes : tuple of str
        Notes on choices made for the user.
    anchored : Anchored or None
        Record of the use of human answers.
    families : dict or None
        Family of each judge, if families were named.
    asked : str
        Requested method; under "auto" the table decides.
    frames : "pandas" or "polars"
        Library of the result's tables, that of the table of answers.
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
    asked: str = ""
    frames: str = "pandas"

    kind: ClassVar[Kind[Any, Any]]

    @property
    def model(self) -> Model:
        """The model that was fitted."""
        return self.problem.model

    def judges(self) -> pd.DataFrame:
        """Table of judges, with numbers of answers and reliability.

        - Votes: reliability, position bias, behaviour on a typical pair; see :func:`.votes.results.judge_table`.
        - Labels: reliability, accuracy, sensitivity, specificity; see :func:`.labels.results.judge_table`.
        - Scores: severity, discrimination, components of variance; see :func:`.scores.results.judge_table`.
        - Votes and scores: both; see :func:`voirdire.kinds.votes_and_scores.kind.votes_and_scores_judge_table`.
        """
        heading, columns = self.kind.heading, self.tables["judges"]
        return self._frame({heading.get(name, name): column for name, column in columns.items()})

    @property
    def in_pandas(self: F) -> F:
        """The same fit with tables in pandas."""
        return self if self.frames == "pandas" else replace(self, frames="pandas")

    def _frame(self, columns: Columns) -> pd.DataFrame:
        return convert_to_library(to_data_frame(columns), self.frames)

    def _rows(self, rows: tuple[dict[str, Any], ...]) -> pd.DataFrame:
        return self._frame({name: [row[name] for row in rows] for name in rows[0]} if rows else {})

    def verdicts(self) -> pd.DataFrame:
        """Table of verdicts on judges: judge, verdict, why, information; see :mod:`voirdire.decide.verdicts`."""
        return self._rows(tuple(import_fit_function("verdicts")(self)))

    def anchor_methods(self) -> pd.DataFrame:
        """Compare methods to use the anchors by their predictions of anchors left out.

        Columns: method, log_loss, log_loss_se, accuracy, chosen, used (results from this method).

        Raises
        ------
        InputError
            The fit has no anchors.
        """
        if self.anchored is None:
            raise InputError("anchor_methods() needs anchors; pass fit(..., anchors=...)")
        return self._rows(self.anchored.methods)

    def checks(self) -> pd.DataFrame:
        """Table of the checks of the fit: check, level (ok, warn, fail), value, message."""
        rows = [entry.as_dict() for entry in self.all_checks]
        return self._frame({key: [row[key] for row in rows] for key in rows[0]})

    def over_time(self) -> pd.DataFrame:
        """Table of habits of judges in blocks of time: judge, habit, start, end, answers, value, low, high.

        Habits are reliability (and position bias) for votes, severity for scores, and reliability for labels, as in
        :meth:`judges`. Each follows a random walk with learned steps; see :mod:`voirdire.trust.random_walk`. Dates are
        in seconds since 1970. The table is empty if no judge has 20 answers at several times, or if the model has no
        such habit.

        Raises
        ------
        InputError
            The table has no times of answers.
        """
        if all(part is None for part in self._time_series):
            raise InputError("over_time() needs a column time or run with numbers or dates")
        return self._frame({name: np.array(column) for name, column in self._judge_habits.items()})

    @cached_property
    def _time_series(self) -> list[AnswersOverTime | None]:
        return self.kind.over_time(self.problem, self.posterior)

    @cached_property
    def _judge_habits(self) -> dict[str, list[Any]]:
        return habits_over_time(self._time_series, self.prob)

    @property
    def level(self) -> str:
        """Worst level among the checks."""
        return worst_level(self.all_checks)

    def predict(self, table: object, about: str | None = None) -> pd.DataFrame:
        """Predict the probability of each answer to each row of a table, which needs no column of answers.

        - Votes: see :func:`.votes.predict.predict_votes`.
        - Scores: see :func:`.scores.predict.predict_scores`. Votes and scores: either of the two.
        - Labels: with a column of answers the classes of the items of another table, else the answers of judges about
          items of this fit; see :func:`.labels.predict.predict_labels`.

        Parameters
        ----------
        table : path, dataframe, or result of :func:`voirdire.read`
            A row for each question.
        about : "panel" or "target", optional
            "panel" (the default): answers of the judges. "target": answers of people, for any judges of the rows, with
            intervals of probability ``prob`` that include the gap between panels and people
            (:mod:`voirdire.kinds.target_predictions`), and further columns (``..._panel``) for the panel alone. See
            :func:`.votes.predict.predict_comparisons`, :func:`.scores.predict.item_score_questions` and
            :func:`.rankings.predict.ranked_items`. For labels it selects the meaning of ``p_<class>``, by default the
            subject of the fit; rows without labels then have the classes of items of the fit.

        Raises
        ------
        InputError
            The fit does not know a name in the table, or it has no draws ("target" for votes, scores and rankings).

        Examples
        --------
        >>> import pandas as pd
        >>> import voirdire
        >>> rows = [(judge, "x", "y", "first") for judge in "abc"] + [(judge, "y", "z", "tie") for judge in "abc"]
        >>> votes = pd.DataFrame(rows, columns=["judge", "first", "second", "winner"])
        >>> fit = voirdire.fit(votes, method="laplace")
        >>> row = fit.predict(pd.DataFrame({"first": ["x"], "second": ["z"]}), about="target").iloc[0]
        >>> bool(row["low"] < row["p_first"] < row["p_first_panel"])
        True
        """
        check_result_subject(about, None)
        if averaged := self.kind.predicted_on_average(self.problem):
            factors = ", ".join(averaged)
            give_notice(f"Answers are predicted on average over {factors}, whatever the questions say of it.")
        problem = self.problem if about is None else replace(self.problem, about=about)
        if about == TARGET:
            return self._frame(self.kind.predict_target(problem, self.posterior, table, self.prob))
        names = ["judge"] if hasattr(table, "judges") else columns_among(table, None, Problems("table"))
        if "judge" not in names:
            raise InputError(NO_JUDGE_MESSAGE.format(", ".join(map(repr, names))))
        return self._frame(self.kind.predict(problem, self.posterior, table))

    def escalate(self, people: object, **settings: Any) -> Any:
        """Choose answers to accept with a guaranteed agreement with people; the others are sent to people.

        ``error`` is the largest share of accepted answers that differ from people's, ``prob`` the probability of this
        guarantee, ``cost_human`` and ``cost_error`` are the prices of a person's answer and of an error; see
        :func:`voirdire.decide.escalate.escalate`.
        """
        return import_fit_function("escalate")(self, people, **settings)

    def update(self: F, answers: object, criteria: object = None) -> F:
        """Refit with new answers added, starting from this fit; see :func:`voirdire.fit.update.update`."""
        return import_fit_function("update")(self, answers, criteria)  # type: ignore[no-any-return]

    @property
    def idata(self) -> Any:
        """Draws, log densities and data as an ArviZ container; see :mod:`voirdire.kinds.idata`.

        ``posterior`` has the quantities of the tables on natural scales (``reliability`` is a probability, ``weight``
        sums to one; ``score``; ``system_score`` and ``system_share`` of systems). ``unconstrained_posterior`` has the
        estimated parameters (``logit_reliability``, ``log_weight``). The other groups are ``log_likelihood`` of every
        answer, for ``az.loo`` (left out above 100 million values), ``log_prior``, ``observed_data``, ``constant_data``
        and, after NUTS, ``sample_stats``. Units and definitions are attributes.

        Raises
        ------
        InputError
            The fit has no draws (methods "map" and "adam").
        """
        return to_inference_data(self)

    def summary(self, var_names: Sequence[str] | None = None) -> pd.DataFrame:
        """Summarise :attr:`idata` by ArviZ: for each value mean, sd, interval of ``prob``, Monte Carlo errors, R-hat.

        Parameters
        ----------
        var_names : sequence of str, optional
            Variables of ``idata.posterior``, such as "score" and "reliability"; all of them by default.

        Raises
        ------
        InputError
            The fit has no draws, or a name is no variable of it.
        """
        table: pd.DataFrame = summarise_draws(self.idata, var_names, self.prob)
        return table

    @property
    def pymc_model(self) -> Any:
        """Model and table as a ``pymc.Model``, which can simulate answers; see :func:`.infer.pymc_model.pymc_model`."""
        return pymc_model(self.problem, self.kind.outcomes(self.problem))

    @property
    def pymc_draws(self) -> Any:
        """Draws of the random variables of :attr:`pymc_model`, for ``pm.sample_posterior_predictive``.

        Raises
        ------
        InputError
            The fit has no draws.
        """
        if self.posterior.draws is None:
            raise InputError(f"method {self.method!r} has no draws; fit with method='laplace' or 'nuts'")
        draws = split_chains(self.posterior.draws, bool(self.sample_stats))
        return to_arviz({"posterior": variable_draws(self.problem.density, draws)}, self.problem.coords)

    def plot(self, kind: str, ax: Axes | None = None) -> Axes:
        """Draw a figure ("ranking", "judges", "trace", ..., or a name of ArviZ); see :func:`.figures.plot`."""
        axes: Axes = import_fit_function("plot")(self.in_pandas, kind, ax)
        return axes

    def report(self, out: str | Path | None = None, *, overwrite: bool = False) -> Path:
        """Write a report: HTML, Markdown or LaTeX by the file's ending; see :func:`voirdire.report.verb.report`."""
        return import_fit_function("report")(self.in_pandas, out, overwrite=overwrite)  # type: ignore[no-any-return]

    def save(self, folder: str | Path, *, overwrite: bool = False) -> Path:
        """Write the fit to a folder, whole or not at all; see :func:`voirdire.fit.store.save`."""
        return import_fit_function("save")(self.in_pandas, folder, overwrite=overwrite)  # type: ignore[no-any-return]

    def export(self, to: str, out: str | Path, *, system: str | None = None, overwrite: bool = False) -> Path:
        """Write the fit in the format of another tool; see :func:`voirdire.report.exports.export`."""
        return import_fit_function("export")(self.in_pandas, to, out, system=system, overwrite=overwrite)  # type: ignore[no-any-return]

    def to_dict(self) -> dict[str, Any]:
        """As :meth:`as_dict`."""
        return self.as_dict()

    def as_dict(self, leave_out: Sequence[str] = ()) -> dict[str, Any]:
        """Return the result as plain Python, in the form of ``voirdire fit --json``.

        ``rank_low`` and ``rank_high``, as in :meth:`ranking` (and ``systems()``), are the interval of one item by
        itself. ``ranks`` of ``decision`` has simultaneous ranges of ranks by name, for all pairs together.

        Parameters
        ----------
        leave_out : sequence of str
            Names of tables to leave out.
        """
        result = {
            "model": self.model.name,
            "method": self.method,
            "seed": self.seed,
            "prob": self.prob,
            **self.kind.counts(self.problem),
            "seconds": round(self.seconds, 3),
            "versions": self.versions,
            "notes": list(self.notes),
            **{name: to_records(self.tables[name]) for name in self.tables if name not in leave_out},
            **self.kind.context_results(self.problem, self.posterior, self.prob),
            "decision": None if self.decision is None else self.decision.as_dict(),
            **({"over_time": to_records(self._judge_habits)} if self._judge_habits["judge"] else {}),
            **({} if self.anchored is None else _anchors_as_dict(self.anchored)),
            "checks": [entry.as_dict() for entry in self.all_checks],
        }
        for row, verdict in zip(result.get("judges", ()), import_fit_function("verdicts")(self), strict=False):
            row.update(verdict)
        return result

    @cached_property
    def decision(self) -> Any:
        """Decision about the items, :class:`voirdire.decide.decision.Decision`; None without scores, draws or links."""
        try:
            return import_fit_function("decide")(self)
        except InputError:
            return None

    @cached_property
    def tables(self) -> Mapping[str, Columns]:
        """Tables of the result as columns, by name."""
        arguments = (self.problem, self.posterior, self.prob)
        return TablesByName({name: partial(make, *arguments) for name, make in self.kind.results.items()})

    @cached_property
    def all_checks(self) -> tuple[Check, ...]:
        """Checks of the fit."""
        chosen = None if self.anchored is None else self.anchored.chosen
        basis = CheckBasis(self.posterior, self.tables["judges"], list(self.method_checks), self.seed, chosen)
        checks = [*self.kind.checks(self.problem, basis), *check_drift(*self._time_series, seed=self.seed)]
        checks += check_prior(self.problem, self.posterior, all(entry.check != "weights" for entry in checks))
        return tuple(withhold_orientation_probability(checks, self.kind.has_anchors(self.problem)))

    def __getattr__(self, name: str) -> Any:
        """Raise an error that names the tables of this kind, for an attribute that only fits of other kinds have."""
        owners = []
        if not name.startswith("_") and name != "kind":
            find_class = import_module("voirdire.kinds.registry").fit_class  # imports the other kinds, too
            owners = [fit_class.kind.words for fit_class in map(find_class, GRAMMARS) if hasattr(fit_class, name)]
        if not owners:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        single = [words for words in owners if " " not in words]
        kinds = " or ".join(filter(None, [", ".join(single[:-1]), *single[-1:]]))
        available = ", ".join(f"{table}()" for table in self._shown if hasattr(type(self), table))
        raise NotThisKindError(f"{name}() is for fits of {kinds}; a fit of {self.kind.words} has {available}")

    _shown: ClassVar[tuple[str, ...]] = (
        *("ranking", "classes", "judges", "criteria", "strengths", "cutpoints", "groups", "people"),
        *("confusion", "shares", "checks"),
    )

    def _repr_html_(self) -> str:
        """Make the HTML for notebooks; see :func:`voirdire.report.html.notebook`."""
        return str(import_fit_function("notebook")(self.in_pandas))

    def __repr__(self) -> str:
        problem = self.problem
        return (
            f"<Fit of {self.model.name} by {self.method}: {self.kind.answers(problem)}, "
            f"{count_in_words(len(problem.items), 'items')}, {count_in_words(len(problem.judges), 'judges')}, "
            f"checks {self.level}>"
        )


def _anchors_as_dict(anchored: Anchored) -> dict[str, Any]:
    anchors = {"mode": anchored.mode, "chosen": anchored.chosen, "methods": list(anchored.methods)}
    return {"anchors": anchors} | ({"pairs": list(anchored.pairs)} if anchored.pairs else {})


def import_fit_function(name: str) -> Any:
    """Import a verb of fits from the module that ``voirdire.FIT_VERBS`` names."""
    return getattr(import_module(import_module("voirdire").FIT_VERBS[name]), name)
