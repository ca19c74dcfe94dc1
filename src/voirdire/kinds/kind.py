"""Interface of a kind of data: all that differs between kinds, implemented once in each folder beside this file."""

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
from voirdire.kinds.columns import Columns, to_records
from voirdire.kinds.human import HumanAnswers
from voirdire.kinds.page_words import PageWords
from voirdire.kinds.panel_gap import describe_agreement, describe_gap, shown_draws
from voirdire.kinds.people import Preference
from voirdire.kinds.quantities import (
    Quantities,
    item_score_quantities,
    judge_quantities,
    parameter_quantities,
)
from voirdire.kinds.request import Request
from voirdire.kinds.results import context_strengths, select_items
from voirdire.kinds.unused_columns import unused_columns
from voirdire.model.density import Data
from voirdire.model.problem import PANEL, TARGET, Check, Problem
from voirdire.model.specs import Model
from voirdire.model.target_answers import TargetAnswers
from voirdire.model.terms.reliability import Values
from voirdire.tables.counts import Votes
from voirdire.tables.words import count_in_words
from voirdire.trust.drift import AnswersOverTime
from voirdire.trust.residuals import Residuals
from voirdire.trust.shared_errors import SharedErrors
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
        Of their scores.
    rows : list of dict
        As JSON has the ranking: item, score, ..., best first.
    contexts : int
        How many contexts they were drawn over, where other contexts would say something else; else 0.
    """

    names: tuple[str, ...]
    draws: Floats
    rows: list[dict[str, Any]]
    contexts: int


class Packed(NamedTuple):
    """A problem to be stored: what JSON can hold, by section of a run, and arrays by name."""

    sections: dict[str, Any]
    arrays: dict[str, Any]


class TableChange(NamedTuple):
    """New table, and other inputs, to encode the model of a problem with.

    Attributes
    ----------
    table : table of the kind
    is_own_table : bool
        Whether it is the problem's own, with its anchors.
    criteria : Votes, CriterionImportance or None
        As of :meth:`Kind.problem_with_table`.
    answer_weight : array, shape (judges,), or None
    """

    table: Any
    is_own_table: bool
    criteria: Any
    answer_weight: Floats | None


class Kind(ABC, Generic[T, P]):
    """Kind of data: how its tables are encoded, and what its fits show.

    Attributes
    ----------
    name : str
        As model files have it.
    words : str
        In a sentence.
    page_words : PageWords
        What pages say of its fits.
    refused : tuple of str
        Settings of ``fit`` that say nothing to it.
    results : dict
        Tables of a fit, by name, each a function of problem, posterior and probability.
    """

    name: ClassVar[str]
    words: ClassVar[str]
    page_words: ClassVar[PageWords]
    refused: ClassVar[tuple[str, ...]] = ()
    results: ClassVar[Results]

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
        """The answers of a table in the form that models take, such as a question for each label of a set."""
        return table

    def check_board(self, table: T, request: Request) -> None:
        """Refuse a table of which no board can be made, before anything is fitted.

        Raises
        ------
        InputError
        """

    @abstractmethod
    def default_model(self, table: T, request: Request) -> tuple[str | Model, str]:
        """The model that a table calls for, or its name, and why, in words."""

    def model_of_terms(self, table: T, request: Request) -> Model:
        """The model of the sum of terms that is asked for.

        Raises
        ------
        InputError
            Models of such tables are no sums of terms that could be named; the sum is none that they take.
        """
        raise InputError(f"terms= is not for tables of {self.words}; name a model, or leave it out")

    @abstractmethod
    def encode_table(self, model: Model, table: T, request: Request) -> tuple[P, list[str]]:
        """Bring a table into the form of a model; and what was done on the user's behalf, in words."""

    def table_of(self, problem: P) -> T:
        """The table of a problem."""
        table: T = problem.table  # type: ignore[attr-defined]
        return table

    def note_unused_columns(self, problem: P) -> list[str]:
        """Notes on columns that the model of a problem leaves out; see :mod:`.unused_columns`."""
        sums = type(self).model_of_terms is not Kind.model_of_terms
        return unused_columns(problem, self.table_of(problem), sums)

    def problem_with_table(
        self, problem: P, *, table: T | None = None, criteria: Any = None, answer_weight: Floats | None = None
    ) -> P:
        """The model of a problem over its own or another table of the same coding and scale.

        Parameters
        ----------
        table : optional
            Without anchors; by default the problem's, with them.
        criteria : Votes or CriterionImportance, optional
            What :meth:`on_criteria` gives; by default the problem's.
        answer_weight : array, shape (judges,), optional
            What one answer of each judge counts for.
        """
        own_table = self.table_of(problem)
        return self.encode_again(
            problem,
            TableChange(own_table if table is None else table, table is None, criteria, answer_weight),
        )

    @abstractmethod
    def encode_again(self, problem: P, change: TableChange) -> P:
        """The model of a problem over a table of the same coding and scale; see :meth:`problem_with_table`."""

    @abstractmethod
    def join(self, problem: P, new: object) -> T:
        """The table of a problem with new answers of its kind."""

    @abstractmethod
    def on_criteria(self, problem: P, criteria: tuple[str, ...], importance: object) -> Any:
        """Old and new votes on criteria, or the new weights of ``criteria``."""

    def has_anchors(self, problem: P) -> bool:
        """True if people's answers are part of a problem."""
        return getattr(problem, "anchors", None) is not None

    def target_answers(self, table: T, anchors: object) -> tuple[TargetAnswers | None, list[str]]:
        """People's answers as evidence on how far the panel is from people, and what was left out, in words.

        None where a model uses them otherwise: of rankings and labels, of unconnected pairs.

        Raises
        ------
        InputError
            A fault of their table; nothing in it is about what the panel answered.
        """
        return None, []

    def levels_with_people(self, table: T, people: object) -> tuple[float, ...] | None:
        """Levels of a table's scale together with people's answers of the same one; None where they are its own."""
        return None

    def human(self, problem: P, families: dict[str, str] | None = None) -> HumanAnswers[P]:
        """Uses of people's answers for a problem; ``families`` is the family of each judge."""
        return HumanAnswers(problem)

    def evened(self, problem: P, posterior: Posterior) -> Posterior:
        """A posterior in which what the table treats alike is alike, where sampling alone made a difference."""
        return posterior

    @abstractmethod
    def checks(self, problem: P, basis: CheckBasis) -> list[Check]:
        """Checks that every fit makes, after those of its method; that of drift comes after these."""

    heading: ClassVar[MappingProxyType[str, str]] = MappingProxyType(
        {}
    )  # of columns whose names in JSON say something else

    def result_subject(self, problem: P, request: Request) -> str | None:
        """Subject of results: "target" or "panel"; None where nothing was said, and they are the panel's."""
        subject = {"models": TARGET, "people": PANEL, None: None}[request.judges]
        return request.about or subject

    def outcome(self, problem: P, posterior: Posterior) -> list[str]:
        """Sentences about what was found, for a fit's notes."""
        if not self.has_scores(problem):
            return []
        called, anchored = self.items_called(problem), self.has_anchors(problem)
        return describe_gap(problem, posterior) + describe_agreement(problem, posterior, called, anchored)

    def items_called(self, problem: P) -> str:
        """Plural name of the items of a problem: a board may be of something else."""
        return "items"

    def has_scores(self, problem: P) -> bool:
        """True if items have scores."""
        return "items" in self.results and "strength" in {p.name for p in problem.density.parameters}

    def context_results(self, problem: P, posterior: Posterior, prob: float) -> dict[str, Any]:
        """Results on contexts, for JSON: ``over`` and ``spreads``; nothing of models without learned structure."""
        return {}

    def time_series(self, problem: P, posterior: Posterior) -> AnswersOverTime | None:
        """Quantities of answers of this kind followed over time; None where the table has no times."""
        return None

    def over_time(self, problem: P, posterior: Posterior) -> list[AnswersOverTime | None]:
        """As :meth:`time_series`, by kind of answers."""
        return [kind.time_series(part, posterior) for kind, part in self.parts(problem)]

    @abstractmethod
    def judge_values(self, problem: P, values: Values) -> dict[str, Floats]:
        """Values of the table of judges, shape (..., judges); NaN where the model has no such thing."""

    def guessing_probability(self, problem: P) -> float:
        """Probability of a right answer by guessing, as reliability counts right answers."""
        return 0.5

    def quantities(self, problem: P, values: Values) -> Quantities:
        """All that is estimated, on natural scales; what tables of the fit show equals these.

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
        """Draws of the scores of systems, one a draw of the fit; empty of tables that are not about systems."""
        return {}

    def board_entrants(self, problem: P, posterior: Posterior, prob: float) -> Entrants:
        """Entrants of a leaderboard: items, as far as there are draws of their scores.

        Raises
        ------
        InputError
            The posterior has no draws, or items no scores.
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
        """Names of what a leaderboard would be of, before anything is fitted."""
        return problem.items

    def has_unlinked_pairs(self, problem: P) -> bool:
        """True if every item is compared with one other alone, so that none is first of all."""
        return False

    def unit(self, problem: P) -> str:
        """Unit of scores and severities: "log-odds", or "points" of a scale."""
        return "log-odds"

    def middle(self, problem: P) -> float:
        """Neutral value in :meth:`unit`: neither much nor little."""
        return 0.0

    def fixed_order(self, problem: P) -> str | None:
        """Reason why position bias is confounded with strength; None where it is not."""
        return None

    def compared_votes(self, problem: P) -> Votes | None:
        """The votes of a problem; None where it has none."""
        return None

    def check_contexts(self, problem: P) -> None:
        """Refuse to show strengths in each context where the model has none.

        Raises
        ------
        InputError
        """
        raise InputError("--contexts is for fits of votes, scores or rankings in several contexts")

    def in_contexts(self, problem: P, posterior: Posterior) -> Floats | None:
        """Draws of strengths in each context, (draws, contexts, items); None where the model has none."""
        return None

    def people_preference(self, problem: P, posterior: Posterior) -> Preference | None:
        """Answers of people to comparisons of items in one context, as the model has or assumes them.

        None where it says nothing of the noise of answers.
        """
        return Preference()

    def context_difference_variance(self, problem: P, posterior: Posterior, items: tuple[str, str]) -> float:
        """Variance over contexts of the difference of two entrants; 0 without contexts."""
        values = posterior.values
        if values is None or "context_strength" not in values:
            return 0.0
        codes = [problem.items.index(item) for item in items]
        gap = np.diff(context_strengths(problem.density, select_items(values, codes)), axis=-1)[..., 0]
        return float(gap.var(axis=1, ddof=1).mean())

    def uses_families(self, problem: P) -> bool:
        """True if the model of a problem knows families of judges by itself."""
        return False

    def can_weigh_answers(self, problem: P) -> bool:
        """True if the answers of judges that answer alike may count for less under a problem's model."""
        return True

    def families_by_answers(self, problem: P) -> dict[str, str] | None:
        """Families of judges who answer alike, found by answers alone; None where residuals are used."""
        return None

    def chance_of_use(self, problem: P, x: Floats) -> Floats | None:
        """Probability that each judge's answers are no noise, at a point of the posterior; None where nobody is named.

        None, too, of models that learn how good judges are.
        """
        return None

    @abstractmethod
    def residuals(self, problem: P, posterior: Posterior) -> Residuals | SharedErrors:
        """Residuals: what judges answered beyond what the model expects."""

    def predicted_on_average(self, problem: P) -> tuple[str, ...]:
        """Names of what answers of a fit depend on and questions to it do not say: they are predicted on average."""
        return ()

    @abstractmethod
    def predict(self, problem: P, posterior: Posterior, table: object) -> Columns:
        """Probability of every possible answer to what a table asks."""

    @abstractmethod
    def predict_target(self, problem: P, posterior: Posterior, table: object, prob: float) -> Columns:
        """Answers that people would give to what a table asks, with intervals of ``prob`` where items have scores.

        Raises
        ------
        InputError
            The fit says nothing of that, or has no draws.
        """

    @abstractmethod
    def response_probabilities(self, problem: P, values: Values, rows: tuple[Ints, ...]) -> Floats:
        """Probability of every possible answer to what is asked, shape (rows, answers).

        Parameters
        ----------
        values : dict of array
            Of the parameters: one draw, or the centre.
        rows : tuple of int array, each of shape (rows,)
            In the problem's coding: judge, criterion, first and second of comparisons; else judge, criterion, item.

        Raises
        ------
        InputError
            The model gives no probability of single answers.
        """

    def claims(self, problem: P, posterior: Posterior) -> Claims:
        """Answers of a fit to what people could be asked, with its confidence in each.

        Raises
        ------
        InputError
            People are asked no such single questions about this kind of data.
        """
        raise InputError(f"escalate() is for fits of labels, votes or scores; this is one of {self.words}")

    def single(self, problem: P) -> list[Answers]:
        """Answers one by one, of every table of a problem; none where a model pools them before it looks at them."""
        return []

    def outcomes(self, problem: P) -> list[Outcome]:
        """Answers as a model generates them, table by table; none where it does not (a baseline)."""
        return []

    @abstractmethod
    def draw(self, problem: P, values: Values, rng: np.random.Generator) -> T:
        """The table of a problem with other answers, drawn under one set of values.

        Of a draw of the posterior it is posterior predictive, of one of the prior a simulation.
        """

    def parts(self, problem: P) -> tuple[tuple[Kind[Any, Any], Any], ...]:
        """The kinds of answers in a problem, each with the part of the problem that is about them."""
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
        """Shares of wins of items, or of the answers of judges, in tables of the questions of a problem."""

    @abstractmethod
    def calibration(self, problem: P, posterior: Posterior) -> Calibration:
        """Answers by the probability that a fit gives them, where it can by all other answers."""

    @abstractmethod
    def pack(self, problem: P) -> Packed:
        """A problem to be stored."""

    @abstractmethod
    def unpack(self, model: Model, packed: Packed) -> P:
        """A problem that was stored."""

    def refit_resampled(self, problem: P, mode: Floats, resamples: int, rng: np.random.Generator) -> Floats:
        """Modes of tables of as many answers, drawn with replacement; shape (resamples, size).

        See :mod:`voirdire.kinds.bootstrap`.

        Raises
        ------
        InputError
            The kind has none.
        """
        return refit_modes(problem.density, lambda: self.resampled(problem, rng), resamples, mode)

    def resampled(self, problem: P, rng: np.random.Generator) -> Data:
        """As many answers, drawn with replacement.

        Raises
        ------
        InputError
            The kind has no bootstrap.
        """
        raise InputError(f"{self.words} have no bootstrap; their intervals are those of the posterior")

    compared: ClassVar[
        tuple[str, ...]
    ] = ()  # kinds of models that predict its answers, where not its own alone

    def predicts_answers(self, model: Model) -> bool:
        """True if a model predicts the answers of this kind."""
        return model.data in (self.compared or (self.name,))

    def predicts_density(self, model: Model) -> bool:
        """True if a model has a density, not a probability, of an answer."""
        return False

    @abstractmethod
    def score_held_out(self, model: Model, table: T, held_out: Bools, request: Request) -> PredictionScores:
        """Log probability of some answers, of a fit that has not seen them; and whether each was the most probable.

        Parameters
        ----------
        held_out : bool array, shape (answers,)
        request : Request
            Levels or classes.
        """

    def counts(self, problem: P) -> dict[str, int]:
        """Numbers of answers: ``votes`` (whatever they are, as everywhere in results), and others beside them."""
        return {"votes": int(problem.judge_votes.sum())}

    def named_counts(self, problem: P) -> dict[str, int]:
        """Numbers of answers by what they are: ``{"labels": 40}``."""
        counts = self.counts(problem)
        return counts if len(counts) > 1 else {self.name: counts["votes"]}

    def answers(self, problem: P) -> str:
        """Numbers of answers in words, such as "120 votes and 60 scores"."""
        return " and ".join(count_in_words(count, name) for name, count in self.named_counts(problem).items())
