"""The verb ``board``: a fit as a leaderboard that says what it can and what it cannot tell."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.fit.board.apart import LEVEL, Apart, tied_sets, told_apart
from voirdire.fit.board.cycles import clear_wins, shortest_cycle
from voirdire.fit.board.deciding import deciding
from voirdire.fit.board.prospects import expected_loss, rank_probabilities, times_more
from voirdire.kinds.kind import Entrants
from voirdire.model.problem import TARGET
from voirdire.typing import Ints

if TYPE_CHECKING:
    from voirdire.kinds.fit import Fit


def board(fit: Fit) -> dict[str, Any]:
    """The leaderboard of a fit, as plain Python.

    Parameters
    ----------
    fit : Fit
        With scores and draws (any method but "map").

    Returns
    -------
    dict
        What :meth:`.Fit.as_dict` has; each of ``items`` also ``loss`` (expected, in the unit of scores, of choosing
        it) and ``rank_probabilities``; of scores of systems over contexts ``items`` are the systems, and ``answers``
        what each scored in each context; ``familywise`` (probability that all statements hold together); ``tied``, sets
        of items that cannot be told apart, best first; ``next``, for every two neighbours ``better``, ``worse``,
        ``difference``, ``sd``, ``apart`` and, where they are not, ``more_votes`` (in the whole table) and
        ``more_contexts`` until they were, were the difference as it is now (None: beyond 100 times what there is, or
        what is asked is what people would say, of which judges' answers tell no more);
        ``cycle``, items of which each clearly beats the next and the last the first; ``deciding``, the context
        without which another item would be first or others share its place (None: no single one); ``verdict``, in
        words.

    Raises
    ------
    InputError
        The fit has no scores or no draws.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.fit.verb import fit
    >>> table = pd.DataFrame({"judge": "a", "first": "x", "second": "y", "winner": ["x"] * 9 + ["y"] * 7})
    >>> board(fit(table, model="bradley-terry"))["tied"]
    [['x', 'y']]
    """
    names, draws, rows, _ = entrants = fit.kind.entrants(fit.problem, fit.posterior, fit.prob)
    result = fit.as_dict()
    if names != fit.problem.items:
        result |= {"answers": result.pop("items"), "items": rows}
    code = {name: at for at, name in enumerate(names)}
    order = np.array([code[row["item"]] for row in result["items"]])
    found = told_apart(draws)
    loss, ranks = expected_loss(draws), rank_probabilities(draws)
    for row, item in zip(result["items"], order, strict=True):
        row |= {"loss": float(loss[item]), "rank_probabilities": ranks[item].round(4).tolist()}
    cycle = _cycle(fit)
    tied = [[names[i] for i in one] for one in tied_sets(found.apart, order)]
    told = {
        "familywise": LEVEL,
        "tied": tied,
        "next": _neighbours(fit, entrants, found, order),
        "cycle": cycle,
    }
    told["deciding"] = one = _deciding(fit)
    return {**result, **told, "verdict": verdict(result, tied, cycle, one)}


def _deciding(fit: Fit) -> str | None:
    draws = fit.kind.in_contexts(fit.problem, fit.posterior)
    place = None if draws is None else deciding(draws)
    return None if place is None else fit.problem.coords["context"][place]


def _cycle(fit: Fit) -> list[str]:
    votes = fit.kind.compared_votes(fit.problem)
    if votes is None:
        return []
    return [votes.items[i] for i in shortest_cycle(clear_wins(votes), len(votes.items))]


def _neighbours(fit: Fit, entrants: Entrants, found: Apart, order: Ints) -> list[dict[str, Any]]:
    votes, draws = fit.kind.compared_votes(fit.problem), entrants.draws
    # answers of judges say nothing of what people see otherwise
    of_people = fit.problem.about == TARGET and fit.kind.has_scores(fit.problem)
    rows = []
    for one, other in pairwise(order):
        lead = draws[:, one] - draws[:, other]
        row: dict[str, Any] = {"better": entrants.names[one], "worse": entrants.names[other]}
        row |= {"difference": float(lead.mean()), "sd": float(lead.std(ddof=1))}
        row |= {"apart": bool(found.apart[one, other]), "p_better": float((lead > 0.0).mean())}
        if not row["apart"] and (votes is not None or entrants.contexts):
            median, deviation = (float(part[one, other]) for part in (found.median, found.deviation))
            factor = None if of_people else times_more(median, deviation, found.t)
            if votes is not None:
                row["more_votes"] = None if factor is None else round((factor - 1.0) * votes.rows)
            if entrants.contexts:
                row["more_contexts"] = (
                    None if factor is None else int(np.ceil((factor - 1.0) * entrants.contexts))
                )
        rows.append(row)
    return rows


def verdict(result: dict[str, Any], tied: list[list[str]], cycle: list[str], context: str | None) -> str:
    """Verdict of the board, in words: first what speaks against it, then what is best."""
    failed = [row["check"] for row in result["checks"] if row["level"] == "fail"]
    warned = [row["check"] for row in result["checks"] if row["level"] == "warn"]
    said = []
    if failed:
        said.append(
            f"Checks failed ({', '.join(failed)}): do not act on this board before they are answered."
        )
    if cycle:
        said.append(f"No ranking is right: {' beats '.join([*cycle, cycle[0]])}.")
    if context is not None:
        said.append(f"The context {context} alone decides who is first, or who shares the first place.")
    first = result["items"][0]
    top = tied[0]
    if len(top) == 1:
        said.append(f"{top[0]} is the best of {len(result['items'])}, told apart from all others.")
    else:
        loss = f"choosing {first['item']} costs {first['loss']:.2g} on average against the best"
        said.append(
            f"{len(top)} items share the first place ({', '.join(top[:5])}{', ...' * (len(top) > 5)}); {loss}."
        )
    if warned:
        said.append(f"Warnings: {', '.join(warned)}.")
    return " ".join(said)
