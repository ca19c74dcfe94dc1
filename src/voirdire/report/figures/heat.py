"""Heat maps: ranks of items, strengths under criteria, agreement of judges beyond what the model expects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from voirdire.decide.choice_cost import rank_probabilities
from voirdire.infer.posterior import integrated_scores
from voirdire.report.figure_style import (
    MUTED,
    colour_key,
    name_label,
    name_rows,
    one_colour_map,
    two_colour_map,
    write_cells,
)
from voirdire.report.figures.rows import FIGURE_WIDTH, ROW_HEIGHT
from voirdire.report.pair_agreement import observed_over_expected

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from voirdire.kinds.fit import Fit

Floats = npt.NDArray[np.float64]

_MAX_NUMBERED_CELLS = 400  # maximum number of cells with numbers in them
MAX_RATIO = 2.0  # ratio of observed over expected agreement that has full colour
_MAX_NUMBERED_RANKS = 15  # maximum number of items with probabilities of ranks in the cells
CHANCE_OPACITY = 0.25  # opacity of ratios that chance alone can explain
_MAX_NUMBERED_JUDGES = 8  # maximum number of judges with ratios in the cells
_MAX_FLAT_LETTERS = 14  # maximum length of horizontal names of columns, where there are few


def draw_rank_probability(fit: Fit, ax: Axes) -> None:
    """Draw the posterior probability of every rank of every item."""
    assert fit.posterior.values is not None
    draws = integrated_scores(fit.problem.density, fit.posterior.values)
    share, size = rank_probabilities(draws), draws.shape[1]
    items = fit.ranking()["item"].tolist()
    order = [list(fit.problem.items).index(item) for item in items]
    # square roots make small probabilities visible
    colours = one_colour_map()
    ax.imshow(np.sqrt(share[order]), cmap=colours, vmin=0, vmax=1, aspect="auto", interpolation="none")
    if size <= _MAX_NUMBERED_RANKS:
        write_cells(ax, "{:.0f}", 100 * share[order], np.sqrt(share[order]), least=1.0)
    else:
        ax.plot(range(size), range(size), ".", color=MUTED, markersize=2)
    name_rows(ax, items)
    step = max(1, size // 12)
    ax.set_xticks(range(0, size, step), [str(rank + 1) for rank in range(0, size, step)])
    ax.set_xlabel("rank (numbers: per cent)" if size <= _MAX_NUMBERED_RANKS else "rank (dots: the rank reported)")
    ticks = (0.0, 0.1, 0.5, 1.0)
    colour_key(ax, colours, [tick**0.5 for tick in ticks], [f"{tick:g}" for tick in ticks], "probability")


def draw_strengths(fit: Fit, ax: Axes) -> None:
    """Draw the strength of every item under every criterion, items in the order of the ranking."""
    strengths = fit.strengths()
    table = strengths.pivot_table(index="item", columns="criterion", values="strength", sort=False)
    weight = fit.criteria().set_index("criterion")["weight"]
    table = table.loc[fit.ranking()["item"], weight.sort_values(ascending=False).index]
    values = table.to_numpy(dtype=float)
    middle, unit = fit.kind.middle(fit.problem), fit.kind.unit(fit.problem)
    max_distance = float(np.abs(values - middle).max()) or 1.0
    colours = two_colour_map()
    low, high = middle - max_distance, middle + max_distance
    ax.imshow(values, cmap=colours, vmin=low, vmax=high, aspect="auto", interpolation="none")
    name_rows(ax, table.index.tolist())
    name_columns(ax, table.columns.tolist())
    if values.size <= _MAX_NUMBERED_CELLS:
        write_cells(ax, "{:z.1f}", values, (values - middle) / max_distance)
    ends = [f"{end:z.1f}".replace("-", "\u2212") for end in (low, high)]
    colour_key(ax, colours, (0, 0.5, 1), (ends[0], f"{middle:g}", ends[1]), f"strength ({unit})")


def strengths_size(fit: Fit) -> tuple[float, float]:
    """Return width and height of :func:`draw_strengths` in inches."""
    return min(10.0, 2.6 + 0.7 * len(fit.criteria())), 1.4 + min(ROW_HEIGHT * len(fit.ranking()), 11.0)


def ranks_size(fit: Fit) -> tuple[float, float]:
    """Return width and height of :func:`draw_rank_probability` in inches."""
    count = len(fit.ranking())
    return 7.0 if count > 25 else FIGURE_WIDTH, 1.2 + min(max(ROW_HEIGHT * count, 1.0), 10.0)


def draw_agreement(fit: Fit, ax: Axes) -> None:
    """Draw observed over expected agreement of all pairs of judges, in full colour where chance does not explain it."""
    pair_agreement = observed_over_expected(fit)
    draw_matrix(ax, pair_agreement.log_ratio, pair_agreement.judges, pair_agreement.clear_pairs)


def draw_matrix(ax: Axes, log_ratio: Floats, names: Sequence[str], clear: npt.NDArray[np.bool_]) -> None:
    """Draw a symmetric matrix of log2 ratios, similar judges next to each other; NaN is left blank.

    Cells that are not ``clear`` are pale and do not influence the order, so that chance makes no blocks.
    """
    order = similarity_order(np.where(clear, log_ratio, 0.0))
    shown = log_ratio[np.ix_(order, order)]
    np.fill_diagonal(shown, np.nan)
    colours = two_colour_map()
    max_log_ratio = np.log2(MAX_RATIO)
    cells = colours(np.clip(np.nan_to_num(shown), -max_log_ratio, max_log_ratio) / (2 * max_log_ratio) + 0.5)
    weight = np.where(clear[np.ix_(order, order)], 1.0, CHANCE_OPACITY)
    cells[..., 3] *= weight * ~np.isnan(shown)
    ax.imshow(cells, interpolation="none", aspect="equal")
    if len(names) <= _MAX_NUMBERED_JUDGES:
        write_cells(ax, "{:.2f}", 2**shown, weight * np.clip(np.nan_to_num(shown) / max_log_ratio, -1.0, 1.0))
    sorted_names = [names[index] for index in order]
    name_rows(ax, sorted_names)
    name_columns(ax, sorted_names if len(names) <= 45 else ())
    colour_key(ax, colours, (0, 0.5, 1), (f"1/{MAX_RATIO:g}", "1", f"{MAX_RATIO:g}"), "observed / expected")


def similarity_order(log_ratio: Floats) -> list[int]:
    """Return an order in which judges who agree beyond expectation are next to each other (average linkage)."""
    if len(log_ratio) < 3:
        return list(range(len(log_ratio)))
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    max_log_ratio = np.log2(MAX_RATIO)
    distance = max_log_ratio - np.clip(np.nan_to_num(log_ratio), -max_log_ratio, max_log_ratio)
    np.fill_diagonal(distance, 0.0)
    tree: Any = linkage(squareform(distance, checks=False), "average", optimal_ordering=len(distance) <= 300)
    return [int(leaf) for leaf in leaves_list(tree)]


def name_columns(ax: Axes, names: Sequence[object]) -> None:
    """Write names below the columns of a heat map."""
    texts = [name_label(name) for name in names]
    is_flat = len(names) <= 4 and max(map(len, texts), default=0) <= _MAX_FLAT_LETTERS
    rotation: dict[str, Any] = {} if is_flat else {"rotation": 45, "ha": "right"}
    ax.set_xticks(range(len(names)), texts, fontsize=8, parse_math=False, **rotation)
