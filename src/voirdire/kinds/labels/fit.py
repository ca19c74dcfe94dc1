"""A fit of labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from voirdire.kinds.fit import Fit, verb
from voirdire.kinds.kind import Kind
from voirdire.kinds.labels.kind import LABELS
from voirdire.kinds.labels.problem import LabelsProblem
from voirdire.tables.given import as_given

if TYPE_CHECKING:
    import pandas as pd


class LabelsFit(Fit):
    """A fit of labels."""

    problem: LabelsProblem
    kind: ClassVar[Kind[Any, Any]] = LABELS

    def classes(self) -> pd.DataFrame:
        """Items: class, probability of every class; see :func:`.labels.results.items`."""
        return self._frame(self.tables["items"])

    def confusion(self) -> pd.DataFrame:
        """Judges' confusion matrices: judge, class, label, probability, low, high."""
        return self._frame(self.tables["confusion"])

    def shares(self) -> pd.DataFrame:
        """Shares of the classes: criterion, class, share, low, high."""
        return self._frame(self.tables["shares"])

    def accuracy(self, truth: object, **settings: Any) -> pd.DataFrame:
        """Accuracy and balanced accuracy against known classes, with bootstrap intervals.

        ``truth`` has columns item and label; see :func:`voirdire.fit.accuracy.accuracy` for the settings.
        """
        found: pd.DataFrame = verb("accuracy")(self.in_pandas, truth, **settings)
        return as_given(found, self.frames)
