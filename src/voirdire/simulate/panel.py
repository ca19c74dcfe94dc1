"""Panels of synthetic judges, from objects or from tables, with checks of the whole panel.

The true reliability and position bias of the judges are computed in closed form.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import InputError, gathered_problems, raise_problems
from voirdire.settings import build_setting, suggest_words
from voirdire.simulate.judges.accuracy import Accuracy, Adversarial, AlwaysFirst, AlwaysSecond, Random
from voirdire.simulate.judges.base import FIRST, SECOND, FloatArray, Judge
from voirdire.simulate.judges.coins import BradleyTerry, Discrimination, OneCoin, TwoCoin
from voirdire.simulate.judges.mixed import Copycat, Drifting, Lazy, TieProne
from voirdire.simulate.judges.perception import CriterionBlind, Halo, VerbosityBiased
from voirdire.simulate.presentation import Comparisons, Sheet

if TYPE_CHECKING:
    import pandas as pd


JUDGES: dict[str, type[Judge]] = {
    cls.kind: cls
    for cls in (
        *(Accuracy, BradleyTerry, OneCoin, TwoCoin, Discrimination, Random, AlwaysFirst, AlwaysSecond),
        *(Adversarial, Lazy, Copycat, CriterionBlind, Halo, VerbosityBiased, Drifting, TieProne),
    )
}


def judge_from_spec(spec: object, place: str = "judge") -> Judge:
    """Make the judge from a kind or a table; wrapped judges are tables within the table.

    Parameters
    ----------
    spec : mapping, str or Judge
        ``{"kind": "accuracy", "accuracy": 0.7}``, ``"random"``, or a judge, which is returned.
    place : str
        Position of the table, for the messages.

    Raises
    ------
    InputError
        Unknown kind (the message names the nearest), unknown or missing keys, invalid values: all at once.

    Examples
    --------
    >>> judge_from_spec({"kind": "lazy", "share": 0.2, "of": {"kind": "one-coin", "eta": 0.9}})
    Lazy(share=0.2, of=OneCoin(eta=0.9, scale=1.0), skips=False)
    """
    return build_setting(JUDGES, spec, place)


def panel_from_spec(panel: Mapping[str, Any] | Sequence[Any]) -> dict[str, Judge]:
    """Make the panel, a mapping from names to judges; problems of all judges are reported at once.

    Parameters
    ----------
    panel : mapping or sequence
        Mapping from names to judges (or their tables or kinds), or a list of them. In a list, a table may hold
        ``name`` and ``count``: ``{"name": "noise", "kind": "random", "count": 3}`` makes noise-01, noise-02 and
        noise-03 (without ``name``, random-01 ...). A judge without either is named by its position: judge-001.

    Returns
    -------
    dict
        Judges in the given order. A judge's answers depend on its name and the seed, so a judge gives the same
        answers in different panels.

    Raises
    ------
    InputError
        An empty panel, equal names, invalid tables, a copycat of an unknown judge, judges that copy each other.

    Examples
    --------
    >>> list(panel_from_spec([{"kind": "accuracy", "accuracy": 0.9}, {"kind": "random", "count": 2}]))
    ['judge-001', 'random-01', 'random-02']
    """
    problems: list[str] = []
    members: list[tuple[str, object]] = []
    if isinstance(panel, Mapping):
        members = list(panel.items())
    elif isinstance(panel, Sequence) and not isinstance(panel, str):
        for place, spec in enumerate(panel, start=1):
            with gathered_problems(problems):
                members += _panel_members(spec, place)
    else:
        raise InputError(f"panel: {panel!r} is neither a mapping from names to judges nor a list of judges")
    if not members and not problems:
        raise InputError("panel: it has no judges; give at least one")
    judges: dict[str, Judge] = {}
    for name, spec in members:
        if not isinstance(name, str) or not name.strip():
            problems.append(f"panel: a judge is named {name!r}; give every judge a name")
        elif name in judges:
            problems.append(f"panel: two judges are called {name!r}; give each its own name")
        else:
            with gathered_problems(problems):
                judges[name] = judge_from_spec(spec, f"judge {name!r}")
    problems = list(dict.fromkeys(problems)) or _copying_problems(judges)
    raise_problems(problems)
    return judges


def _panel_members(spec: object, place: int) -> list[tuple[str, object]]:
    """Return one entry of a list of judges as (name, table) pairs."""
    entry = f"judge {place} of the list"
    if not isinstance(spec, Mapping):
        return [(f"judge-{place:03d}", spec)]
    table = {key: value for key, value in spec.items() if key not in ("name", "count")}
    name = spec.get("name", table.get("kind") if "count" in spec else f"judge-{place:03d}")
    if not isinstance(name, str) or not name.strip():
        raise InputError(f"{entry}: its name is {name!r}; give a name, or leave it out")
    if "count" not in spec:
        return [(name, table)]
    count = spec["count"]
    if isinstance(count, bool) or not isinstance(count, int) or count < 0:
        raise InputError(f"{entry}: count is {count!r}; give a whole number of at least 0")
    return [(f"{name}-{number:02d}", table) for number in range(1, count + 1)]


def _copying_problems(panel: Mapping[str, Judge]) -> list[str]:
    """Report copycats of unknown judges, else judges that copy each other in a circle."""
    problems = [
        f"judge {name!r} copies {other!r}, who is not in the panel; {suggest_words(other, panel)}"
        for name, judge in panel.items()
        for other in sorted(judge.copied_names())
        if other not in panel
    ]
    if not problems:
        with gathered_problems(problems):
            answering_order(panel)
    return problems


def answering_order(panel: Mapping[str, Judge]) -> list[str]:
    """Return the names, every judge after those that it copies.

    Raises
    ------
    InputError
        Judges that copy each other in a circle.

    Examples
    --------
    >>> from voirdire.simulate import Copycat, Random
    >>> answering_order({"b": Copycat("a"), "a": Random()})
    ['a', 'b']
    """
    order: dict[str, None] = {}

    def visit_judge(name: str, path: tuple[str, ...]) -> None:
        if name in path:
            circle = " -> ".join([*path[path.index(name) :], name])
            raise InputError(f"judges copy each other in a circle: {circle}; let one judge for itself")
        if name not in order:
            for other in sorted(panel[name].copied_names()):
                visit_judge(other, (*path, name))
            order[name] = None

    for name in panel:
        visit_judge(name, ())
    return list(order)


def judges_table(panel: Mapping[str, Judge], sheets: Mapping[str, Sheet], comparisons: Comparisons) -> pd.DataFrame:
    """Compute one row per judge: judge, kind, reliability, first_pick, eta1, eta2.

    With P(first) and P(second) the judge's probabilities and sums over its item comparisons, each in both
    orders: reliability = sum P(better) / sum (P(first) + P(second)) over comparisons with a gap, and
    first_pick = sum P(first) / sum (P(first) + P(second)) over all. For a two-coin judge and large gaps
    these are (eta1 + eta2) / 2 and 1/2 + (eta1 - eta2) / 2. They are NaN if the denominator is 0 (no gap
    between any two items; a judge that never chooses an item). eta1 and eta2 are the coins of the two-coin
    model with the same distribution of answers, NaN if there is none.

    Parameters
    ----------
    panel, sheets : mapping
        Judges and their sheets of questions, by name.
    comparisons : Comparisons
        Common list of comparisons.

    Examples
    --------
    >>> from voirdire.simulate import AlwaysFirst, simulate_votes
    >>> judges = simulate_votes({"ada": AlwaysFirst()}, items=3).truth.judges
    >>> judges[["reliability", "first_pick", "eta1", "eta2"]].to_numpy().tolist()
    [[0.5, 1.0, 1.0, 0.0]]
    """
    import pandas as pd

    both_orders = [
        _panel_answer_probabilities(panel, sheets, len(comparisons.first), reverse) for reverse in (False, True)
    ]
    rows = []
    for name, judge in panel.items():
        sheet = sheets[name]
        on_items = np.arange(len(sheet.questions)) if sheet.rows is None else sheet.rows
        on_items = np.flatnonzero(on_items < comparisons.of_items)
        gap = sheet.questions.gap[on_items]
        right = decided = first = picked = 0.0
        for sign, judge_probabilities in zip((1.0, -1.0), both_orders, strict=True):
            probabilities = judge_probabilities[name][:, on_items]
            right += float(probabilities[FIRST, sign * gap > 0].sum() + probabilities[SECOND, sign * gap < 0].sum())
            decided += float(probabilities[: SECOND + 1, gap != 0].sum())
            first += float(probabilities[FIRST].sum())
            picked += float(probabilities[: SECOND + 1].sum())
        reliability = right / decided if decided else np.nan
        first_pick = first / picked if picked else np.nan
        rows.append((name, judge.kind, reliability, first_pick, *(judge.two_coin_values() or (np.nan, np.nan))))
    return pd.DataFrame(rows, columns=["judge", "kind", "reliability", "first_pick", "eta1", "eta2"])


def _panel_answer_probabilities(
    panel: Mapping[str, Judge], sheets: Mapping[str, Sheet], n: int, reverse: bool
) -> dict[str, FloatArray]:
    """Compute each judge's answer probabilities on its sheet; with ``reverse``, with all pairs in the other order."""
    probabilities: dict[str, FloatArray] = {}
    for name in answering_order(panel):
        sheet = sheets[name]
        heard = {
            other: sheet.align_chances(sheets[other], probabilities[other], n) for other in panel[name].copied_names()
        }
        questions = sheet.questions.with_items_swapped() if reverse else sheet.questions
        probabilities[name] = panel[name].answer_chances(questions, heard)
    return probabilities
