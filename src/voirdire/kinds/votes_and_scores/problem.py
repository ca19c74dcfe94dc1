"""Encoding of votes and scores for a density, and checks of their fits.

The parameters are strengths theta_c,i, a discrimination a_k > 0 of judge k, the same in votes and scores, and the ratio
m of the discrimination in votes to that in scores:

    vote    P(first) = sigmoid(m a_k (theta_c,first - theta_c,second) + b_k), ties as in Davidson's model
    score   P(y > level l) = sigmoid(a_k theta_c,i - severity_k - kappa_c,l)

(Bradley-Terry with a discrimination of each judge, arXiv 2602.16610, and the graded response model, Samejima 1969, with
judges instead of questions.) The density (:class:`.VotesAndScoresDensity`) joins that of the votes
(:class:`voirdire.kinds.votes.density.VotesDensity`) and that of the scores
(:class:`voirdire.kinds.scores.density.ScoresDensity`), which share parameters.

Identification: strengths sum to zero over the items of each criterion, and severities over the judges, so that the
cutpoints have the location. log a sums to zero over the judges, so that the noise of the typical judge's score
(logistic, scale 1) is the unit of the strengths. Items with both votes and scores identify m; if there are fewer than
two, m rests on the prior. As a_k > 0, the scores determine the orientation, and there is no mirror.

With learned spreads (``joint-contexts``) items have effects of contexts, of judges' tastes and, if families of judges
are named, of families, in both tables. a_k then also applies to severities and to the location of cutpoints; see
:class:`.LearnedLinkedPosition`.

Checks are those of both parts, and of the link between votes and scores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from voirdire.kinds.checks import CheckBasis, linked_items_check
from voirdire.kinds.column_checks import effect_checks, has_recurring_items
from voirdire.kinds.further_terms import ResolvedTerms, has_family_terms, with_families
from voirdire.kinds.scores.checks import constant_judges_check, weights_check
from voirdire.kinds.scores.problem import ScoresProblem, encode_scores
from voirdire.kinds.scores.weights import CriterionImportance, read_criterion_importance
from voirdire.kinds.votes import trust as trusting
from voirdire.kinds.votes.people import Anchors
from voirdire.kinds.votes.position import position_check
from voirdire.kinds.votes.problem import VotesProblem, encode_votes
from voirdire.kinds.votes_and_scores.density import VotesAndScoresDensity
from voirdire.model.problem import Check, Problem, list_names
from voirdire.model.specs import Model, Section
from voirdire.tables.votes import VoteRows
from voirdire.tables.votes_and_scores import VotesAndScores, with_common_names
from voirdire.trust.checks import check_dependent_judges, check_influence
from voirdire.trust.residuals import Residuals
from voirdire.typing import Floats


@dataclass(frozen=True, eq=False)
class VotesAndScoresProblem(Problem):
    """Model and two tables of the same items, ready for inference; ``data`` has the tables of both parts.

    Attributes
    ----------
    of_votes : VotesProblem
        Problem of the votes, in the common coding.
    of_scores : ScoresProblem
        Problem of the scores, in the common coding.
    """

    density: VotesAndScoresDensity
    of_votes: VotesProblem
    of_scores: ScoresProblem

    @property
    def added(self) -> ResolvedTerms:
        """Terms of both parts beside those of the sections of the model."""
        concerned = {*self.of_votes.added.concerned, *self.of_scores.added.concerned}
        return replace(self.of_votes.added, concerned=tuple(sorted(concerned)))

    def part(self, data: str) -> Any:
        """Return the problem of the votes, of the scores, or of both."""
        parts = {problem.model.data: problem for problem in (self.of_votes, self.of_scores)}
        return parts.get(data, super().part(data))

    @property
    def coords(self) -> dict[str, list[str]]:
        """Names of the levels of each dimension."""
        return self.of_scores.coords | {"context": list(self.tables.contexts)}

    @property
    def tables(self) -> VotesAndScores:
        """The two tables."""
        return VotesAndScores(self.of_votes.votes, self.of_scores.table)


def encode_votes_and_scores(
    model: Model,
    tables: VotesAndScores,
    *,
    levels: Sequence[object] | None = None,
    criteria: object = None,
    anchors: Anchors | None = None,
    answer_weight: Floats | None = None,
    ties: bool | None = None,
    repeats: bool | None = None,
    keep_empty: bool = False,
    over: str = "new",
    families: Mapping[str, str] | None = None,
) -> VotesAndScoresProblem:
    """Encode votes and scores for a model.

    Parameters
    ----------
    levels : sequence, optional
        Levels of the scale of the scores.
    criteria : path, dataframe, Votes or CriterionImportance, optional
        Weights of the criteria or votes on them, as for scores.
    anchors : Anchors, optional
        Human answers to comparisons.
    answer_weight : array, shape (judges,), optional
        Weight of one answer of each judge; judges sorted by name.
    ties, repeats, keep_empty, over
        As for :func:`.votes.problem.encode_votes` and :func:`.scores.problem.encode_scores`.
    families : mapping, optional
        Family of each judge, for models with a term of families.

    Raises
    ------
    InputError
        Errors of these two functions.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.model.specs import load_model
    >>> from voirdire.tables.votes_and_scores import read_votes_and_scores
    >>> votes = pd.DataFrame({"judge": "a", "first": ["x"], "second": "y", "winner": "x"})
    >>> scores = pd.DataFrame({"judge": ["a", "b"], "item": ["x", "z"], "score": [1, 2]})
    >>> problem = encode_votes_and_scores(load_model("joint-position"), read_votes_and_scores([votes, scores]))
    >>> problem.items, problem.judge_votes.tolist()
    (('x', 'y', 'z'), [2, 1])
    """
    of_votes, of_scores = model.part("votes"), model.part("scores")
    importance = read_criterion_importance(criteria, tables.scores.criteria, ties=model.ties is not None)
    on_criteria, weights = importance.check_model(model)
    if on_criteria is None:
        of_votes = replace(of_votes, weights=Section("uniform"))  # there is no data on weights
    else:
        tables = with_common_names(tables.votes, tables.scores, on_criteria.judges)
    contexts = model.context is not None and any(has_recurring_items(table) for table in tables.parts)
    of_votes = of_votes if contexts else replace(of_votes, context=None)
    shared_options: dict[str, Any] = {"answer_weight": answer_weight, "over": over}
    shared_options["tastes"] = len(tables.judges) > 1 and (contexts or len(tables.criteria) > 1)
    options: dict[str, Any] = {"levels": levels, "repeats": repeats, "contexts": contexts}
    options |= {"criteria": CriterionImportance(weights=weights), "families": families}
    score_table = replace(tables.scores, contexts=tables.contexts) if contexts else tables.scores
    scores = encode_scores(of_scores, score_table, complete=False, **options, **shared_options)
    options = {"anchors": anchors, "keep_empty": keep_empty}
    vote_table = tables.votes
    if has_family_terms(model):
        vote_table = with_families(VoteRows(vote_table), families or {}).votes
    votes = encode_votes(of_votes, vote_table, on_criteria, ties=ties, **options, **shared_options)
    sizes = len(tables.judges), len(tables.criteria), len(tables.items)
    compared = round(2.0 * float(tables.votes.counts.sum()) / (sizes[1] * sizes[2]), 1)
    compared = 0.0 if scores.density.uses_marginal_likelihood else compared
    votes = replace(votes, density=replace(votes.density, compared=compared), beside_scores=True)
    density = VotesAndScoresDensity(model, *sizes, votes.density, scores.density)
    names = (tables.judges, tables.criteria, tables.items)
    answers = votes.judge_votes + scores.judge_votes
    return VotesAndScoresProblem(density, votes.data | scores.data, *names, answers, votes, scores)


# largest numbers of strengths and tastes, and of answers, of a default with learned spreads
MAX_LATENT_VALUES, MAX_ROWS = (5_000, 50_000)


def reason_too_large(tables: VotesAndScores, contexts: bool, families: int = 0) -> str:
    """Reason not to use tastes, and contexts if there are any, by default; empty to use them.

    ``families`` is the number of families of judges.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.votes_and_scores import read_votes_and_scores
    >>> votes = pd.DataFrame({"judge": "a", "first": ["x"], "second": "y", "winner": "x"})
    >>> scores = pd.DataFrame({"judge": "b", "item": ["x", "z"], "score": [1, 2]})
    >>> reason_too_large(read_votes_and_scores([votes, scores]), contexts=False)
    ''
    >>> reason_too_large(read_votes_and_scores([votes, scores]), contexts=False, families=2_000)
    '3 answers about 3 items would take many minutes'
    """
    items, rows = len(tables.items), tables.votes.rows + tables.scores.rows
    places = len(tables.criteria) * (1 + contexts * len(tables.contexts))
    if items * (places + len(tables.judges) + families) <= MAX_LATENT_VALUES and rows <= MAX_ROWS:
        return ""
    context_words = f" in {len(tables.contexts):,} contexts" if contexts else ""
    return f"{rows:,} answers about {items:,} items{context_words} would take many minutes"


MIN_LINKING_ITEMS = 3  # items with both votes and scores from which the ratio m is identified


def all_checks(
    problem: VotesAndScoresProblem, basis: CheckBasis, of_votes: Residuals, residuals: Residuals
) -> list[Check]:
    """Make the checks of a fit of votes and scores; ``residuals`` are of both tables, ``of_votes`` of votes."""
    votes = problem.of_votes
    return [
        connectivity_check(problem),
        link_check(problem),
        *constant_judges_check(problem.of_scores),
        *([] if votes.criteria_votes else weights_check(problem.of_scores, "joint-position")),
        *([] if votes.anchors is None else [trusting.human_agreement_check(votes, basis.posterior)]),
        *effect_checks(problem, basis.posterior, [VoteRows(votes.coded_votes), problem.of_scores.table]),
        *trusting.same_criteria_check(votes, basis.posterior),
        *check_dependent_judges(problem, residuals, basis.seed),
        *position_check(votes, of_votes, basis.judges),
        *trusting.splitting_items_check(votes, of_votes),
        *trusting.ties_check(votes, basis.posterior),
        *check_influence(problem, basis.posterior),
    ]


def connectivity_check(problem: VotesAndScoresProblem) -> Check:
    """Check that votes and judges who score link all items.

    Examples
    --------
    >>> import pandas as pd
    >>> import voirdire
    >>> votes = pd.DataFrame({"judge": "a", "first": ["x", "u"], "second": ["y", "v"], "winner": "first"})
    >>> scores = pd.DataFrame({"judge": "b", "item": ["x", "y"], "score": [1, 2]})
    >>> connectivity_check(voirdire.fit([votes, scores], method="map").problem).level
    'warn'
    """
    votes, scores = problem.tables.votes, problem.tables.scores
    cell = np.arange(len(votes.first))
    return linked_items_check(
        problem,
        np.concatenate([scores.judge, *[len(problem.judges) + cell] * 2]),
        np.concatenate([scores.criterion, votes.criterion, votes.criterion]),
        np.concatenate([scores.item, votes.first, votes.second]),
        "Every item can be compared with every other.",
        "neither votes nor judges who score link them, so their relative strength is the prior's alone. Collect votes "
        "between the groups, or let a judge score items of both.",
    )


def link_check(problem: VotesAndScoresProblem) -> Check:
    """Check that enough items have both votes and scores to identify the discrimination of votes relative to scores."""
    names = [problem.items[i] for i in np.flatnonzero(problem.tables.voted_and_scored.any(axis=0))]
    count = len(names)
    if count >= MIN_LINKING_ITEMS:
        return Check("link", "ok", float(count), f"{count} items have both votes and scores.")
    message = (
        f"Only {list_names(names, verb=False)} {'has' if count == 1 else 'have'} both votes and scores, so the "
        "discrimination of votes relative to scores is set by the prior. Collect scores of items that were voted on."
    )
    return Check("link", "warn", float(count), message)
