"""Dependence of items of one context, which makes intervals over items too narrow."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from voirdire.agreement.coefficients.ratings import Ratings
from voirdire.agreement.coefficients.rows import Task
from voirdire.agreement.engine.combine import group_statistic, restrict_to_support, with_fixed_judges
from voirdire.agreement.engine.intervals import standard_errors
from voirdire.agreement.engine.statistic import CountStatistic, Statistic
from voirdire.typing import Ints

SIGNIFICANCE_LEVEL = 0.05  # probability of a note where items are independent
MIN_WIDENING = 1.1  # smallest ratio of standard errors worth a note


def dependent_contexts_note(tasks: Sequence[Task], ratings: Ratings) -> str:
    """Say by how much intervals over items are too narrow because items of a context depend; empty where they do not.

    Standard errors over contexts are compared with those over items, both by the delta method, by their median ratio
    over the measures that are functions of totals. Were items independent, the squared ratio of n contexts would have
    a chi-squared distribution with n - 1 degrees of freedom, divided by these.

    Parameters
    ----------
    tasks : sequence of Task
        Measures of one criterion.
    ratings : Ratings
        All answers under that criterion, with the contexts of its units.
    """
    from scipy.stats import chi2

    if ratings.contexts is None:
        return ""
    statistics = [with_fixed_judges(task.statistic) for task in tasks]
    widenings = [_widening(part, ratings.contexts) for part in statistics if isinstance(part, CountStatistic)]
    defined = np.array([pair for pair in widenings if np.isfinite(pair[0])])
    if not len(defined):
        return ""
    ratio, contexts = np.median(defined, axis=0)
    degrees = max(contexts - 1.0, 1.0)
    if ratio < max(MIN_WIDENING, float(chi2.isf(SIGNIFICANCE_LEVEL, degrees) / degrees) ** 0.5):
        return ""
    return (
        f"items of one context are not independent: intervals would be {ratio:.1f} times as wide (median) if whole "
        "contexts were resampled, as they should be to hold for other contexts: give unit='context' (--unit context)"
    )


def _widening(statistic: CountStatistic, contexts: Ints) -> tuple[float, int]:
    """Standard error over contexts, relative to that over items, and the number of contexts; NaN where undefined."""
    used = statistic.support
    count = len(np.unique(contexts[used]))
    if count < 2 or count == used.sum():
        return np.nan, count
    over_contexts, over_items = (_standard_error(part) for part in (group_statistic(statistic, contexts), statistic))
    return (over_contexts / over_items if over_items > 0.0 else np.nan), count


def _standard_error(statistic: Statistic) -> float:
    on_support = restrict_to_support(statistic)
    return float(standard_errors(on_support, np.ones((1, len(on_support.support))))[0])
