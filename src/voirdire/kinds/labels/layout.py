"""The sizes of a table of labels, which its density is searched by."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from voirdire.model.density import LogDensity
from voirdire.typing import Ints


@dataclass(frozen=True)
class LabelsLayout(LogDensity):
    """Sizes and structure of its table that a density of labels knows.

    Parameters
    ----------
    model : Model
    judges, criteria, items : int
    units : int
        Pairs of an item and a criterion that have a label.
    classes, labels : int
        The first ``classes`` of the labels are the classes.
    anchored : tuple of int
        Classes to which some item is known to belong.
    blocks : tuple of tuple of int
        Judges whose labels of an item hang together given its class: families, and judges who label items repeatedly.
        Of models with shared errors only.
    """

    units: int
    classes: int
    labels: int
    anchored: tuple[int, ...] = ()
    blocks: tuple[tuple[int, ...], ...] = ()

    @cached_property
    def sizes(self) -> dict[str, int]:
        """Number of levels of each dimension."""
        return {
            "judge": self.judges,
            "criterion": self.criteria,
            "item": self.items,
            "unit": self.units,
            "class": self.classes,
            "label": self.labels,
            "gap": self.labels - 2,
            "family": len(self.blocks),
        }

    @cached_property
    def alone(self) -> Ints:
        """Judges that are in no block."""
        inside = {k for block in self.blocks for k in block}
        return np.array([k for k in range(self.judges) if k not in inside], dtype=np.int64)

    def columns(self, judges: Ints) -> Ints:
        """Columns of the labels of some judges among the counts."""
        return (judges[:, None] * self.labels + np.arange(self.labels)).ravel()
