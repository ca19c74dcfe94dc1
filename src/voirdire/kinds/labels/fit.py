"""Fits of labels."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from voirdire.kinds.fit import Fit, import_fit_function
from voirdire.kinds.kind import Kind
from voirdire.kinds.labels import systems as label_systems
from voirdire.kinds.labels.kind import LABELS
from voirdire.kinds.labels.problem import LabelsProblem
from voirdire.kinds.labels.success import success_class
from voirdire.tables.output_library import convert_to_library

if TYPE_CHECKING:
    import pandas as pd


class LabelsFit(Fit):
    """Fit of labels."""

    problem: LabelsProblem
    kind: ClassVar[Kind[Any, Any]] = LABELS

    def classes(self) -> pd.DataFrame:
        """Table of items: class, probability of every class; see :func:`.labels.results.item_table`."""
        return self._frame(self.tables["items"])

    def confusion(self) -> pd.DataFrame:
        """Table of judges' confusion matrices: judge, class, label, probability, low, high."""
        return self._frame(self.tables["confusion"])

    def shares(self) -> pd.DataFrame:
        """Table of shares of the classes: criterion, class, share, low, high."""
        return self._frame(self.tables["shares"])

    def systems(self, positive: object = None) -> pd.DataFrame:
        """Table of systems over contexts; see :mod:`voirdire.kinds.labels.systems`.

        Columns: system, contexts; share_CLASS, share_CLASS_low and share_CLASS_high for every class. If a class counts
        as a success, or labels are numbers, also score (share of successes, or mean), sd, low, high, rank, rank_low,
        rank_high, p_best, best first.

        Parameters
        ----------
        positive : str, optional
            Class that counts as a success; by default that of the fit.

        Raises
        ------
        InputError
            The table has no columns context and system, the fit has no draws, or ``positive`` is no class.
        """
        return self._frame(label_systems.system_table(self._with(positive).problem, self.posterior, self.prob))

    def board(self, positive: object = None, prices: object = None, margin: float = 0.0) -> dict[str, Any]:
        """Make the leaderboard of systems over contexts; see :func:`voirdire.decide.board.board`.

        Parameters
        ----------
        positive : str, optional
            Class that counts as a success; by default that of the fit.
        prices, margin
            As for :meth:`decide`.
        """
        board: dict[str, Any] = import_fit_function("board")(self._with(positive).in_pandas, prices, margin)
        return board

    def decide(self, prices: object = None, margin: float = 0.0) -> Any:
        """Decide which systems share the first place; see :func:`voirdire.decide.decision.decide`."""
        return import_fit_function("decide")(self, prices, margin)

    def _with(self, positive: object) -> LabelsFit:
        """Return the fit with another class as the success; unchanged if None."""
        if positive is None:
            return self
        problem = self.problem
        success = success_class(problem.labels[: problem.classes], positive)
        return replace(self, problem=replace(problem, positive=success))

    def accuracy(self, truth: object, **settings: Any) -> pd.DataFrame:
        """Compute accuracy and balanced accuracy against known classes, with bootstrap intervals.

        ``truth`` has columns item and label; see :func:`voirdire.fit.accuracy.accuracy` for the settings.
        """
        table: pd.DataFrame = import_fit_function("accuracy")(self.in_pandas, truth, **settings)
        return convert_to_library(table, self.frames)
