"""Simulated votes from a panel, a design and a truth, as a table or as plain arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import raise_problems
from voirdire.simulate.graph import connectivity_problems, item_names
from voirdire.simulate.judges.base import UNANSWERED, IntArray, Outcomes
from voirdire.simulate.panel import answering_order, judges_table
from voirdire.simulate.presentation import Comparisons, Sheet, build_comparisons, make_judge_sheet
from voirdire.simulate.request import Panel, Request, Seed, checked_request
from voirdire.simulate.truth import Truth

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class VoteArrays:
    """Votes as plain arrays, one entry per vote; judge by judge, each in the sequence of its answers.

    Attributes
    ----------
    judge, criterion, first, second : (n,) int
        Indices of the panel's judges, of criteria, and of items (for votes on criteria: ``first`` and
        ``second`` index criteria, and ``criterion`` is 0).
    outcome : (n,) int8
        Outcome: 0 first, 1 second, 2 tie.
    run, context : (n,) int or None
        Indices from 0; None if the design has no repeats or no contexts.
    """

    judge: IntArray
    criterion: IntArray
    first: IntArray
    second: IntArray
    outcome: Outcomes
    run: IntArray | None
    context: IntArray | None


@dataclass(frozen=True, eq=False)
class SimulatedArrays:
    """Result of :func:`simulate_counts`.

    Attributes
    ----------
    judges : tuple of str
        Names, by index.
    votes : VoteArrays
    criteria_votes : VoteArrays or None
        Votes on criteria; None with one criterion, or if the design has none.
    truth : Truth
        Truth, without its table of judges.
    """

    judges: tuple[str, ...]
    votes: VoteArrays
    criteria_votes: VoteArrays | None
    truth: Truth


@dataclass(frozen=True, eq=False)
class Simulation:
    """Result of :func:`simulate_votes`.

    Attributes
    ----------
    votes : DataFrame
        Columns ``judge, criterion, first, second, winner`` (winner is ``first``, ``second`` or ``tie``), and
        ``context``, ``run`` if the design has them.
    criteria_votes : DataFrame or None
        Columns ``judge, first, second, winner`` (and ``run``): a votes table with the criteria as items. None
        with one criterion, or if the design has none.
    truth : Truth
    seed : dict
        Everything needed to make the same tables again: ``seed``, ``panel``, ``items``, ``criteria``,
        ``design`` and ``truth`` as plain tables, NumPy's version and ``bit_generator``.
    """

    votes: pd.DataFrame
    criteria_votes: pd.DataFrame | None
    truth: Truth
    seed: dict[str, Any]


def simulate_votes(
    panel: Panel,
    items: int | None = None,
    criteria: int | None = None,
    design: object = "all-pairs",
    truth: object = "ranks",
    seed: Seed = 0,
) -> Simulation:
    """Simulate votes of a panel of synthetic judges, with their truth.

    Parameters
    ----------
    panel : mapping or sequence
        Judges: a mapping from names to judges, or a list; see :func:`~voirdire.simulate.panel_from_spec`.
    items, criteria : int, optional
        At least 2 items and 1 criterion; 50 and 5 if left out, or those of a given truth.
    design : Design, mapping or str
        Design of the comparisons; see :mod:`voirdire.simulate.designs`.
    truth : str, mapping, array or TruthSetting
        Truth: ``"ranks"``, ``"normal"``, a table, or an array of strengths (C, N).
    seed : int or sequence of int
        Seed, at least 0. Truth, design and each judge (by its name) have their own generators: adding,
        removing or reordering judges does not change the votes of the others.

    Raises
    ------
    InputError
        All problems of panel, design, truth and sizes at once, before the simulation; a random design that leaves
        items unconnected.

    Examples
    --------
    >>> from voirdire.simulate import Accuracy, Random
    >>> simulation = simulate_votes({"ada": Accuracy(0.9), "bob": Random()}, items=4, criteria=2)
    >>> simulation.votes.columns.tolist(), len(simulation.votes), len(simulation.criteria_votes)
    (['judge', 'criterion', 'first', 'second', 'winner'], 24, 2)
    """
    import pandas as pd

    request = checked_request(panel, items, criteria, design, truth, seed)
    setup = _prepare_simulation(request)
    arrays = _simulate_answers(setup)
    judges, drawn = pd.Index(arrays.judges), setup.truth
    compared = {"item": pd.Index(drawn.items), "criterion": pd.Index(drawn.criteria)}
    winners = pd.Index(["first", "second", "tie"])
    pair_context = setup.comparisons.context
    contexts = pd.Index(item_names(0 if pair_context is None else int(pair_context.max()) + 1, "context"))

    def votes_table(votes: VoteArrays, word: str) -> pd.DataFrame:
        columns: dict[str, Any] = {"judge": judges.take(votes.judge)}
        if word == "item":
            columns["criterion"] = compared["criterion"].take(votes.criterion)
        columns["first"] = compared[word].take(votes.first)
        columns["second"] = compared[word].take(votes.second)
        columns["winner"] = winners.take(votes.outcome.astype(np.intp))
        if votes.context is not None:
            columns["context"] = contexts.take(votes.context)
        if votes.run is not None:
            columns["run"] = votes.run + 1
        return pd.DataFrame(columns)

    return Simulation(
        votes=votes_table(arrays.votes, "item"),
        criteria_votes=None
        if (criteria_arrays := arrays.criteria_votes) is None
        else votes_table(criteria_arrays, "criterion"),
        truth=replace(drawn, judges=judges_table(request.panel, setup.sheets, setup.comparisons)),
        seed=request.record("panel", {name: judge.spec() for name, judge in request.panel.items()}),
    )


def simulate_counts(
    panel: Panel,
    items: int | None = None,
    criteria: int | None = None,
    design: object = "all-pairs",
    truth: object = "ranks",
    seed: Seed = 0,
) -> SimulatedArrays:
    """Simulate the votes of :func:`simulate_votes` as plain arrays, which is faster for many panels.

    Arguments and votes are the same; tables and the judges' true reliability are left out.

    Examples
    --------
    >>> from voirdire.simulate import AlwaysFirst
    >>> simulate_counts({"ada": AlwaysFirst()}, items=3, criteria=1).votes.outcome
    array([0, 0, 0], dtype=int8)
    """
    return _simulate_answers(_prepare_simulation(checked_request(panel, items, criteria, design, truth, seed)))


def check_simulation(
    panel: Panel,
    items: int | None = None,
    criteria: int | None = None,
    design: object = "all-pairs",
    truth: object = "ranks",
    seed: Seed = 0,
) -> None:
    """Raise the errors of :func:`simulate_votes` for these arguments, without drawing answers.

    Raises
    ------
    InputError
        As in :func:`simulate_votes`.

    Examples
    --------
    >>> from voirdire.simulate import Accuracy
    >>> check_simulation({"ada": Accuracy(flips=99)}, items=3, criteria=1)
    Traceback (most recent call last):
    voirdire.errors.InputError: judge 'ada': flips is 99, but ... only 3 votes; lower it or give accuracy
    """
    _prepare_simulation(checked_request(panel, items, criteria, design, truth, seed))


@dataclass(frozen=True, eq=False)
class _Setup:
    """Parts of a simulation that are fixed before the first answer."""

    request: Request
    truth: Truth
    comparisons: Comparisons
    sheets: dict[str, Sheet]


def _prepare_simulation(request: Request) -> _Setup:
    """Draw the truth and assign the questions; raise problems that appear only then."""
    pairs = request.design.compared_pairs(request.items, request.design_rng())
    pair_context = request.design.pair_contexts(len(pairs))
    truth = request.draw_truth(request.panel, 0 if pair_context is None else int(pair_context.max()) + 1)
    comparisons = build_comparisons(request.design, truth, pairs)
    sheets = {
        name: make_judge_sheet(request.design, comparisons, len(pairs), request.sheet_rng(name), taste)
        for name, taste in zip(request.panel, repeat(None) if truth.tastes is None else truth.tastes, strict=False)
    }
    problems = [
        f"judge {name!r}: {problem}"
        for name, judge in request.panel.items()
        for problem in judge.question_problems(sheets[name].questions)
    ]
    answered_pairs = [comparisons.pair[sheet.rows] for sheet in sheets.values() if sheet.rows is not None]
    if len(answered_pairs) == len(sheets):
        covered = np.unique(np.concatenate(answered_pairs))
        problems += [
            f"design: {problem}" for problem in connectivity_problems(request.items, pairs[covered[covered >= 0]])
        ]
    raise_problems(problems)
    return _Setup(request, truth, comparisons, sheets)


def _simulate_answers(setup: _Setup) -> SimulatedArrays:
    """Draw the answers of the judges, each after those that it copies."""
    panel, sheets = setup.request.panel, setup.sheets
    answers: dict[str, Outcomes] = {}
    for name in answering_order(panel):
        sheet = sheets[name]
        heard = {
            other: sheet.align_outcomes(sheets[other], answers[other], len(setup.comparisons.first))
            for other in panel[name].copied_names()
        }
        answers[name] = panel[name].draw_answers(sheet.questions, setup.request.answer_rng(name), heard)
    votes, criteria_votes = _collect_votes(setup, answers)
    return SimulatedArrays(tuple(panel), votes, criteria_votes, setup.truth)


def _collect_votes(setup: _Setup, answers: Mapping[str, Outcomes]) -> tuple[VoteArrays, VoteArrays | None]:
    """Collect the votes on items and on criteria, judge by judge in the sequence of answers."""
    comparisons, design = setup.comparisons, setup.request.design
    n = len(comparisons.first)
    rows, outcomes, flips = [], [], []
    for name, sheet in setup.sheets.items():
        row, outcome = np.arange(n) if sheet.rows is None else sheet.rows, answers[name]
        flip = np.zeros(len(row), dtype=bool) if sheet.flipped is None else sheet.flipped
        kept = np.argsort(sheet.questions.time) if design.shuffle else np.arange(len(row))
        kept = kept[outcome[kept] != UNANSWERED]
        rows.append(row[kept])
        outcomes.append(outcome[kept])
        flips.append(flip[kept])
    judge = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
    row, outcome, flip = np.concatenate(rows), np.concatenate(outcomes), np.concatenate(flips)
    first, second = comparisons.first[row], comparisons.second[row]
    if design.order.startswith("random"):
        first, second = np.where(flip, second, first), np.where(flip, first, second)

    def vote_arrays(chosen: Any, context: IntArray | None) -> VoteArrays:
        return VoteArrays(
            judge=judge[chosen],
            criterion=comparisons.criterion[row[chosen]],
            first=first[chosen],
            second=second[chosen],
            outcome=outcome[chosen],
            run=comparisons.run[row[chosen]] if design.repeats > 1 else None,
            context=None if context is None else context[row[chosen]],
        )

    if comparisons.of_items == n:
        return vote_arrays(slice(None), comparisons.context), None
    on_items = row < comparisons.of_items
    return vote_arrays(on_items, comparisons.context), vote_arrays(~on_items, None)
