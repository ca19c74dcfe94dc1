"""Association of length and format with a panel's preferences, for columns that the model does not use.

For each covariate, let z be the standardised mean over the rows of each item. In every draw of the scores s,

    s_i = a + b z_i + e_i,    share = b^2 / var(s).

The interval of b combines its standard error by least squares with the posterior draws. A covariate is reported if
its interval excludes 0 with probability ``CLEAR_PROB``, for all covariates of a table together (Bonferroni). A
preference that all judges share enters the scores for any number of judges; without people, only such columns show it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from voirdire.infer.posterior import Posterior
from voirdire.kinds.panel_gap import target_and_panel_scores
from voirdire.model.problem import Problem
from voirdire.notices import listen_for_notes
from voirdire.tables.covariates import TEXT_FEATURES
from voirdire.tables.grouped import needs_grouping
from voirdire.tables.numbers import read_number
from voirdire.tables.problems import Problems
from voirdire.tables.read import columns_among, read_columns
from voirdire.typing import Floats

CLEAR_PROB = 0.99  # probability of the interval
MAX_ANSWERS = 200_000  # most answers of a table whose rows are read again for its columns
MIN_ITEMS = 10  # fewest items
MIN_SHARE = 0.1  # smallest reported share of the variance of scores
SIDES = ("first", "second")
CHARACTERS = "characters"  # the name of the length of texts
FORMAT_COLUMNS = re.compile(
    rf"(.+_)?({'|'.join(TEXT_FEATURES)}|length|len|tokens|chars|characters|headings|bullets)(_.+)?"
)
TEXTS = ("text", "answer", "response", "output", "completion")


def covariate_sentences(problem: Problem, posterior: Posterior, table: object) -> list[str]:
    """Describe the association of length and format with the panel's scores; none without such columns.

    Parameters
    ----------
    problem : Problem
        Problem with item scores.
    posterior : Posterior
        Posterior of the problem.
    table : path, dataframe, ...
        The fitted table, with columns of numbers (``length``, ``words``, ``lists``, ...) or of texts (``text``,
        ``answer``, ``response``); for votes ``NAME_first`` and ``NAME_second``. Large files and lazy frames, which are
        counted in place, and tables of more than ``MAX_ANSWERS`` answers are not read again.

    Examples
    --------
    >>> import pandas as pd
    >>> import voirdire
    >>> rows = [("abc"[k], f"i{n}", 1 + n // 4, 10 * n + n % 3) for k in range(3) for n in range(16)]
    >>> table = pd.DataFrame(rows, columns=["judge", "item", "score", "length"])
    >>> fit = voirdire.fit(table, method="laplace")
    >>> [note.partition(":")[0] for note in fit.notes if "length" in note]
    ['Items with more length win']
    """
    coded = isinstance(table, list | tuple) or hasattr(table, "judges")  # without further columns
    large = coded or problem.judge_votes.sum() > MAX_ANSWERS or needs_grouping(table)
    if posterior.values is None or len(problem.items) < MIN_ITEMS or large:
        return []
    means = item_means(table, problem.items)
    if not means:
        return []
    _, draws = target_and_panel_scores(problem, posterior.values)
    sentences = []
    for name, covariate in means.items():
        effect, low, high, share = _covariate_slope(draws, covariate, 1.0 - (1.0 - CLEAR_PROB) / len(means))
        if share < MIN_SHARE or low < 0.0 < high:
            continue
        ends = sorted((abs(low), abs(high)))
        option = (
            "covariates=voirdire.covariates.text(items)"
            if name == CHARACTERS
            else f"covariates={name!r} (--covariates {name})"
        )
        sentences.append(
            f"Items with {'more' if effect > 0 else 'less'} {name} win: {abs(effect):.2f} log-odds for each standard "
            f"deviation ({CLEAR_PROB:.0%} interval {ends[0]:.2f} to {ends[1]:.2f}), {share:.1f} of how far items are "
            f"apart. Judges may like {name} itself, or better items may have more of it: {option} holds it fixed, "
            "and people's answers tell."
        )
    return sentences


def item_means(table: object, items: tuple[str, ...]) -> Mapping[str, Floats]:
    """Standardised mean of each covariate over the rows of each item, shape (items,) each.

    Covariates that are missing for an item, not numbers or constant are left out.
    """
    with listen_for_notes(lambda _: None):  # notes on columns were given when the table was first read
        problems = Problems("table")
        present = columns_among(table, None, problems)
        sides = SIDES if set(SIDES) <= set(present) else ("item",)
        columns = {
            base: _covariate_columns(base, sides)
            for base in dict.fromkeys(_covariate_name(name, sides) for name in present)
        }
        columns = {
            base: side_columns for base, side_columns in columns.items() if base and set(side_columns) <= set(present)
        }
        column_names = [name for side_columns in columns.values() for name in side_columns]
        cells = read_columns(table, sides, column_names, problems) if column_names else {}
    place = {name: index for index, name in enumerate(items)}
    means: dict[str, Floats] = {}
    for base, side_columns in columns.items():
        total, count = np.zeros((2, len(items)))
        for side, column in zip(sides, side_columns, strict=True):
            for item, cell in zip(cells.get(side, ()), cells[column], strict=False):
                value = _cell_number(cell, base in TEXTS)
                if value is not None and str(item) in place:
                    total[place[str(item)]] += value
                    count[place[str(item)]] += 1
        if count.all() and (spread := (total / count).std()) > 0:
            name = CHARACTERS if base in TEXTS else base
            means.setdefault(name, (total / count - (total / count).mean()) / spread)
    return means


def _covariate_name(column: str, sides: tuple[str, ...]) -> str:
    """Name of the covariate of a column, without its side; empty for other columns."""
    base, _, side = column.rpartition("_") if sides == SIDES else (column, "", "item")
    return base if side in sides and (base in TEXTS or FORMAT_COLUMNS.fullmatch(base)) else ""


def _covariate_columns(base: str, sides: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{base}_{side}" for side in sides) if sides == SIDES else (base,)


def _cell_number(cell: object, text: bool) -> float | None:
    """A number, or the number of characters of a text; None for other cells."""
    if text:
        return float(len(cell)) if isinstance(cell, str) else None
    try:
        return float(read_number(cell))
    except ValueError:
        return None


def _covariate_slope(draws: Floats, z: Floats, prob: float) -> tuple[float, float, float, float]:
    """Slope of scores on a covariate, the ends of its interval, and the explained share of the variance."""
    s = draws - draws.mean(axis=1, keepdims=True)
    slope = s @ z / (z @ z)
    residual = s - slope[:, None] * z
    error = np.sqrt((residual**2).sum(axis=1) / (len(z) - 2) / (z @ z))
    drawn = slope + error * np.random.default_rng(0).standard_t(len(z) - 2, len(slope))
    low, high = np.quantile(drawn, [0.5 * (1 - prob), 0.5 * (1 + prob)])
    share = (slope**2 * (z @ z)).sum() / (s**2).sum()
    return float(slope.mean()), float(low), float(high), float(share)
