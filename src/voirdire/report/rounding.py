"""Number of digits by the width of the interval.

The last digit shown is the second significant digit of the interval's width: with width w the number of decimals is
1 - floor(log10 w), at least 0. More digits would show noise, fewer would hide the ends of an interval. All numbers of
a column have the decimals of its median width, so that they are aligned.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

MAX_DECIMALS = 6
THREE_SIGNIFICANT = -1  # in place of a number of decimals: three significant digits
_MAX_PLAIN_DECIMALS = 3  # maximum number of decimals of numbers without an interval


def decimals_of_width(width: float) -> int:
    """Return the decimals that show an interval of this width to two significant digits.

    Parameters
    ----------
    width : float
        Width, positive.

    Returns
    -------
    int
        Between 0 and 6.

    Examples
    --------
    >>> [decimals_of_width(width) for width in (0.013, 0.13, 1.3, 13.0, 130.0)]
    [3, 2, 1, 0, 0]
    """
    if not (width > 0 and math.isfinite(width)):
        return 2
    return min(MAX_DECIMALS, max(0, 1 - math.floor(math.log10(width))))


def column_decimals(widths: Iterable[float | None], values: Iterable[float | None] = ()) -> int:
    """Return the decimals of a column: by the median width of its intervals, else by the range of its values.

    Parameters
    ----------
    widths : iterable of float or None
        Widths of the intervals, None where there is none.
    values : iterable of float or None
        Values, used if no width is positive: their range has three significant digits, or each of them (-1) if they
        differ by more than a factor of 1,000.

    Examples
    --------
    >>> column_decimals([0.2, 0.3, None]), column_decimals([], [0.11, 0.75]), column_decimals([], [1e-7, 3.0])
    (2, 3, -1)
    """
    positive = sorted(w for w in widths if w is not None and w > 0 and math.isfinite(w))
    if positive:
        return decimals_of_width(positive[len(positive) // 2])
    numbers = [v for v in values if v is not None and math.isfinite(v)]
    sizes = [abs(v) for v in numbers if v]
    if sizes and max(sizes) > 1e3 * min(sizes):
        return THREE_SIGNIFICANT
    spread = max(numbers) - min(numbers) if numbers else 0.0
    return min(_MAX_PLAIN_DECIMALS, decimals_of_width(spread) + 1) if spread > 0 else 2


def fixed_decimals(value: float, decimals: int) -> str:
    """Format a number with ``decimals`` (-1: three significant digits), never minus zero; tiny ones as powers of ten.

    Examples
    --------
    >>> fixed_decimals(-0.001, 2), fixed_decimals(1234567.0, 0), fixed_decimals(7.3e-136, 2)
    ('0.00', '1,234,567', '7.3e-136')
    """
    if decimals == THREE_SIGNIFICANT:
        return f"{value:.3g}"
    if value and (abs(value) >= 1e9 or abs(value) < 10.0 ** -(MAX_DECIMALS + 1)):
        return f"{value:.1e}"
    return f"{value:z,.{decimals}f}"
