"""Simulated rankings from judges, a truth and a design.

Judge k ranks item i under criterion c in context x by a_k (theta_c,i + u_c,i,x + v_k,i) and Gumbel noise. This is the
model of Luce and Plackett: among the remaining items, each is next with a probability proportional to the exponential
of that value (Yellott 1977, Journal of Mathematical Psychology 15).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from voirdire.errors import InputError, build_or_report
from voirdire.settings import Checked, Count, build_setting, is_number
from voirdire.simulate.graph import connectivity_problems, item_names
from voirdire.simulate.judges.base import FloatArray, IntArray
from voirdire.simulate.request import Seed, Seeded, read_setting
from voirdire.simulate.truth import Truth

if TYPE_CHECKING:
    import pandas as pd

ITEMS = 12  # default where the truth does not fix the number


@dataclass(frozen=True, kw_only=True)
class RankingDesign(Checked):
    """Design of rankings of ``size`` items, drawn for each judge, context and run, the same under every criterion.

    Parameters
    ----------
    size : int, optional
        Number of items in a ranking; by default all.
    contexts, repeats : int
        Number of contexts, and of rankings of each judge in each context; above 1 the tables have the columns
        ``context`` and ``run``.
    places : sequence of int, optional
        Numbers of items that share each rank, best first: (1, 3, 1) is best and worst of five, (1, 4) the choice of
        one of five. By default there are no ties.

    Examples
    --------
    >>> RankingDesign(size=4, places=(1, 2, 1)).place_ranks(9).tolist()
    [1, 2, 2, 3]
    """

    kind: ClassVar[str] = "rankings"
    noun: ClassVar[str] = "design"
    size: Count | None = None
    contexts: Count = 1
    repeats: Count = 1
    places: tuple[Count, ...] | None = None

    def find_conflicts(self) -> Iterator[str]:
        """Report a size below 2, or one that differs from the sum of the places."""
        if self.size is not None and self.size < 2:
            yield "size is 1; a ranking has two items at least"
        if self.places is not None and self.size is not None and sum(self.places) != self.size:
            yield f"places {list(self.places)} are of {sum(self.places)} items, but size is {self.size}"

    def ranking_size(self, items: int) -> int:
        """Return the number of items in a ranking."""
        return self.size or (sum(self.places) if self.places else items)

    def place_ranks(self, items: int) -> IntArray:
        """Return the rank of each position of a ranking, best first."""
        sizes = self.places or (1,) * self.ranking_size(items)
        return np.repeat(np.arange(1, len(sizes) + 1), sizes)


@dataclass(frozen=True, eq=False)
class SimulatedRankings:
    """Result of :func:`simulate_rankings`.

    Attributes
    ----------
    rankings : DataFrame
        Columns ``judge, criterion, item, rank``, and ``context``, ``run`` if the design has them; one row per item of
        a ranking, best first.
    truth : Truth
        Truth, without its table of judges.
    seed : dict
        Everything needed to make the same table again: ``seed``, ``judges``, ``items``, ``criteria``, ``design`` and
        ``truth`` as plain tables, NumPy's version and ``bit_generator``.
    """

    rankings: pd.DataFrame
    truth: Truth
    seed: dict[str, Any]


def simulate_rankings(
    judges: int | Sequence[str] | Mapping[str, float] = 5,
    items: int | None = None,
    criteria: int | None = None,
    design: object = "rankings",
    truth: object = "normal",
    seed: Seed = 0,
) -> SimulatedRankings:
    """Simulate rankings of a panel of synthetic judges, with their truth.

    Parameters
    ----------
    judges : int, sequence of str, or mapping of str to float
        Number of judges, their names, or the sharpness of each by name. Sharpness multiplies the strengths: 1 (the
        default) is the model of Luce and Plackett, 0 gives random rankings, negative values reversed ones.
    items, criteria : int, optional
        At least 2 items and 1 criterion; 12 and 1 if left out, or those of a given truth.
    design : RankingDesign, mapping or str
        ``{"kind": "rankings", "size": 4, "contexts": 10, "repeats": 3, "places": (1, 2, 1)}``; see
        :class:`RankingDesign`.
    truth : str, mapping, array or TruthSetting
        As in :func:`simulate_votes`: ``{"kind": "normal", "sd": 1, "context_sd": 0.7, "taste_sd": 0.5}``, or an array
        of strengths (C, N).
    seed : int or sequence of int
        Seed, at least 0. The truth and each judge (by its name) have their own generators: adding or removing judges
        does not change the rankings of the others.

    Raises
    ------
    InputError
        All problems of judges, design, truth and sizes at once; rankings that leave items unconnected.

    Examples
    --------
    >>> design = {"kind": "rankings", "size": 3, "repeats": 4}
    >>> made = simulate_rankings({"ada": 1.0, "bob": 0.0}, items=5, design=design)
    >>> made.rankings.columns.tolist(), len(made.rankings), made.truth.strengths.shape
    (['judge', 'criterion', 'run', 'item', 'rank'], 24, (1, 5))
    """
    request = _check_request(judges, items, criteria, design, truth, seed)
    drawn_truth = request.draw_truth(request.judges, request.design.contexts)
    orders = [_draw_orders(request, drawn_truth, place, name) for place, name in enumerate(request.judges)]
    ranked = np.stack(orders)
    all_rankings = ranked.reshape(-1, ranked.shape[-1])
    pairs = np.stack([np.repeat(all_rankings[:, 0], all_rankings.shape[1] - 1), all_rankings[:, 1:].ravel()], axis=1)
    if problems := connectivity_problems(request.items, pairs, "rankings"):
        raise InputError([f"design: {problem}" for problem in problems])
    record = request.record("judges", dict(request.judges))
    return SimulatedRankings(_rankings_table(request, drawn_truth, ranked), drawn_truth, record)


@dataclass(frozen=True, eq=False)
class _Request(Seeded):
    """Checked request for rankings."""

    design: RankingDesign
    judges: dict[str, float]


def _check_request(
    judges: object, items: int | None, criteria: int | None, design: object, truth: object, seed: Seed
) -> _Request:
    problems: list[str] = []
    panel = _sharpness_by_judge(judges, problems)
    plan = build_or_report(
        lambda spec: build_setting({RankingDesign.kind: RankingDesign}, spec, "design"), design, problems
    )
    setting, items, criteria, words = read_setting(truth, items, criteria, seed, (ITEMS, 1), problems)
    if plan is not None and items >= 2 and plan.ranking_size(items) > items:
        problems.append(f"design: rankings are of {plan.ranking_size(items)} items, but there are {items}")
    if plan is not None and setting is not None and setting.needs_contexts() and plan.contexts == 1:
        problems.append("truth: strengths differ between contexts, but the design has one; give contexts")
    if problems or plan is None or setting is None:
        raise InputError(problems)
    return _Request(words, items, criteria, setting, plan, panel)


def _sharpness_by_judge(judges: object, problems: list[str]) -> dict[str, float]:
    """Return the sharpness of each judge by name."""
    if isinstance(judges, int) and not isinstance(judges, bool):
        judges = item_names(max(judges, 0), "judge")
    if isinstance(judges, Sequence) and not isinstance(judges, str):
        if len(set(judges)) < len(judges):
            problems.append("judges: a name stands twice; give each judge its own")
        judges = dict.fromkeys(judges, 1.0)
    if not isinstance(judges, Mapping) or not judges:
        problems.append(f"judges is {judges!r}; give how many there are, their names, or the sharpness of each")
        return {}
    for name, sharpness in judges.items():
        if not isinstance(name, str) or not name.strip():
            problems.append(f"judges: one is named {name!r}; give every judge a name")
        elif not is_number(sharpness):
            problems.append(f"judge {name!r}: sharpness is {sharpness!r}; give a finite number")
    return dict(judges)


def _draw_orders(request: _Request, truth: Truth, index: int, name: str) -> IntArray:
    """Draw the rankings of a judge: items, best first, shape (contexts, repeats, criteria, size)."""
    plan, sheet, noise = request.design, request.sheet_rng(name), request.answer_rng(name)
    all_items = np.broadcast_to(np.arange(request.items), (plan.contexts, plan.repeats, request.items))
    shown = sheet.permuted(all_items, axis=-1)[:, :, None, : plan.ranking_size(request.items)]
    strength: FloatArray = (truth.by_context + (0.0 if truth.tastes is None else truth.tastes[index]))[:, None]
    shape = (plan.contexts, plan.repeats, request.criteria)
    strength = np.broadcast_to(strength, (*shape, request.items))
    shown = np.broadcast_to(shown, (*shape, shown.shape[-1]))
    utility = request.judges[name] * np.take_along_axis(strength, shown, axis=-1) + noise.gumbel(size=shown.shape)
    return np.take_along_axis(shown, np.argsort(-utility, axis=-1), axis=-1)


def _rankings_table(request: _Request, truth: Truth, ranked: IntArray) -> pd.DataFrame:
    """Make the table of rankings from an array of shape (judges, contexts, repeats, criteria, size)."""
    import pandas as pd

    plan = request.design
    judge, context, run, criterion, place = (part.ravel() for part in np.indices(ranked.shape))
    columns: dict[str, Any] = {
        "judge": pd.Index(list(request.judges)).take(judge),
        "criterion": pd.Index(truth.criteria).take(criterion),
    }
    if plan.contexts > 1:
        columns["context"] = pd.Index(item_names(plan.contexts, "context")).take(context)
    if plan.repeats > 1:
        columns["run"] = run + 1
    columns["item"] = pd.Index(truth.items).take(ranked.ravel())
    columns["rank"] = plan.place_ranks(request.items)[place]
    return pd.DataFrame(columns)
