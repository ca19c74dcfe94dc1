"""The true reliability and position bias that the judges' definitions imply, in closed form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from voirdire.simulate.judges import Judge
from voirdire.simulate.panel import answering_order
from voirdire.simulate.presentation import Comparisons, Sheet
from voirdire.simulate.questions import FIRST, SECOND, FloatArray

if TYPE_CHECKING:
    import pandas as pd


def judges_table(panel: Mapping[str, Judge], sheets: Mapping[str, Sheet], asked: Comparisons) -> pd.DataFrame:
    """One row per judge: judge, kind, reliability, first_pick, eta1, eta2.

    With P(first), P(second) the judge's chances, summed over the item comparisons it was asked, each in
    both orders: reliability = sum P(the better) / sum (P(first) + P(second)) over those with a gap,
    first_pick = sum P(first) / sum (P(first) + P(second)) over all. For a two-coin judge and far pairs
    these are (eta1 + eta2) / 2 and 1/2 + (eta1 - eta2) / 2. Either is NaN where nothing it is defined on
    was asked (no gap between any two items; a judge that never names an item). eta1 and eta2 are the
    coins of the two-coin model that gives exactly the judge's answers, NaN where none does.

    Parameters
    ----------
    panel, sheets : mapping
        The judges, and what each was asked, by name.
    asked : Comparisons
        The common list of comparisons.

    Examples
    --------
    >>> from voirdire.simulate import AlwaysFirst, simulate_votes
    >>> judges = simulate_votes({"ada": AlwaysFirst()}, items=3).truth.judges
    >>> judges[["reliability", "first_pick", "eta1", "eta2"]].to_numpy().tolist()
    [[0.5, 1.0, 1.0, 0.0]]
    """
    import pandas as pd

    both_orders = [_all_chances(panel, sheets, len(asked.first), reverse) for reverse in (False, True)]
    rows = []
    for name, judge in panel.items():
        sheet = sheets[name]
        on_items = np.arange(len(sheet.questions)) if sheet.rows is None else sheet.rows
        on_items = np.flatnonzero(on_items < asked.of_items)
        gap = sheet.questions.gap[on_items]
        right = named = first = picked = 0.0
        for sign, everyone in zip((1.0, -1.0), both_orders, strict=True):
            chances = everyone[name][:, on_items]
            right += float(chances[FIRST, sign * gap > 0].sum() + chances[SECOND, sign * gap < 0].sum())
            named += float(chances[: SECOND + 1, gap != 0].sum())
            first += float(chances[FIRST].sum())
            picked += float(chances[: SECOND + 1].sum())
        reliability = right / named if named else np.nan
        first_pick = first / picked if picked else np.nan
        rows.append(
            (name, judge.kind, reliability, first_pick, *(judge.two_coin_values() or (np.nan, np.nan)))
        )
    return pd.DataFrame(rows, columns=["judge", "kind", "reliability", "first_pick", "eta1", "eta2"])


def _all_chances(
    panel: Mapping[str, Judge], sheets: Mapping[str, Sheet], n: int, reverse: bool
) -> dict[str, FloatArray]:
    """Every judge's chances on its sheet, or on the sheet with all pairs shown in the other order."""
    found: dict[str, FloatArray] = {}
    for name in answering_order(panel):
        sheet = sheets[name]
        heard = {
            other: sheet.hear_chances(sheets[other], found[other], n) for other in panel[name].copied_names()
        }
        questions = sheet.questions.with_items_swapped() if reverse else sheet.questions
        found[name] = panel[name].answer_chances(questions, heard)
    return found
