"""Possible questions, pairs of items under a criterion for a judge or a person, and the expected answers."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from voirdire.errors import InputError, raise_problems
from voirdire.infer.posterior import integrated_scores
from voirdire.kinds.votes.comparisons import unconnected_pairs
from voirdire.kinds.votes.contexts import cell_contexts, split_by_context
from voirdire.kinds.votes.problem import VotesProblem
from voirdire.kinds.votes.response_probabilities import vote_probabilities
from voirdire.model.terms import ANCHORS, RELIABILITY, TIES
from voirdire.model.terms.term import Values
from voirdire.tables.counts import Votes
from voirdire.tables.encode import level_positions
from voirdire.tables.graph import pair_keys
from voirdire.typing import Floats, Ints

if TYPE_CHECKING:
    import pandas as pd

PERSON = "person"
# Most questions; of more, the pairs with the least certain order are kept.
MAX_QUESTIONS = 5_000
ANSWER_BATCH = 2**17  # number of answers whose probabilities are computed together


@dataclass(frozen=True, eq=False)
class Questions:
    """Possible comparisons.

    Attributes
    ----------
    judge : int array, shape (questions,)
        Code of the judge; -1 for a person, or for any judge if the model does not distinguish judges.
    criterion, first, second : int array, shape (questions,)
        Codes of the problem; the criterion one past the last stands for all criteria together.
    context : int array, shape (questions,)
        Code of the context; -1 if the model has no contexts, or not this one.
    same : int array, shape (questions,)
        Code of the comparison, equal for both orders of the items.
    cost : array, shape (questions,)
        Relative cost.
    row : int array, shape (questions,)
        Row in the source table.
    """

    judge: Ints
    criterion: Ints
    first: Ints
    second: Ints
    context: Ints
    same: Ints
    cost: Floats
    row: Ints

    def select_questions(self, chosen: Ints) -> Questions:
        """Select some of the questions."""
        return Questions(*(getattr(self, name)[chosen] for name in self.__dataclass_fields__))

    def identical_questions(self) -> list[Ints]:
        """Indices of identical questions (judge, comparison, order), the cheapest first; one array per kind."""
        same = np.stack([self.judge, self.criterion, self.first, self.second, self.context])
        kind = np.unique(same, axis=1, return_inverse=True)[1].ravel()
        order = np.lexsort((np.arange(len(kind)), self.cost, kind))
        return np.split(order, np.flatnonzero(np.diff(kind[order])) + 1)


def list_questions(problem: VotesProblem, values: Values, who: str, repeats: bool) -> Questions:
    """List the possible questions.

    These are all pairs of items under all criteria. A model with contexts has a pair in each context that holds both
    items. A table of unconnected pairs has only the pairs with votes. Without `repeats`, judges and people are not
    asked their old questions again. For judges with a coin per position, both orders of a pair are listed; otherwise
    the order has no effect, and is that of the names.

    Raises
    ------
    InputError
        If nothing is left to ask, or the model has no section [anchors], which models people's answers.
    """
    if who == PERSON and problem.model.anchors is None:
        raise InputError(
            f"model {problem.model.name} has no [anchors] section, so it does not know how people answer; "
            "take crowd-bt-position, or ask for judges"
        )
    items, votes = len(problem.items), problem.votes
    separate = problem.model.criteria == "separate"
    low, high = np.triu_indices(items, 1)
    if unconnected_pairs(problem):
        low, high = np.divmod(np.unique(pair_keys(votes, criteria=False)), items)
    criteria = np.arange(len(problem.criteria))
    if who == PERSON and separate and problem.anchors is not None and problem.anchors.overall:
        criteria = np.array([len(problem.criteria)])
    judges_alike = _judges_alike(problem)
    judges = np.array([-1]) if who == PERSON or judges_alike else np.arange(len(problem.judges))
    both_orders = who != PERSON and problem.model.position_aware
    items_met = _items_met(problem)
    context, pair = np.nonzero(items_met[:, low] & items_met[:, high])
    max_pairs = max(1, MAX_QUESTIONS // (len(criteria) * len(judges) * (1 + both_orders)))
    if len(pair) > max_pairs:
        sureness_rank = np.empty(len(low), np.int64)
        sureness_rank[_rank_uncertain_pairs(problem, values, low, high)] = np.arange(len(low))
        # one context of each of the least certain pairs, then a second context of each, ...
        by_pair = np.lexsort(((context + pair) % len(items_met), pair))
        turn = np.empty(len(pair), np.int64)
        turn[by_pair] = np.arange(len(pair)) - np.searchsorted(pair[by_pair], pair[by_pair])
        kept = np.sort(np.lexsort((sureness_rank[pair], turn))[:max_pairs])
        context, pair = context[kept], pair[kept]
    judge, criterion, where = (
        np.array(column, np.int64) for column in zip(*product(judges, criteria, np.arange(len(pair))), strict=True)
    )
    first, second, context = low[pair[where]], high[pair[where]], context[where]
    if not repeats:
        columns = (judge, criterion, first, second, context)
        is_new = ~np.isin(_question_keys(problem, *columns), _answered_keys(problem, who))
        judge, criterion, first, second, context = (column[is_new] for column in columns)
    if not len(judge):
        who_text = "people have" if who == PERSON else "every judge has"
        raise InputError(f"{who_text} answered every comparison; --repeats (repeats=True) asks some again")
    same = np.arange(len(judge))
    if both_orders:
        judge, criterion, context, same = (np.tile(column, 2) for column in (judge, criterion, context, same))
        first, second = np.concatenate([first, second]), np.concatenate([second, first])
    if not problem.density.contexts:
        context = np.full_like(context, -1)
    fields = (judge, criterion, first, second, context, same)
    return Questions(*fields, np.ones(len(judge)), np.arange(len(judge)))


def offered_questions(problem: VotesProblem, values: Values, table: pd.DataFrame) -> Questions:
    """Read the questions of a table, each to be asked once in its order; of many, keep the least certain pairs.

    Parameters
    ----------
    table : dataframe
        Columns first and second; judge if the model distinguishes judges, criterion if it has strengths by criterion;
        optionally context, which may be new, and cost, above 0.

    Raises
    ------
    InputError
        If a column is missing, or a judge, an item or a criterion is not in the fit.
    """
    separate, count = problem.model.criteria == "separate", len(table)
    name_lists = {"first": problem.items, "second": problem.items}
    name_lists |= {} if _judges_alike(problem) else {"judge": problem.judges}
    name_lists |= {"criterion": problem.criteria} if separate and problem.votes.has_criteria else {}
    problems = [f"among has no column {name!r}" for name in name_lists if name not in table]
    codes = {"judge": np.full(count, -1), "criterion": np.zeros(count, np.int64)}
    for name in [name for name in name_lists if name in table]:
        cells = [str(value) for value in table[name]]
        codes[name] = np.asarray(level_positions(cells, name_lists[name]), np.int64)
        unknown = sorted({value for value, code in zip(cells, codes[name], strict=True) if code < 0})
        problems += [f"among: {name} {value!r} has no vote so far; ask it in another way first" for value in unknown]
    cost = np.asarray(table["cost"], float) if "cost" in table else np.ones(count)
    if not (cost > 0).all():
        problems.append("among: a cost is not above 0; give what each question costs, or leave the column out")
    if not count:
        problems.append("among has no questions; nothing is left to ask")
    raise_problems(problems)
    context = np.full(count, -1)
    if problem.density.contexts and "context" in table:
        names = [str(value) for value in table["context"]]
        context = np.asarray(level_positions(names, problem.votes.contexts), np.int64)
    columns = (codes["judge"], codes["criterion"], codes["first"], codes["second"], context)
    questions = Questions(*columns, np.arange(count), cost, np.arange(count))
    if count <= MAX_QUESTIONS or len(kinds := questions.identical_questions()) <= MAX_QUESTIONS:
        return questions
    cheapest = questions.select_questions(np.array([places[0] for places in kinds]))
    kept = _rank_uncertain_pairs(problem, values, cheapest.first, cheapest.second)[:MAX_QUESTIONS]
    return questions.select_questions(np.sort(np.concatenate([kinds[index] for index in kept])))


def answer_probabilities(problem: VotesProblem, values: Values, questions: Questions, who: str) -> Floats:
    """Probability of first, second (and tie) in every draw, shape (draws, questions, 2 or 3)."""
    if who == PERSON:
        return _person_probabilities(problem, values, questions)
    judge = np.maximum(questions.judge, 0)
    codes: tuple[Ints, ...] = (judge, questions.criterion, questions.first, questions.second)
    codes += (questions.context,) if problem.density.contexts else ()
    draws, kinds = len(values["strength"]), 3 if problem.density.ties else 2
    probabilities = np.empty((draws, len(judge), kinds))
    step = max(1, ANSWER_BATCH // max(1, len(judge)))
    for start in range(0, draws, step):
        block = {name: value[start : start + step] for name, value in values.items()}
        probabilities[start : start + step] = vote_probabilities(problem, block, codes)[..., :kinds]
    return probabilities


def _person_probabilities(problem: VotesProblem, values: Values, questions: Questions) -> Floats:
    model, ties = problem.model, problem.density.ties and problem.model.ties is not None
    assert model.anchors is not None
    if "anchor" not in values:
        # Without anchors, people answer correctly with the model's prior probability.
        right = ANCHORS[model.anchors.kind].expected(model.anchors.numbers)
        values = {**values, "anchor": np.full(len(values["strength"]), right)}
    part = {name: getattr(questions, name) for name in ("criterion", "first", "second")}
    part["counts"] = np.ones((1, 3))
    if problem.density.contexts:
        part["context"] = questions.context
    log = [term for term, _ in ANCHORS[model.anchors.kind].log_parts(values, part, ties, np)]
    if not ties:
        return np.asarray(np.exp(np.stack(log[:2], axis=-1)))
    return np.asarray(np.exp(np.stack([log[0] + log[3], log[1] + log[3], log[2]], axis=-1)))


def _rank_uncertain_pairs(problem: VotesProblem, values: Values, first: Ints, second: Ints) -> Ints:
    """Indices of pairs, those with the least certain order first."""
    theta = integrated_scores(problem.density, values)
    mean, spread = theta.mean(axis=0), np.atleast_2d(np.cov(theta.T))
    variance = np.diag(spread)[first] + np.diag(spread)[second] - 2 * spread[first, second]
    sureness = np.abs(mean[first] - mean[second]) / np.sqrt(np.maximum(variance, 1e-300))
    return np.argsort(sureness, kind="stable")


def _items_met(problem: VotesProblem) -> npt.NDArray[np.bool_]:
    """Mask of the items of each context, shape (contexts, items); without contexts in the model, one row of True."""
    votes, context = problem.votes, cell_contexts(problem.votes)
    if not problem.density.contexts or context is None:
        return np.ones((1, len(problem.items)), dtype=bool)
    met = np.zeros((problem.density.contexts, len(problem.items)), dtype=bool)
    for items in (votes.first, votes.second):
        met[context, items] = True
    return met


def _question_keys(
    problem: VotesProblem, judge: Ints, criterion: Ints, first: Ints, second: Ints, context: Ints
) -> Ints:
    items, contexts = len(problem.items), max(problem.density.contexts, 1)
    low, high = np.minimum(first, second), np.maximum(first, second)
    keys: Ints = (((judge + 1) * (len(problem.criteria) + 1) + criterion) * items + low) * items + high
    return keys * contexts + context


def _judges_alike(problem: VotesProblem) -> bool:
    """True if the model does not distinguish judges."""
    model = problem.model
    habits = problem.density.ties and model.ties is not None and TIES[model.ties.kind].by_judge
    return not RELIABILITY[model.reliability.kind].keys and not habits


def _answered_keys(problem: VotesProblem, who: str) -> Ints:
    """Keys of the questions with an answer."""
    overall, anchors = False, problem.anchors
    if who != PERSON:
        votes = problem.coded_votes
        judge = votes.judge
        if _judges_alike(problem):
            return np.empty(0, np.int64)
    else:
        # people answered about items over all contexts, not in single contexts
        if anchors is None or (problem.density.contexts and anchors.votes.row_context is None):
            return np.empty(0, np.int64)
        votes = split_by_context(anchors.votes) if problem.density.contexts else anchors.votes
        judge, overall = np.full_like(votes.judge, -1), anchors.overall
    criterion = votes.criterion if problem.model.criteria == "separate" else votes.criterion * 0
    if problem.model.criteria == "separate" and overall:
        criterion = np.full_like(criterion, len(problem.criteria))
    context = _context_codes(problem, votes)
    return _question_keys(problem, judge, criterion, votes.first, votes.second, context)


def _context_codes(problem: VotesProblem, votes: Votes) -> Ints:
    """Context of each cell; 0 if the model has no contexts."""
    context = cell_contexts(votes) if problem.density.contexts else None
    return np.zeros_like(votes.first) if context is None else context


def panel_votes(problem: VotesProblem, questions: Questions) -> Ints:
    """Count the panel's answers to each comparison (in its context): first, second, ties; shape (questions, 3)."""
    votes, separate = problem.votes, problem.model.criteria == "separate"
    result = np.zeros((len(questions.first), 3), np.int64)
    vote_keys, contexts = pair_keys(votes, criteria=separate), _context_codes(problem, votes)
    size = len(problem.items)
    for row, (criterion, first, second, context) in enumerate(
        zip(questions.criterion, questions.first, questions.second, questions.context, strict=True)
    ):
        all_criteria = not separate or criterion == len(problem.criteria)
        keys = vote_keys % size**2 if all_criteria else vote_keys
        key = min(first, second) * size + max(first, second)
        matching = (keys == (key if all_criteria else criterion * size**2 + key)) & (
            (contexts == context) | (context < 0)
        )
        counts = votes.counts[matching]
        counts = np.where((votes.first[matching] == first)[:, None], counts, counts[:, [1, 0, 2]])
        result[row] = counts.sum(axis=0)
    return result
