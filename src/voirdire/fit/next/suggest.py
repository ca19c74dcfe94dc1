"""Choice of the next comparisons to ask a person or a judge."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from voirdire.errors import InputError, raise_problems
from voirdire.fit.next import spread
from voirdire.fit.next.information import (
    Unknowns,
    choose_by_entropy,
    expected_information,
    total_entropy,
    unknowns_from_codes,
)
from voirdire.fit.next.questions import (
    PERSON,
    Questions,
    answer_probabilities,
    list_questions,
    offered_questions,
    panel_votes,
)
from voirdire.fit.next.sets import stacked_questions, stacking_evidence
from voirdire.infer.posterior import integrated_scores
from voirdire.kinds.registry import votes_of
from voirdire.kinds.votes.comparisons import unconnected_pairs
from voirdire.kinds.votes.problem import VotesProblem
from voirdire.kinds.votes.results import judge_values
from voirdire.model.problem import Problem
from voirdire.model.terms.term import Values
from voirdire.settings import is_whole
from voirdire.tables.graph import pair_keys
from voirdire.typing import Floats, Ints

if TYPE_CHECKING:
    import pandas as pd

    from voirdire.kinds.fit import Fit


Who: TypeAlias = Literal["person", "judge"]
About: TypeAlias = Literal["ranking", "judges", "best"]

# Numbers of posterior draws, of draws for a first selection among many questions, and of selected questions.
DRAWS, FIRST_DRAWS, QUESTIONS_KEPT = 1000, 250, 200
# Most pairs in the utility, those with the least certain order: about all pairs of 45 items.
MAX_PAIRS = 1000
RELIABILITY_CLASSES = (0.2, 0.4, 0.6, 0.8)
# A reversed panel with a lower probability is left out for rankings.
_MIN_MIRROR_PROBABILITY = 1e-3


def next_comparisons(
    fit: Fit,
    count: int = 10,
    *,
    who: Who = "person",
    about: About | None = None,
    repeats: bool | None = None,
    among: pd.DataFrame | None = None,
    seed: int = 0,
) -> pd.DataFrame:
    """Choose the comparisons with the largest expected information.

    The utility of a question is the expected reduction, in bits, of a sum of entropies
    (`voirdire.fit.next.information`). One answer informs about many quantities, so that its utility can exceed the
    entropy of the answer. The quantities are

    - for "ranking": the order of every pair of items by their scores (with more than 45 items, of the 1,000 pairs with
      the least certain order); a batch is built by moments (`voirdire.fit.next.spread`). For a person and unconnected
      pairs: people's answers to every pair, as predicted by stacking (`voirdire.fit.next.sets`);
    - for "best": the best item of every group of items that votes connect, also by moments;
    - for "judges": the class of every judge's reliability: below 0.2, 0.4 (mostly wrong), 0.6 (near chance), 0.8, or
      above (mostly right). Votes cannot distinguish the panel from the reversed panel (the mirror), so both
      orientations are equally likely before anchors; a person's answers decide between them.

    Parameters
    ----------
    fit : Fit
        Fit of votes (or of votes and scores) with draws: by "laplace" or "nuts".
    count : int
        Number of comparisons. The batch is chosen together, so that questions do not duplicate each other.
    who : {"person", "judge"}
        The respondent: a person, modelled by the section [anchors] of the model, or one of the judges (chosen, too).
    about : {"ranking", "judges", "best"}, optional
        Target of the information; by default "judges" for a person if the model distinguishes judges, else "ranking".
    repeats : bool, optional
        True to ask a comparison again of those who have answered it; by default if the table has contexts that the
        model leaves out. In a model with contexts, comparisons in different contexts are different.
    among : dataframe, optional
        For judges: all possible questions, each row once and in its order: judge, first, second, and criterion and
        context if there are several. With a column cost (above 0), questions with the largest information for their
        cost are chosen. ``attrs["rows"]`` of the result gives their rows.
    seed : int
        Seed of the choice of draws and of the worlds to average over.

    Returns
    -------
    pandas.DataFrame
        In the order of choice: place, judge (None for a person, or if the model does not distinguish judges), criterion
        (None without), first, second, for a model with contexts context (one that holds both items), information
        (utility of the question alone), gain (utility given the answers to earlier questions), p_first, p_second, p_tie
        (probabilities of the answer), votes_first, votes_second, votes_tie (answers of the panel so far, in this
        context). ``attrs`` has ``about``, ``entropy`` (current sum, bits) and ``left`` (expected bits after all
        answers).

    Raises
    ------
    InputError
        If the request is not valid, the fit has no draws, its model has no reliabilities, or nothing is left to ask.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.fit.verb import fit
    >>> votes = {"judge": "a", "first": ["x"] * 5 + ["y"], "second": ["y"] * 5 + ["z"], "winner": "first"}
    >>> found = next_comparisons(fit(pd.DataFrame(votes), model="bradley-terry"), 1, who="judge")
    >>> found[["first", "second"]].values.tolist()
    [['y', 'z']]
    """
    check_comparisons_request(fit.problem, count, who=who, about=about, seed=seed)
    if about is None:
        about = "judges" if who == PERSON and _distinguishes_judges(fit.problem) else "ranking"
    if fit.posterior.draws is None:
        raise InputError(
            f"method {'adam' if fit.method == 'adam' else 'map'!r} has no draws, so it is not known what is uncertain; "
            "fit with 'laplace' or 'nuts'"
        )
    if among is not None and who == PERSON:
        raise InputError("among is for questions to judges; pass who='judge' with it")
    problem, rng = votes_of(fit.problem, "next_comparisons"), np.random.default_rng(seed)
    values, weights = _weighted_draws(fit, about, rng)
    search = _QuestionSearch(problem, values, weights, who)
    with_repeats = bool(problem.votes.contexts) and not problem.density.contexts if repeats is None else repeats
    questions = (
        list_questions(problem, values, who, with_repeats)
        if among is None
        else offered_questions(problem, values, among)
    )
    evidence = stacking_evidence(problem) if (who, about) == (PERSON, "ranking") else None
    if evidence is None and about != "judges":
        targets = _target_pairs(problem, values, weights, about, linked=among is not None)
        unsure = targets.unsure
        questions, expected, share = search.select_by_moments(questions, targets, count)
        chosen = np.arange(len(share))
        single_gain = expected_information(expected, unsure, weights)
        gain = single_gain * share
        entropy_left = max(total_entropy(unsure, weights) - float(gain.sum()), 0.0)
    else:
        if evidence is not None:
            questions, expected, unsure = stacked_questions(evidence, questions, rng)
            weights = np.full(len(expected), 1.0 / len(expected))
        else:
            unsure = unknowns_from_codes(np.searchsorted(RELIABILITY_CLASSES, _judge_reliability(problem, values)))
            questions = search.narrow_questions(questions, unsure)
            expected = answer_probabilities(problem, values, questions, who)
        batch = choose_by_entropy(expected, unsure, weights, count, rng, same=questions.same, cost=questions.cost)
        chosen, gain, entropy_left = batch.chosen, batch.gain, batch.expected_entropy
        single_gain = expected_information(expected[:, chosen], unsure, weights)
    entropy = total_entropy(unsure, weights)
    mean = np.einsum("s,sqy->qy", weights, expected[:, chosen])
    frame = _questions_frame(problem, questions.select_questions(chosen), who, single_gain, gain, mean)
    frame.attrs |= {"about": about, "entropy": entropy, "left": entropy_left}
    if among is not None:
        frame.attrs["rows"] = questions.row[chosen].tolist()
    return frame


def check_comparisons_request(
    problem: Problem, count: int = 10, *, who: str = PERSON, about: str | None = None, seed: int = 0
) -> None:
    """Check a request of :func:`next_comparisons` before a fit.

    Raises
    ------
    InputError
        If no fit of the problem could answer the request.
    """
    votes_of(problem, "next_comparisons")
    problems = []
    if not is_whole(count) or count < 1:
        problems.append(f"count {count!r} is not a positive whole number")
    if who not in get_args(Who):
        problems.append(f"who {who!r} is neither 'person' nor 'judge'")
    if about is not None and about not in get_args(About):
        problems.append(f"about {about!r} is none of {', '.join(get_args(About))}")
    if not is_whole(seed) or seed < 0:
        problems.append(f"seed {seed!r} is no whole number from 0")
    if about == "judges" and not _distinguishes_judges(problem):
        problems.append(
            f"model {problem.model.name} takes all judges alike; ask about the ranking, or take another model"
        )
    raise_problems(problems)


def _distinguishes_judges(problem: Problem) -> bool:
    zero_values = problem.density.values(np.zeros(problem.density.size), np)
    return not np.isnan(_judge_reliability(votes_of(problem, "next_comparisons"), zero_values)).all()


def _weighted_draws(fit: Fit, about: str, rng: np.random.Generator) -> tuple[Values, Floats]:
    """Draws and their weights: in both orientations of the panel where needed."""
    assert fit.posterior.draws is not None
    problem, density = votes_of(fit.problem, "next_comparisons"), fit.problem.density
    x = fit.posterior.draws.reshape(-1, density.size)
    x = x[np.sort(rng.permutation(len(x))[:DRAWS])]
    log = np.zeros(len(x))
    if density.has_mirror and not (fit.anchored is not None and fit.anchored.mode == "cut"):
        x = density.fold_orientations(x, problem.data)[0]
        mirrored = np.asarray(density.mirror_values(x, np))
        log_odds = _log_orientation(problem, mirrored, about) - _log_orientation(problem, x, about)
        # Folded draws have weight 1, their mirror images the odds of the reversed orientation.
        if about == "judges" or np.exp(log_odds).mean() > _MIN_MIRROR_PROBABILITY:
            x, log = np.concatenate([x, mirrored]), np.concatenate([log, log_odds])
    weights = np.exp(log - log.max())
    return density.values(x, np), weights / weights.sum()


def _log_orientation(problem: VotesProblem, x: Floats, about: str) -> Floats:
    if about != "judges":
        return np.asarray(problem.density.log_orientation(x, problem.data, np))
    people = problem.density.log_people_likelihood(problem.density.values(x, np), problem.data, np)
    return np.broadcast_to(np.asarray(people, dtype=float), x.shape[:-1])


@dataclass(frozen=True, eq=False)
class _Targets:
    """Targets of the information.

    Attributes
    ----------
    unsure : Unknowns
        The unknown quantities.
    gaps : array, shape (draws, pairs)
        Differences of the scores of pairs of items.
    matters : array, shape (pairs,)
        Weight of the order of each pair.
    """

    unsure: Unknowns
    gaps: Floats
    matters: Floats


def _target_pairs(problem: VotesProblem, values: Values, weights: Floats, about: str, linked: bool) -> _Targets:
    """The order of all pairs of items (if `linked`, of those that votes connect), or of candidates for the first two.

    Of more than `MAX_PAIRS` pairs, the least certain or those with the largest weight are used.
    """
    theta, groups = integrated_scores(problem.density, values), _linked_groups(problem)
    items = theta.shape[1]
    first, second = np.triu_indices(items, 1)
    if about == "best":
        best = unknowns_from_codes(np.stack([theta[:, group].argmax(axis=1) for group in groups], axis=1))
        top_two_weight = np.zeros((items, items))
        for group in groups:
            if len(group) > 1:
                low, high = np.sort(group[np.argsort(-theta[:, group], axis=1)[:, :2]], axis=1).T
                np.add.at(top_two_weight, (low, high), weights)
        matters = top_two_weight[first, second]
        kept = np.argsort(-matters, kind="stable")[: min(MAX_PAIRS, int((matters > 0).sum()))]
        first, second = first[kept], second[kept]
        return _Targets(best, theta[:, first] - theta[:, second], matters[kept])
    if unconnected_pairs(problem):
        first, second = np.divmod(np.unique(pair_keys(problem.votes, criteria=False)), items)
    elif linked:
        code = np.zeros(items, np.int64)
        for number, group in enumerate(groups):
            code[group] = number
        same_group = code[first] == code[second]
        first, second = first[same_group], second[same_group]
    if len(first) > MAX_PAIRS:
        parts = np.array_split(np.arange(len(first)), -(-len(first) // MAX_PAIRS))
        p_first = np.concatenate([weights @ (theta[:, first[part]] > theta[:, second[part]]) for part in parts])
        kept = np.argsort(np.abs(p_first - 0.5), kind="stable")[:MAX_PAIRS]
        first, second = first[kept], second[kept]
    gaps = theta[:, first] - theta[:, second]
    return _Targets(unknowns_from_codes((gaps > 0).astype(np.int64)), gaps, np.ones(len(first)))


def _linked_groups(problem: VotesProblem) -> list[Ints]:
    """Groups of items that votes connect."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    votes, items = problem.votes, len(problem.items)
    links = coo_array((np.ones(len(votes.first)), (votes.first, votes.second)), shape=(items, items))
    group = connected_components(links, directed=False)[1]
    return [np.flatnonzero(group == number) for number in range(group.max() + 1)]


def _judge_reliability(problem: VotesProblem, values: Values) -> Floats:
    return judge_values(problem, values)["reliability"]


@dataclass(frozen=True, eq=False)
class _QuestionSearch:
    """Weighted draws of a fit, for a search among questions to one kind of respondent."""

    problem: VotesProblem
    values: Values
    weights: Floats
    judge: str

    def first_look(self, questions: Questions, gain_function: Callable[[Floats, Ints, Floats], Floats]) -> Floats:
        """Gain of each question over its cost from a subset of the draws, computed in batches of questions.

        ``gain_function`` maps the answer probabilities, the indices of these draws and their weights to gains.
        """
        draws = np.unique(np.linspace(0, len(self.weights) - 1, FIRST_DRAWS).astype(int))
        drawn = {name: value[draws] for name, value in self.values.items()}
        share = self.weights[draws] / self.weights[draws].sum()
        gains: list[Floats] = []
        for start in range(0, len(questions.first), 4 * QUESTIONS_KEPT):
            batch = questions.select_questions(np.arange(start, min(start + 4 * QUESTIONS_KEPT, len(questions.first))))
            expected = answer_probabilities(self.problem, drawn, batch, self.judge)
            gains.append(gain_function(expected, draws, share) / batch.cost)
        return np.concatenate(gains)

    def narrow_questions(self, questions: Questions, unsure: Unknowns) -> Questions:
        """Select the questions with the largest information from a subset of the draws."""
        if len(questions.first) <= QUESTIONS_KEPT:
            return questions

        def information(expected: Floats, some: Ints, share: Floats) -> Floats:
            return expected_information(expected, Unknowns(unsure.hot[some], unsure.starts), share)

        gain = self.first_look(questions, information)
        return questions.select_questions(np.sort(np.argsort(-gain, kind="stable")[:QUESTIONS_KEPT]))

    def select_by_moments(
        self, questions: Questions, targets: _Targets, count: int
    ) -> tuple[Questions, Floats, Floats]:
        """The chosen questions in order, their answer probabilities, and the share of each gain given earlier ones."""
        kinds = questions.identical_questions()
        representatives = questions.select_questions(np.array([kind[0] for kind in kinds]))
        if len(kinds) > QUESTIONS_KEPT:

            def pair_information(expected: Floats, some: Ints, share: Floats) -> Floats:
                return spread.weighted_moments(expected, targets.gaps[some], share, targets.matters).question_gains

            gain = self.first_look(representatives, pair_information)
            kept = np.sort(np.argsort(-gain, kind="stable")[: max(QUESTIONS_KEPT, 2 * count)])
            representatives, kinds = representatives.select_questions(kept), [kinds[place] for place in kept]
        expected = answer_probabilities(self.problem, self.values, representatives, self.judge)
        copies = np.array([len(kind) for kind in kinds])
        moments = spread.weighted_moments(expected, targets.gaps, self.weights, targets.matters)
        chosen, share = spread.choose_by_moments(
            moments, count, same=representatives.same, cost=representatives.cost, copies=copies
        )
        copies_of = [iter(kind) for kind in kinds]
        places = [next(copies_of[kind]) for kind in chosen]
        return questions.select_questions(np.array(places, np.int64)), expected[:, chosen], share


def _questions_frame(
    problem: VotesProblem, questions: Questions, who: str, alone: Floats, gain: Floats, mean: Floats
) -> pd.DataFrame:
    import pandas as pd

    separate = problem.model.criteria == "separate" and problem.votes.has_criteria
    criteria = [*problem.criteria, None] if separate else [None] * (len(problem.criteria) + 1)
    judges = [*problem.judges, None]
    votes = panel_votes(problem, questions)
    columns: dict[str, Any] = {
        "place": np.arange(1, len(gain) + 1),
        "judge": pd.Series([judges[code] for code in questions.judge], dtype=object),
        "criterion": pd.Series([criteria[code] for code in questions.criterion], dtype=object),
        "first": np.array(problem.items, dtype=object)[questions.first],
        "second": np.array(problem.items, dtype=object)[questions.second],
    }
    if problem.density.contexts:
        contexts = [*problem.votes.contexts, None]
        columns["context"] = pd.Series([contexts[code] for code in questions.context], dtype=object)
    columns |= {"information": alone, "gain": gain}
    for prefix, part in (("p", np.pad(mean, ((0, 0), (0, 3 - mean.shape[1])))), ("votes", votes)):
        columns |= {f"{prefix}_{name}": part[:, place] for place, name in enumerate(("first", "second", "tie"))}
    return pd.DataFrame(columns)
