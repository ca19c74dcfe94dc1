"""The verb ``board``: the leaderboard of a fit, decided differences, and win rates against a reference.

Deciding context: a context (prompt) without which the first place would differ. Over the contexts, :mod:`.pairs` gives
the first item and those that share its place. A context decides where its removal changes that result and it is an
outlier: its lead of the first over a concerned item is many robust standard deviations from the lead in the other
contexts, and the draws show this clearly.

Cycles: items of which each clearly beats the next, and the last beats the first, so that no ranking is right.

A pair is clear where its votes favour one item by more than chance allows among all pairs (Bonferroni); votes of one
context count as one witness. Without a true cycle, one is found only if some pair is clear in the wrong direction. A
preference for the item shown first looks like a cycle where pairs were shown in one order: those are left out.

Win rates against a reference, where every vote compares the same item with another.

The rate of an item is the mean of its votes, 1 for a win, 1/2 for a tie (for a vote with a degree, the degree), as in
leaderboards with a fixed baseline. Its variance is clustered by contexts (prompts): the sum over contexts of the
squared sum of residuals, times G / (G - 1) over n^2; without contexts, votes are the clusters. The interval is
Wilson's (1927, Journal of the American Statistical Association 22) with the number of votes that would have that
variance. The rate describes these votes: unlike the scores of the board, it is not corrected for biases of judges and
lengths.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from voirdire.agreement.engine.intervals import wilson_ends
from voirdire.decide.choice_cost import information_growth_factor, rank_probabilities
from voirdire.decide.decision import Decision, decide, is_about_people, people_needed_between
from voirdire.decide.pairs import compare_pairs
from voirdire.kinds.kind import Entrants
from voirdire.tables.counts import Votes
from voirdire.tables.graph import fixed_order_rule
from voirdire.typing import Floats, Ints

if TYPE_CHECKING:
    from voirdire.kinds.fit import Fit


def reference_rates(votes: Votes | None, prob: float) -> dict[str, Any] | None:
    """Win rate of every item against the item in all votes; None where there is no such item.

    Parameters
    ----------
    votes : Votes or None
        Votes under one criterion; with several the result is None.
    prob : float
        Coverage of the intervals.

    Returns
    -------
    dict or None
        item (the reference) and rates, the highest first: item, value, low, high (None with fewer than two contexts),
        n (votes).

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.votes import read_votes
    >>> rows = {"judge": "a", "first": ["x", "x", "y", "y"], "second": "base", "winner": ["x", "x", "y", "base"]}
    >>> found = reference_rates(read_votes(pd.DataFrame(rows)), 0.9)
    >>> found["item"], [(row["item"], row["value"], row["n"]) for row in found["rates"]]
    ('base', [('x', 1.0, 2), ('y', 0.5, 2)])
    """
    if votes is None or len(votes.criteria) > 1 or not len(votes.first):
        return None
    candidates = [
        item
        for item in {int(votes.first[0]), int(votes.second[0])}
        if ((votes.first == item) | (votes.second == item)).all()
    ]
    if len(candidates) != 1:
        return None
    cell, reference = votes.row_cell, candidates[0]
    other = np.where(votes.first == reference, votes.second, votes.first)[cell]
    first_points = np.array([1.0, 0.0, 0.5])[votes.row_outcome]
    if votes.details is not None and votes.details.degree is not None:
        first_points = 0.5 + (first_points - 0.5) * (2.0 * votes.details.degree - 1.0)
    won = np.where(votes.first[cell] == reference, 1.0 - first_points, first_points)
    context = np.arange(len(won)) if votes.row_context is None else votes.row_context
    rows = []
    for item in np.unique(other).tolist():
        of_item = other == item
        row = {"item": votes.items[item], **_mean_vote(won[of_item], context[of_item], prob), "n": int(of_item.sum())}
        rows.append(row)
    return {"item": votes.items[reference], "rates": sorted(rows, key=lambda row: -row["value"])}


def _mean_vote(won: Floats, context: Ints, prob: float) -> dict[str, float | None]:
    """Mean of the votes with its interval."""
    p, groups = float(won.mean()), np.unique(context, return_inverse=True)[1]
    size = int(groups.max()) + 1
    if size < 2:
        return {"value": p, "low": None, "high": None}
    sums = np.bincount(groups, won - p)
    variance = float(sums @ sums) * size / (size - 1) / len(won) ** 2
    n = p * (1.0 - p) / variance if variance > 0.0 else float(size)
    low, high = wilson_ends(p, n, float(ndtri((1.0 + prob) / 2.0)))
    return {"value": p, "low": max(low, 0.0), "high": min(high, 1.0)}


OUTLIER_SDS = 3.5  # robust standard deviations from the other contexts
CLEAR_GAP_SDS = 3.0  # standard deviations of the draws between a lead and that in the other contexts
MAD_TO_SD = 1.4826  # standard deviation over median absolute deviation, for a normal distribution
MAX_CONTEXTS_TRIED = 10  # contexts left out in turn: those furthest from the others


def deciding_context(draws: Floats, level: float) -> int | None:
    """The context that alone decides the first place; None where there is none.

    Parameters
    ----------
    draws : array, shape (draws, contexts, items)
        Strength of each item in each context.
    level : float
        Probability that all statements about pairs of items are right.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> strength = np.array([[0.0, 0.2]] * 9 + [[0.1, 0.2], [4.0, 0.0]])
    >>> deciding_context(strength + 0.1 * rng.normal(size=(2000, 11, 2)), 0.95)
    10
    >>> deciding_context(strength[:9] + 0.1 * rng.normal(size=(2000, 9, 2)), 0.95)
    """
    contexts = draws.shape[1]
    if contexts < 3:
        return None
    total = draws.sum(axis=1)
    first, sharing = _first_place(total / contexts, level)
    strength = draws.mean(axis=0)
    deviation = _lead_deviations(strength, first)
    for x in np.argsort(-deviation.max(axis=1), kind="stable")[:MAX_CONTEXTS_TRIED]:
        if deviation[x].max() <= OUTLIER_SDS:
            return None
        mean_without = (total - draws[:, x]) / (contexts - 1)
        first_without, sharing_without = _first_place(mean_without, level)
        concerned = (sharing ^ sharing_without) if first_without == first else np.arange(len(sharing)) == first_without
        lead = draws[:, x] - mean_without
        gap = lead[:, [first]] - lead
        sure = np.abs(gap.mean(axis=0)) > CLEAR_GAP_SDS * gap.std(axis=0)
        if (concerned & sure & (deviation[x] > OUTLIER_SDS)).any():
            return int(x)
    return None


def _first_place(scores: Floats, level: float) -> tuple[int, np.ndarray]:
    """The highest of the items that share the first place, and a mask of these, from draws (draws, items)."""
    first = compare_pairs(scores, level).in_first_place
    return int(np.where(first, scores.mean(axis=0), -np.inf).argmax()), first


def _lead_deviations(strength: Floats, first: int) -> Floats:
    """Robust distance of the first's lead over each item from its median over contexts, shape (contexts, items)."""
    lead = strength[:, [first]] - strength
    deviation = np.abs(lead - np.median(lead, axis=0))
    return np.asarray(deviation / (MAD_TO_SD * np.maximum(np.median(deviation, axis=0), 1e-9)))


ALPHA = 0.05  # probability that any pair is called clear in the wrong direction
MIN_WITNESSES = 6  # smallest number of witnesses for a pair


def clear_wins(votes: Votes, alpha: float = ALPHA) -> Ints:
    """Pairs (better, worse) that differ significantly by a t test over their witnesses, shape (pairs, 2)."""
    from scipy.special import stdtr

    low, high = votes.question_codes[1:3]
    net = np.select([votes.answers == low, votes.answers == high], [1.0, -1.0], 0.0)
    size, swapped = len(votes.items), votes.first[votes.row_cell] == high
    pair = low * size + high
    witness = np.arange(votes.rows) if votes.row_context is None else votes.row_context
    keys, unit = np.unique(np.stack([pair, witness]), axis=1, return_inverse=True)
    total, answers = np.bincount(unit.ravel(), net), np.bincount(unit.ravel())
    pairs, place = np.unique(keys[0], return_inverse=True)
    witnesses = np.bincount(place)
    net_share = np.bincount(place, total) / np.bincount(place, answers)
    # variance of totals about their expectation for the same number of answers (a ratio estimator)
    variance = np.bincount(place, (total - net_share[place] * answers) ** 2) / np.maximum(witnesses - 1, 1)
    t_statistic: Floats = np.abs(np.bincount(place, total)) / np.sqrt(np.maximum(variance, 1e-12) * witnesses)
    enough = witnesses >= MIN_WITNESSES
    if fixed_order_rule(votes) is None:
        pair_index = np.searchsorted(pairs, pair)
        enough &= (np.bincount(pair_index, swapped, len(pairs)) > 0) & (
            np.bincount(pair_index, ~swapped, len(pairs)) > 0
        )
    # unanimous witnesses have no variance: their number bounds the p value
    p = np.maximum(stdtr(np.maximum(witnesses - 1, 1), -t_statistic), 0.5**witnesses)
    clear = enough & (p < alpha / max(len(pairs), 1))
    low, high = pairs // size, pairs % size
    better, worse = np.where(net_share > 0, low, high)[clear], np.where(net_share > 0, high, low)[clear]
    return np.stack([better, worse], axis=1)


def shortest_cycle(wins: Ints, items: int) -> list[int]:
    """A shortest cycle of pairs (better, worse); empty where there is none.

    Examples
    --------
    >>> shortest_cycle(np.array([[0, 1], [1, 2], [2, 0], [0, 3]]), 4)
    [0, 1, 2]
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import breadth_first_order

    graph = coo_array((np.ones(len(wins)), tuple(wins.T)), shape=(items, items)).tocsr()
    beats = graph.toarray() > 0.0
    best: list[int] = []
    for start in range(items):
        order, before = breadth_first_order(graph, start)
        closing = order[beats[order, start]]
        if len(closing):
            path = [int(closing[0])]
            while path[-1] != start:
                path.append(int(before[path[-1]]))
            if not best or len(path) < len(best):
                best = path[::-1]
    return best


def board(fit: Fit, prices: object = None, margin: float = 0.0) -> dict[str, Any]:
    """The leaderboard of a fit, as plain Python.

    Parameters
    ----------
    fit : Fit
        With scores and draws (any method but "map").
    prices, margin
        As in :func:`.decision.decide`.

    Returns
    -------
    dict
        The entries of :meth:`.Fit.as_dict`, with these additions. ``decision`` has ``better``, the distinguishable
        pairs (better, worse); each of ``items`` has ``first`` and ``last`` (of ``decision.ranks``), ``loss`` (expected
        loss of choosing it, in the unit of scores) and ``rank_probabilities``. For scores of systems over contexts,
        ``items`` are the systems and ``answers`` the scores of each in each context. ``next`` has for every two
        neighbours ``better``, ``worse``, ``difference``, ``sd``, ``apart`` (distinguishable) and, where they are not,
        ``more_votes`` (in the whole table) and ``more_contexts`` needed to distinguish them if the difference stays as
        it is (None: more than 100 times the present number, or the target is people's opinion, about which more judges'
        answers add nothing; then ``more_people`` counts people's answers to which of the two is better). ``cycle``:
        items of which each clearly beats the next and the last the first. ``deciding``: the context without which the
        first place would differ (None: no single one). ``reference``: where all votes are between one item and others
        (otherwise None), that ``item`` and ``rates`` of winning against it (item, value, low, high, n).
        ``verdict``: a text.

    Raises
    ------
    InputError
        The fit has no scores or no draws.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.fit.verb import fit
    >>> table = pd.DataFrame({"judge": "a", "first": "x", "second": "y", "winner": ["x"] * 9 + ["y"] * 7})
    >>> board(fit(table, model="bradley-terry"))["decision"]["first"]
    ['x', 'y']
    """
    entrants = fit.kind.board_entrants(fit.problem, fit.posterior, fit.prob)
    decision, result = decide(fit, prices, margin), fit.as_dict()
    if entrants.names != fit.problem.items:
        result |= {"answers": result.pop("items"), "items": entrants.rows}
    ranks = dict(zip(entrants.names, rank_probabilities(entrants.draws), strict=True))
    loss = dict(zip(decision.items, decision.loss.tolist(), strict=True))
    for row in result["items"]:
        first, last = decision.ranks.get(row["item"], (1, len(ranks)))
        row |= {"first": first, "last": last, "loss": loss.get(row["item"])}
        row |= {"rank_probabilities": ranks[row["item"]].round(4).tolist()}
    better = [[decision.items[i], decision.items[j]] for i, j in np.argwhere(decision.pairs.better)]
    cycle, context = _find_cycle(fit), _find_deciding_context(fit)
    additions = {
        "decision": decision.as_dict() | {"better": better},
        "next": _neighbour_rows(fit, entrants, decision),
        "cycle": cycle,
        "deciding": context,
        "reference": reference_rates(fit.kind.compared_votes(fit.problem), fit.prob),
    }
    return {**result, **additions, "verdict": board_verdict(result["checks"], decision, cycle, context)}


def _find_deciding_context(fit: Fit) -> str | None:
    draws = fit.kind.in_contexts(fit.problem, fit.posterior)
    place = None if draws is None else deciding_context(draws, 0.5 * (1.0 + fit.prob))
    return None if place is None else fit.problem.coords["context"][place]


def _find_cycle(fit: Fit) -> list[str]:
    votes = fit.kind.compared_votes(fit.problem)
    if votes is None:
        return []
    return [votes.items[i] for i in shortest_cycle(clear_wins(votes), len(votes.items))]


def _neighbour_rows(fit: Fit, entrants: Entrants, decision: Decision) -> list[dict[str, Any]]:
    votes, pairs = fit.kind.compared_votes(fit.problem), decision.pairs
    code = {name: index for index, name in enumerate(entrants.names)}
    rows = []
    for place, (better, worse) in enumerate(pairwise(decision.items)):
        lead = entrants.draws[:, code[better]] - entrants.draws[:, code[worse]]
        row: dict[str, Any] = {"better": better, "worse": worse}
        row |= {"difference": float(lead.mean()), "sd": float(lead.std(ddof=1))}
        row |= {"apart": bool(pairs.better[place, place + 1]), "p_better": float((lead > 0.0).mean())}
        if not row["apart"] and (votes is not None or entrants.contexts):
            gap = pairs.gap_between(place, place + 1)
            factor = None if is_about_people(fit) else information_growth_factor(*gap)
            if votes is not None:
                row["more_votes"] = None if factor is None else round((factor - 1.0) * votes.rows)
            if entrants.contexts:
                extra_contexts = None if factor is None else int(np.ceil((factor - 1.0) * entrants.contexts))
                row["more_contexts"] = extra_contexts
        if not row["apart"] and is_about_people(fit):
            people_count = people_needed_between(fit, (better, worse), *pairs.gap_between(place, place + 1))
            row["more_people"] = None if people_count is None else int(np.ceil(people_count))
        rows.append(row)
    return rows


def board_verdict(checks: list[dict[str, Any]], decision: Decision, cycle: list[str], context: str | None) -> str:
    """Verdict of the board, in words: first the problems, then the best item."""
    failed, warned = (", ".join(row["check"] for row in checks if row["level"] == level) for level in ("fail", "warn"))
    sentences = []
    if failed:
        sentences.append(f"Checks failed ({failed}): do not act on this board before they are resolved.")
    if cycle:
        sentences.append(f"No ranking is right: {' beats '.join([*cycle, cycle[0]])}.")
    if context is not None:
        sentences.append(f"The context {context} alone decides who is first, or who shares the first place.")
    sentences.append(decision.sentence())
    if decision.choice is not None:
        sentences.append(decision.choice.sentence())
    if warned:
        sentences.append(f"Warnings: {warned}.")
    return " ".join(sentences)
