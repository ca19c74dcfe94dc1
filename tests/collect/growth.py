"""Work that grows as its input: told from work that grows as the square, on a machine that does other things too."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

#: Tries of one size: another process, a collection of garbage or a clock that jumps spoils one, hardly all.
TRIES = 5
#: Where four times the input takes so much longer: 4 where work grows as the input, 16 as its square.
LARGEST_RATIO = 8.0
#: Seconds below which a ratio tells nothing.
SHORTEST = 0.05


def least_seconds(work: Callable[[], object], enough: float) -> float:
    """CPU seconds of this thread in the quickest of some tries, which end where one takes no more than ``enough``."""
    least, collecting = float("inf"), gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        for _ in range(TRIES):
            began = time.thread_time()
            work()
            least = min(least, time.thread_time() - began)
            if least <= enough:
                break
    finally:
        if collecting:
            gc.enable()
    return least


def grows_as_its_input(work: Callable[[int], object], size: int) -> bool:
    """Work on ``size`` takes less than the square's part of what a quarter of it takes."""
    allowed = LARGEST_RATIO * max(least_seconds(lambda: work(size // 4), SHORTEST), SHORTEST)
    return least_seconds(lambda: work(size), allowed) < allowed
