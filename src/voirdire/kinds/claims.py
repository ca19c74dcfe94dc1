"""What a fit says of each item, or pair of items, that people could be asked about, and how sure it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from voirdire.typing import Bools, Floats


@dataclass(frozen=True, eq=False)
class Claims:
    """Answers of a fit, one for each unit: an item under a criterion, or a pair of items.

    Attributes
    ----------
    about : dict of str to array, shape (units,)
        Names: criterion, item; or criterion, first, second (by name) and context, where votes have some.
    answer : array, shape (units,)
        Label, number, or "first" or "second".
    confidence : array, shape (units,)
        The larger the surer. Any number serves that people's answers, as far as they check it, did not enter.
    taught : bool array, shape (units,)
        Units that people answered in the fit's own table.
    """

    about: dict[str, npt.NDArray[Any]]
    answer: npt.NDArray[Any]
    confidence: Floats
    taught: Bools

    def with_pairs(self, pairs: Sequence[Mapping[str, Any]]) -> Claims:
        """The same with the preferences that people's answers to other pairs teach, where there are such.

        Parameters
        ----------
        pairs : sequence of dict
            As of :class:`.Anchored`: first, second, p_first and perhaps criterion.
        """
        if not pairs:
            return self
        further = ("criterion",) if "criterion" in pairs[0] else ()
        for_low: dict[tuple[str, ...], float] = {}
        for pair in pairs:
            one, other, p = pair["first"], pair["second"], pair["p_first"]
            for_low[(*sorted((one, other)), *(pair[name] for name in further))] = (
                p if one < other else 1.0 - p
            )
        units = zip(*(self.about[name].tolist() for name in ("first", "second", *further)), strict=True)
        chance = np.array([for_low[unit] for unit in units])
        answer = np.where(chance >= 0.5, "first", "second").astype(object)
        return replace(self, answer=answer, confidence=np.maximum(chance, 1.0 - chance))
