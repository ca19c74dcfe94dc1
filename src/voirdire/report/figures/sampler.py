"""Figures of the draws: traces of the chains, and prior density with reversed orientation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from voirdire.infer.diagnose import worst_element
from voirdire.infer.mirror import fold_draws
from voirdire.kinds.idata import to_inference_data
from voirdire.report.figure_style import BLUE, MUTED, ORANGE, SERIES_COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from voirdire.kinds.fit import Fit


def draw_trace(fit: Fit, ax: Axes) -> None:
    """Draw the chains, after warm-up, of the value with the largest R-hat."""
    name, chains, rhat = worst_element(to_inference_data(fit, with_answers=False))
    for number, chain in enumerate(chains):
        colour = SERIES_COLOURS[number % len(SERIES_COLOURS)]
        ax.plot(chain, color=colour, linewidth=0.6, alpha=0.75)
    ax.grid(axis="y")
    ax.set_xlabel("draw")
    ax.set_title(f"{name}: R-hat {rhat:.3f}, {len(chains)} chains", fontsize=9)


def draw_orientation_histogram(fit: Fit, ax: Axes) -> None:
    """Draw a histogram of the prior density of each draw with all strengths reversed, divided by that of the draw."""
    density = fit.problem.density
    assert fit.posterior.draws is not None
    ratio = fold_draws(density, fit.posterior.draws, fit.problem.data)[1].ravel()
    log_ratio = np.log10(np.maximum(ratio, 1e-300))
    ax.hist(log_ratio, bins=40, color=BLUE, alpha=0.8, linewidth=0)
    ax.axvline(0.0, color=ORANGE, linewidth=1.5)
    ax.grid(axis="y")
    ax.set_xlim(min(-1.0, float(log_ratio.min()) * 1.05), max(0.15, -0.03 * float(log_ratio.min())))
    ax.set_yticks([])
    ax.set_xlabel(
        f"log10 of prior({fit.kind.page_words.prior_argument}) / prior, by draw; at 0 both are as probable", color=MUTED
    )
