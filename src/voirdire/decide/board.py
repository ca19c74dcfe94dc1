"""The verb ``board``: a fit as a leaderboard that says what it can and what it cannot tell."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.decide.cycles import clear_wins, shortest_cycle
from voirdire.decide.deciding import deciding_context
from voirdire.decide.decision import Decision, decide, is_about_people, people_needed_between
from voirdire.decide.prospects import information_factor, rank_probabilities
from voirdire.decide.reference import reference_rates
from voirdire.kinds.kind import Entrants

if TYPE_CHECKING:
    from voirdire.kinds.fit import Fit


def board(fit: Fit, prices: object = None, margin: float = 0.0) -> dict[str, Any]:
    """The leaderboard of a fit, as plain Python.

    Parameters
    ----------
    fit : Fit
        With scores and draws (any method but "map").
    prices, margin
        As of :func:`.decision.decide`.

    Returns
    -------
    dict
        What :meth:`.Fit.as_dict` has, of which ``decision`` has ``better``, the distinguishable pairs (better, worse),
        too; each of ``items`` also ``first`` and ``last`` (of ``decision.ranks``), ``loss`` (expected, in the
        unit of scores, of choosing it) and ``rank_probabilities``; of scores of systems over contexts ``items`` are the
        systems, and ``answers`` what each scored in each context; ``next``, for every two neighbours ``better``,
        ``worse``, ``difference``, ``sd``, ``apart`` (distinguishable) and, where they are not, ``more_votes`` (in the
        whole table) and ``more_contexts`` until they were, were the difference as it is now (None: beyond 100 times
        what there is, or what is asked is what people would say, of which judges' answers tell no more; then
        ``more_people`` counts people's answers to which of the two is better); ``cycle``, items of which each clearly
        beats the next and the last the first; ``deciding``, the context without which another item would be first or
        others share its place (None: no single one); ``reference``, where all votes are between one item and others
        (None elsewhere): that ``item``, and ``rates`` of winning against it (item, value, low, high, n);
        ``verdict``, in words.

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
    cycle, one = _find_cycle(fit), _find_deciding_context(fit)
    told = {
        "decision": decision.as_dict() | {"better": better},
        "next": _neighbour_rows(fit, entrants, decision),
        "cycle": cycle,
        "deciding": one,
        "reference": reference_rates(fit.kind.compared_votes(fit.problem), fit.prob),
    }
    return {**result, **told, "verdict": board_verdict(result["checks"], decision, cycle, one)}


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
    code = {name: at for at, name in enumerate(entrants.names)}
    rows = []
    for at, (one, other) in enumerate(pairwise(decision.items)):
        lead = entrants.draws[:, code[one]] - entrants.draws[:, code[other]]
        row: dict[str, Any] = {"better": one, "worse": other}
        row |= {"difference": float(lead.mean()), "sd": float(lead.std(ddof=1))}
        row |= {"apart": bool(pairs.better[at, at + 1]), "p_better": float((lead > 0.0).mean())}
        if not row["apart"] and (votes is not None or entrants.contexts):
            median, deviation = float(pairs.median[at, at + 1]), float(pairs.deviation[at, at + 1])
            factor = None if is_about_people(fit) else information_factor(median, deviation, pairs.t)
            if votes is not None:
                row["more_votes"] = None if factor is None else round((factor - 1.0) * votes.rows)
            if entrants.contexts:
                row["more_contexts"] = (
                    None if factor is None else int(np.ceil((factor - 1.0) * entrants.contexts))
                )
        if not row["apart"] and is_about_people(fit):
            place = (at, at + 1)
            found = people_needed_between(
                fit, (one, other), pairs.median[place], pairs.deviation[place], pairs.t
            )
            row["more_people"] = None if found is None else int(np.ceil(found))
        rows.append(row)
    return rows


def board_verdict(
    checks: list[dict[str, Any]], decision: Decision, cycle: list[str], context: str | None
) -> str:
    """Verdict of the board, in words: first what speaks against it, then what is best."""
    failed, warned = (
        ", ".join(row["check"] for row in checks if row["level"] == level) for level in ("fail", "warn")
    )
    said = []
    if failed:
        said.append(f"Checks failed ({failed}): do not act on this board before they are answered.")
    if cycle:
        said.append(f"No ranking is right: {' beats '.join([*cycle, cycle[0]])}.")
    if context is not None:
        said.append(f"The context {context} alone decides who is first, or who shares the first place.")
    said.append(decision.sentence())
    if decision.choice is not None:
        said.append(decision.choice.sentence())
    if warned:
        said.append(f"Warnings: {warned}.")
    return " ".join(said)
