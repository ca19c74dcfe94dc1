"""Registry of the kinds of data and of their fits, by the names in model files and tables."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from voirdire.errors import InputError
from voirdire.kinds.columns import Columns
from voirdire.kinds.fit import Fit, import_fit_function
from voirdire.kinds.kind import Kind
from voirdire.kinds.labels import systems as label_systems
from voirdire.kinds.labels.kind import LABELS
from voirdire.kinds.labels.problem import LabelsProblem
from voirdire.kinds.labels.success import success_class
from voirdire.kinds.ranked_fit import ComparedFit, ScoredFit, TermsFit
from voirdire.kinds.rankings.kind import RANKINGS
from voirdire.kinds.rankings.problem import RankingsProblem
from voirdire.kinds.scores import systems as score_systems
from voirdire.kinds.scores.kind import SCORES
from voirdire.kinds.scores.problem import ScoresProblem
from voirdire.kinds.scores.results import strengths_on_scale
from voirdire.kinds.terms_kind import TermsKind
from voirdire.kinds.votes import groups
from voirdire.kinds.votes.kind import VOTES
from voirdire.kinds.votes.problem import VotesProblem
from voirdire.kinds.votes.results import judges_by_criterion
from voirdire.kinds.votes_and_scores import JOINT, VotesAndScoresFit
from voirdire.model.problem import Problem
from voirdire.model.specs import Model, load_model, model_names
from voirdire.tables.output_library import convert_to_library


class VotesFit(TermsFit, ComparedFit):
    """Fit of votes."""

    problem: VotesProblem
    kind: ClassVar[TermsKind[Any, Any]] = VOTES

    def judges_by_criterion(self) -> pd.DataFrame:
        """Table of reliability by judge and criterion, for ``maple-criterion-reliability``."""
        return self._frame(judges_by_criterion(self.problem, self.posterior, self.prob))

    def groups(self) -> pd.DataFrame:
        """Table of items in each group of contexts: by, group, item, score, sd, low, high, rank, p_best."""
        return self._frame(groups.items_by_group(self.problem, self.posterior, self.prob))


class ScoresFit(TermsFit, ScoredFit):
    """Fit of scores."""

    problem: ScoresProblem
    kind: ClassVar[TermsKind[Any, Any]] = SCORES

    def people(self) -> pd.DataFrame:
        """Table of people who gave anchors: criterion, scores, severity, discrimination or noise, with intervals.

        Scales are those of :meth:`judges`; see :func:`.scores.results.people_table`. Empty without anchors.
        """
        return self._frame(self.tables["people"])

    def systems(self) -> pd.DataFrame:
        """Table of systems over contexts, best first; see :mod:`voirdire.kinds.scores.systems`.

        Columns: system, contexts, score, sd, low, high, rank, rank_low, rank_high, p_best. :meth:`ranking` compares the
        items, which are the systems' answers in each context.

        Raises
        ------
        InputError
            The table has no columns context and system, or the fit has no draws.
        """
        return self._frame(score_systems.system_table(self.problem, self.posterior, self.prob))

    def strength_columns(self) -> Columns:
        """Columns of the strength of every item under every criterion, with sd and interval."""
        return strengths_on_scale(self.problem, self.posterior, self.prob)


class RankingsFit(TermsFit):
    """Fit of rankings."""

    problem: RankingsProblem
    kind: ClassVar[TermsKind[Any, Any]] = RANKINGS

    def next_rankings(self, count: int = 5, **settings: Any) -> pd.DataFrame:
        """Choose the next rankings to collect; see :func:`voirdire.fit.next.rankings.next_rankings`.

        Raises
        ------
        InputError
            The request is invalid, or the fit has no draws.
        """
        rankings: pd.DataFrame = import_fit_function("next_rankings")(self.in_pandas, count, **settings)
        return convert_to_library(rankings, self.frames)


class LabelsFit(Fit):
    """Fit of labels."""

    problem: LabelsProblem
    kind: ClassVar[Kind[Any, Any]] = LABELS

    def classes(self) -> pd.DataFrame:
        """Table of items: class, probability of every class; see :func:`.labels.results.item_table`."""
        return self._frame(self.tables["items"])

    def confusion(self) -> pd.DataFrame:
        """Table of judges' confusion matrices: judge, class, label, probability, low, high."""
        return self._frame(self.tables["confusion"])

    def shares(self) -> pd.DataFrame:
        """Table of shares of the classes: criterion, class, share, low, high."""
        return self._frame(self.tables["shares"])

    def systems(self, positive: object = None) -> pd.DataFrame:
        """Table of systems over contexts; see :mod:`voirdire.kinds.labels.systems`.

        Columns: system, contexts; share_CLASS, share_CLASS_low and share_CLASS_high for every class. If a class counts
        as a success, or labels are numbers, also score (share of successes, or mean), sd, low, high, rank, rank_low,
        rank_high, p_best, best first.

        Parameters
        ----------
        positive : str, optional
            Class that counts as a success; by default that of the fit.

        Raises
        ------
        InputError
            The table has no columns context and system, the fit has no draws, or ``positive`` is no class.
        """
        return self._frame(label_systems.system_table(self._with(positive).problem, self.posterior, self.prob))

    def board(self, positive: object = None, prices: object = None, margin: float = 0.0) -> dict[str, Any]:
        """Make the leaderboard of systems over contexts; see :func:`voirdire.decide.board.board`.

        Parameters
        ----------
        positive : str, optional
            Class that counts as a success; by default that of the fit.
        prices, margin
            As for :meth:`decide`.
        """
        board: dict[str, Any] = import_fit_function("board")(self._with(positive).in_pandas, prices, margin)
        return board

    def decide(self, prices: object = None, margin: float = 0.0) -> Any:
        """Decide which systems share the first place; see :func:`voirdire.decide.decision.decide`."""
        return import_fit_function("decide")(self, prices, margin)

    def _with(self, positive: object) -> LabelsFit:
        """Return the fit with another class as the success; unchanged if None."""
        if positive is None:
            return self
        problem = self.problem
        success = success_class(problem.labels[: problem.classes], positive)
        return replace(self, problem=replace(problem, positive=success))

    def accuracy(self, truth: object, **settings: Any) -> pd.DataFrame:
        """Compute accuracy and balanced accuracy against known classes, with bootstrap intervals.

        ``truth`` has columns item and label; see :func:`voirdire.fit.accuracy.accuracy` for the settings.
        """
        table: pd.DataFrame = import_fit_function("accuracy")(self.in_pandas, truth, **settings)
        return convert_to_library(table, self.frames)


FITS: dict[str, type[Fit]] = {
    fit.kind.name: fit for fit in (VotesFit, LabelsFit, ScoresFit, RankingsFit, VotesAndScoresFit)
}


KINDS: dict[str, Kind[Any, Any]] = {kind.name: kind for kind in (VOTES, LABELS, SCORES, RANKINGS, JOINT)}


def kind_of(problem: Problem) -> Kind[Any, Any]:
    """Return the kind of data of a problem."""
    return KINDS[problem.model.data]


def check_kind(model: Model, table: Any) -> None:
    """Raise InputError if a model is for another kind of table.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.labels import read_labels
    >>> labels = pd.DataFrame({"judge": ["a", "b"], "item": "x", "label": ["1", "2"]})
    >>> check_kind(load_model("maple"), read_labels(labels))
    Traceback (most recent call last):
    ...
    voirdire.errors.InputError: model maple is for votes, but the table has labels; take dawid-skene, ...
    """
    table_kind, model_kind = KINDS[table.data], KINDS[model.data]
    if table_kind is model_kind:
        return
    suitable = [name for name in model_names() if KINDS[load_model(name).data] is table_kind]
    raise InputError(
        f"model {model.name} is for {model_kind.words}, but {table.called} {table_kind.words}; take "
        f"{', '.join(suitable)}"
    )


def votes_of(problem: Problem, caller: str) -> VotesProblem:
    """Return the votes of a problem of votes, or of votes and scores.

    Parameters
    ----------
    caller : str
        Name of the calling verb, for messages.

    Raises
    ------
    InputError
        The problem has no votes.
    """
    votes: VotesProblem | None = problem.part(VOTES.name)
    if votes is None:
        raise InputError(f"{caller} is for fits of votes; this is one of {kind_of(problem).words}")
    return votes


if TYPE_CHECKING:
    import pandas as pd
