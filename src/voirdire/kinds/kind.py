"""Interface of a kind of data: everything that differs between kinds, with one implementation for each kind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import numpy as np

from voirdire.errors import InputError
from voirdire.infer.outcomes import Outcome
from voirdire.infer.posterior import Posterior
from voirdire.kinds.answers import Answers, Calibration, Claims, PredictionScores, Shares
from voirdire.kinds.bootstrap import refit_modes
from voirdire.kinds.checks import CheckBasis
from voirdire.kinds.column_checks import unused_columns
from voirdire.kinds.columns import Columns, to_records
from voirdire.kinds.human import HumanAnswers
from voirdire.kinds.page_words import PageWords, read_page_words
from voirdire.kinds.panel_gap import describe_agreement, describe_gap, shown_draws
from voirdire.kinds.people import Preference
from voirdire.kinds.quantities import Quantities, item_score_quantities, judge_quantities, parameter_quantities
from voirdire.kinds.request import Request
from voirdire.kinds.results import context_strengths, select_items
from voirdire.model.density import Data
from voirdire.model.problem import PANEL, TARGET, Check, Problem
from voirdire.model.specs import Model
from voirdire.model.target_answers import TargetAnswers
from voirdire.model.terms.term import Values
from voirdire.tables.counts import Votes
from voirdire.tables.numbers import count_in_words
from voirdire.trust.drift import AnswersOverTime
from voirdire.trust.residuals import Residuals, SharedErrors
from voirdire.typing import Bools, Floats, Ints

Results = dict[str, Callable[[Any, Posterior, float], Columns]]
T = TypeVar("T")
P = TypeVar("P", bound=Problem)


class Entrants(NamedTuple):
    """Entrants of a leaderboard.

    Attributes
    ----------
    names : tuple of str
    draws : array, shape (draws, entrants)
        Draws of their scores.
    rows : list of dict
        Rows of the ranking as in JSON: item, score, ..., best first.
    contexts : int
        Number of contexts of the table if scores are for contexts like these, else 0.
    """

    names: tuple[str, ...]
    draws: Floats
    rows: list[dict[str, Any]]
    contexts: int


class Packed(NamedTuple):
    """Stored form of a problem: values for JSON, by section of a run, and arrays by name."""

    sections: dict[str, Any]
    arrays: dict[str, Any]


class TableChange(NamedTuple):
    """New table, and other inputs, with which to encode the model of a problem again.

    Attributes
    ----------
    table : table of the kind
    is_own_table : bool
        Whether the table is the problem's own, with its anchors.
    criteria : Votes, CriterionImportance or None
        As in :meth:`Kind.problem_with_table`.
    answer_weight : array, shape (judges,), or None
        Weight of one answer of each judge.
    """

    table: Any
    is_own_table: bool
    criteria: Any
    answer_weight: Floats | None


class Kind(ABC, Generic[T, P]):
    """Kind of data: encoding of its tables, and results of its fits.

    Attributes
    ----------
    name : str
        Name in model files.
    words : str
        Name in sentences.
    refused : tuple of str
        Settings of ``fit`` that it does not take.
    results : dict
        Functions that make the tables of a fit, by name, from problem, posterior and probability of intervals.
    """

    name: ClassVar[str]
    words: ClassVar[str]
    refused: ClassVar[tuple[str, ...]] = ()
    results: ClassVar[Results]

    @property
    def page_words(self) -> PageWords:
        """Words for pages about its fits."""
        return read_page_words(self.name)

    def check_request(self, request: Request) -> None:
        """Refuse settings that are for other kinds of data.

        Raises
        ------
        InputError
        """
        problems = [
            f"{name}= is not for tables of {self.words}; leave it out"
            for name in self.refused
            if name.isidentifier() and getattr(request, name) is not None
        ]
        if "anchor_mode='cut'" in self.refused and request.anchor_mode == "cut":
            problems.append(f"anchor_mode='cut' is not for tables of {self.words}; leave it out")
        if problems:
            raise InputError(problems)

    def answers_to_fit(self, table: T) -> T:
        """Convert the answers of a table to the form for models, such as a question for each label of a set."""
        return table

    def check_board(self, table: T, request: Request) -> None:
        """Refuse a table that allows no leaderboard, before anything is fitted.

        Raises
        ------
        InputError
        """

    @abstractmethod
    def default_model(self, table: T, request: Request) -> tuple[str | Model, str]:
        """Choose the default model (or its name) for a table, and give the reason in words."""

    def model_of_terms(self, table: T, request: Request) -> Model:
        """Make the model of the requested sum of terms.

        Raises
        ------
        InputError
            The kind has no sums of terms, or it does not take this sum.
        """
        raise InputError(f"terms= is not for tables of {self.words}; name a model, or leave it out")

    @abstractmethod
    def encode_table(self, model: Model, table: T, request: Request) -> tuple[P, list[str]]:
        """Encode a table for a model; also return notes on choices made for the user."""

    def table_of(self, problem: P) -> T:
        """Return the table of a problem."""
        table: T = problem.table  # type: ignore[attr-defined]
        return table

    def note_unused_columns(self, problem: P) -> list[str]:
        """Write notes on columns that the model of a problem leaves out; see :mod:`.unused_columns`."""
        sums = type(self).model_of_terms is not Kind.model_of_terms
        return unused_columns(problem, self.table_of(problem), sums)

    def problem_with_table(
        self, problem: P, *, table: T | None = None, criteria: Any = None, answer_weight: Floats | None = None
    ) -> P:
        """Encode the model of a problem for its own table, or for another of the same coding and scale.

        Parameters
        ----------
        table : optional
            A table without anchors; by default the problem's, with its anchors.
        criteria : Votes or CriterionImportance, optional
            Result of :meth:`on_criteria`; by default the problem's.
        answer_weight : array, shape (judges,), optional
            Weight of one answer of each judge.
        """
        own_table = self.table_of(problem)
        return self.encode_again(
            problem, TableChange(own_table if table is None else table, table is None, criteria, answer_weight)
        )

    @abstractmethod
    def encode_again(self, problem: P, change: TableChange) -> P:
        """Encode the model of a problem for a table of the same coding and scale; see :meth:`problem_with_table`."""

    @abstractmethod
    def join(self, problem: P, new: object) -> T:
        """Join the table of a problem with new answers of its kind."""

    @abstractmethod
    def on_criteria(self, problem: P, criteria: tuple[str, ...], importance: object) -> Any:
        """Join old and new votes on criteria, or take the new weights of ``criteria``."""

    def has_anchors(self, problem: P) -> bool:
        """True if people's answers are part of a problem."""
        return getattr(problem, "anchors", None) is not None

    def target_answers(self, table: T, anchors: object) -> tuple[TargetAnswers | None, list[str]]:
        """Make evidence on the gap between panel and people from people's answers; also return notes on omissions.

        The evidence is None where a model uses these answers in another way: rankings, labels, unconnected pairs.

        Raises
        ------
        InputError
            A fault of the table of people's answers, or none of them is about the panel's items.
        """
        return None, []

    def levels_with_people(self, table: T, people: object) -> tuple[float, ...] | None:
        """Common levels of judges' and people's answers on one scale; None if they are the judges' own levels."""
        return None

    def human(self, problem: P, families: dict[str, str] | None = None) -> HumanAnswers[P]:
        """Make the uses of people's answers in a problem; ``families`` names the family of each judge."""
        return HumanAnswers(problem)

    def evened(self, problem: P, posterior: Posterior) -> Posterior:
        """Make results equal where the table is symmetric and only sampling error differs; else keep the posterior."""
        return posterior

    @abstractmethod
    def checks(self, problem: P, basis: CheckBasis) -> list[Check]:
        """Make the checks of a fit, after those of its method and before the check of drift."""

    # headings of columns that have other names in JSON
    heading: ClassVar[MappingProxyType[str, str]] = MappingProxyType({})

    def result_subject(self, problem: P, request: Request) -> str | None:
        """Subject of results: "target" or "panel"; None if not requested, for results about the panel."""
        subject = {"models": TARGET, "people": PANEL, None: None}[request.judges]
        return request.about or subject

    def outcome(self, problem: P, posterior: Posterior) -> list[str]:
        """Write sentences on the results, for a fit's notes."""
        if not self.has_scores(problem):
            return []
        called, anchored = self.items_called(problem), self.has_anchors(problem)
        return describe_gap(problem, posterior) + describe_agreement(problem, posterior, called, anchored)

    def items_called(self, problem: P) -> str:
        """Plural noun for the items of a problem."""
        return "items"

    def has_scores(self, problem: P) -> bool:
        """True if items have scores."""
        return "items" in self.results and "strength" in {p.name for p in problem.density.parameters}

    def context_results(self, problem: P, posterior: Posterior, prob: float) -> dict[str, Any]:
        """Results on contexts, for JSON: ``over`` and ``spreads``; empty for models without learned structure."""
        return {}

    def time_series(self, problem: P, posterior: Posterior) -> AnswersOverTime | None:
        """Series of answers over time; None if the table has no times."""
        return None

    def over_time(self, problem: P, posterior: Posterior) -> list[AnswersOverTime | None]:
        """List of :meth:`time_series` for each kind of answers."""
        return [kind.time_series(part, posterior) for kind, part in self.parts(problem)]

    @abstractmethod
    def judge_values(self, problem: P, values: Values) -> dict[str, Floats]:
        """Compute the quantities of the table of judges, shape (..., judges); NaN where the model has none."""

    def guessing_probability(self, problem: P) -> float:
        """Probability of a right answer by guessing, on the scale of reliability."""
        return 0.5

    def quantities(self, problem: P, values: Values) -> Quantities:
        """Compute all estimated quantities on natural scales, as in the tables of the fit.

        Parameters
        ----------
        values : dict of array, shape (draws, ...)
        """
        quantities = parameter_quantities(problem, values)
        quantities |= judge_quantities(
            self.judge_values(problem, values), len(problem.judges), self.guessing_probability(problem)
        )
        return quantities | (item_score_quantities(problem, values) if self.has_scores(problem) else {})

    def of_systems(self, problem: P, posterior: Posterior) -> Quantities:
        """Draws of the scores of systems, one for each draw of the fit; empty for tables without systems."""
        return {}

    def board_entrants(self, problem: P, posterior: Posterior, prob: float) -> Entrants:
        """Make the entrants of a leaderboard: items, with draws of their scores.

        Raises
        ------
        InputError
            The posterior has no draws, or the items have no scores.
        """
        if not self.has_scores(problem):
            raise InputError(f"a board is of items with scores; a fit of {self.words} has none")
        if posterior.values is None:
            raise InputError("a board needs draws; fit with another method than 'map'")
        draws = shown_draws(problem, posterior.values)
        rows = to_records(self.results["items"](problem, posterior, prob))
        sizes = problem.density.sizes
        return Entrants(problem.items, draws.reshape(-1, draws.shape[-1]), rows, sizes.get("context", 0))

    def board_names(self, problem: P) -> tuple[str, ...]:
        """Names of the entrants of a leaderboard, before anything is fitted."""
        return problem.items

    def has_unlinked_pairs(self, problem: P) -> bool:
        """True if every item is compared with only one other item, so that no item can be first."""
        return False

    def unit(self, problem: P) -> str:
        """Unit of scores and severities: "log-odds", or "points" of a scale."""
        return "log-odds"

    def middle(self, problem: P) -> float:
        """Neutral value in :meth:`unit`: the middle of the scale."""
        return 0.0

    def fixed_order(self, problem: P) -> str | None:
        """Reason why position bias is confounded with strength; None where it is not."""
        return None

    def compared_votes(self, problem: P) -> Votes | None:
        """Votes of a problem; None if it has none."""
        return None

    def check_contexts(self, problem: P) -> None:
        """Refuse to show strengths in each context if the model has no contexts.

        Raises
        ------
        InputError
        """
        raise InputError("--contexts is for fits of votes, scores or rankings in several contexts")

    def in_contexts(self, problem: P, posterior: Posterior) -> Floats | None:
        """Draws of strengths in each context, shape (draws, contexts, items); None if the model has no contexts."""
        return None

    def people_preference(self, problem: P, posterior: Posterior) -> Preference | None:
        """Model of people's answers to comparisons of items in one context, learned or assumed.

        None if the model has no noise of answers.
        """
        return Preference()

    def context_difference_variance(self, problem: P, posterior: Posterior, items: tuple[str, str]) -> float:
        """Compute the variance over contexts of the difference of two entrants; 0 without contexts."""
        values = posterior.values
        if values is None or "context_strength" not in values:
            return 0.0
        codes = [problem.items.index(item) for item in items]
        gap = np.diff(context_strengths(problem.density, select_items(values, codes)), axis=-1)[..., 0]
        return float(gap.var(axis=1, ddof=1).mean())

    def uses_families(self, problem: P) -> bool:
        """True if the model of a problem has effects of families of judges."""
        return False

    def can_weigh_answers(self, problem: P) -> bool:
        """True if answers of judges that answer alike can have less weight under a problem's model."""
        return True

    def families_by_answers(self, problem: P) -> dict[str, str] | None:
        """Find families of judges who answer alike from answers alone; None to use residuals."""
        return None

    def chance_of_use(self, problem: P, x: Floats) -> Floats | None:
        """Probability that each judge's answers are informative, at a point of the posterior.

        None if no judge's answers look like noise, and for models that learn the reliability of judges.
        """
        return None

    @abstractmethod
    def residuals(self, problem: P, posterior: Posterior) -> Residuals | SharedErrors:
        """Compute residuals: answers of judges less their expectation under the model."""

    def predicted_on_average(self, problem: P) -> tuple[str, ...]:
        """Names of factors over which predictions are averaged, because questions do not give them."""
        return ()

    @abstractmethod
    def predict(self, problem: P, posterior: Posterior, table: object) -> Columns:
        """Predict the probability of every possible answer to the questions of a table."""

    @abstractmethod
    def predict_target(self, problem: P, posterior: Posterior, table: object, prob: float) -> Columns:
        """Predict people's answers to the questions of a table, with intervals of ``prob`` if items have scores.

        Raises
        ------
        InputError
            The fit does not predict people's answers, or has no draws.
        """

    @abstractmethod
    def response_probabilities(self, problem: P, values: Values, rows: tuple[Ints, ...]) -> Floats:
        """Compute the probability of every possible answer to each question, shape (rows, answers).

        Parameters
        ----------
        values : dict of array
            Values of the parameters: one draw, or the centre.
        rows : tuple of int array, each of shape (rows,)
            Questions in the problem's coding: judge, criterion, first and second for comparisons; else judge,
            criterion, item.

        Raises
        ------
        InputError
            The model gives no probability of single answers.
        """

    def claims(self, problem: P, posterior: Posterior) -> Claims:
        """Make the claims of a fit about questions that people could answer, with its confidence in each.

        Raises
        ------
        InputError
            The kind has no such single questions.
        """
        raise InputError(f"escalate() is for fits of labels, votes or scores; this is one of {self.words}")

    def single(self, problem: P) -> list[Answers]:
        """Collect the single answers of every table of a problem; none for models that pool answers."""
        return []

    def outcomes(self, problem: P) -> list[Outcome]:
        """Make the outcomes that the model generates, table by table; none for baselines, which generate none."""
        return []

    @abstractmethod
    def draw(self, problem: P, values: Values, rng: np.random.Generator) -> T:
        """Draw other answers for the table of a problem under one set of values.

        Values from the posterior give posterior predictive tables, and values from the prior simulated tables.
        """

    def parts(self, problem: P) -> tuple[tuple[Kind[Any, Any], Any], ...]:
        """Pairs of a kind of answers and its part of the problem."""
        return ((self, problem),)

    @abstractmethod
    def check_single(self, problem: P) -> None:
        """Refuse models that give no probability of single answers.

        Raises
        ------
        InputError
        """

    @abstractmethod
    def shares(self, problem: P, tables: Sequence[T]) -> Shares:
        """Compute shares of wins of items, or of the answers of judges, in tables with the questions of a problem."""

    @abstractmethod
    def calibration(self, problem: P, posterior: Posterior) -> Calibration:
        """Count answers by the probability that the fit gives them; given all other answers, if possible."""

    @abstractmethod
    def pack(self, problem: P) -> Packed:
        """Convert a problem to its stored form."""

    @abstractmethod
    def unpack(self, model: Model, packed: Packed) -> P:
        """Restore a problem from its stored form."""

    def refit_resampled(self, problem: P, mode: Floats, resamples: int, rng: np.random.Generator) -> Floats:
        """Find modes of tables of as many answers, drawn with replacement; shape (resamples, size).

        See :mod:`voirdire.kinds.bootstrap`.

        Raises
        ------
        InputError
            The kind has no bootstrap.
        """
        return refit_modes(problem.density, lambda: self.resampled(problem, rng), resamples, mode)

    def resampled(self, problem: P, rng: np.random.Generator) -> Data:
        """Draw as many answers with replacement.

        Raises
        ------
        InputError
            The kind has no bootstrap.
        """
        raise InputError(f"{self.words} have no bootstrap; their intervals are those of the posterior")

    compared: ClassVar[tuple[str, ...]] = ()  # kinds of models that predict its answers, if not only its own

    def predicts_answers(self, model: Model) -> bool:
        """True if a model predicts the answers of this kind."""
        return model.data in (self.compared or (self.name,))

    def predicts_density(self, model: Model) -> bool:
        """True if a model has a density, not a probability, of an answer."""
        return False

    @abstractmethod
    def score_held_out(self, model: Model, table: T, held_out: Bools, request: Request) -> PredictionScores:
        """Compute log probabilities of held-out answers, and 1 where an answer was the most probable one, else 0.

        Parameters
        ----------
        held_out : bool array, shape (answers,)
            True for the answers that the fit does not see.
        request : Request
            Request with levels or classes.
        """

    def counts(self, problem: P) -> dict[str, int]:
        """Numbers of answers: ``votes`` (the name for answers of every kind in results), and others, if any."""
        return {"votes": int(problem.judge_votes.sum())}

    def named_counts(self, problem: P) -> dict[str, int]:
        """Numbers of answers by kind, such as ``{"labels": 40}``."""
        counts = self.counts(problem)
        return counts if len(counts) > 1 else {self.name: counts["votes"]}

    def answers(self, problem: P) -> str:
        """Numbers of answers in words, such as "120 votes and 60 scores"."""
        return " and ".join(count_in_words(count, name) for name, count in self.named_counts(problem).items())
