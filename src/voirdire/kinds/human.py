"""Uses of people's answers (anchors) in a problem: what differs by kind, and what was done with them.

People's answers (anchors) in the coding of a panel's: criteria, and what no judge has seen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from voirdire.errors import InputError
from voirdire.infer import checks as check
from voirdire.infer.method import LAPLACE_DRAWS, Inferred, Method
from voirdire.infer.posterior import Mode, Posterior
from voirdire.model.problem import Problem
from voirdire.typing import Floats, Ints

MODES = JOINT, CUT = "joint", "cut"
STACKING = "stacking"
AVERAGE = "average"
PEOPLE_ALONE = "people alone"
DEFAULT_METHODS = {"pairs": STACKING, "linked": JOINT}  # the way to use anchors that others must clearly beat
MAJORITY = "majority"
MAX_FOLDS = 20  # joint and cut posteriors are refitted this many times at most
TIE_TOLERANCE = 1e-9  # answers whose probabilities differ by less are equally likely

P = TypeVar("P", bound=Problem)


@dataclass(frozen=True)
class Anchored:
    """Record of how anchors were used.

    Attributes
    ----------
    mode : str
        "joint" or "cut": whose posterior the tables of items and judges show.
    chosen : str
        The method that was chosen.
    methods : tuple of dict
        Per method: ``method``, ``log_loss`` and ``log_loss_se`` (mean and standard error over anchors left out one at
        a time), ``accuracy`` (share of them answered rightly, halves for ties), ``chosen``, ``used`` (what the result
        has from it: "items and judges", "items", "judges", "pairs"; empty where nothing).
    pairs : tuple of dict
        For tables of unconnected pairs: ``criterion`` (where there are several), ``first``, ``second``, ``p_first``.
    over : str
        The method that others had to beat: the default, or people alone; empty where none were compared.
    """

    mode: str
    chosen: str
    methods: tuple[dict[str, Any], ...]
    pairs: tuple[dict[str, Any], ...] = field(default=())
    over: str = ""


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Predictions by a method of anchors that it did not see, shape (anchors,) each.

    Attributes
    ----------
    p : array
        Probability of what people answered.
    doubt : array
        Probability of all but the likeliest answer.
    right : array
        1 where the likeliest answer is people's, its share where several are equally likely.
    usable : bool
        Whether the method can be chosen; others are shown only.
    """

    p: Floats
    doubt: Floats
    right: Floats
    usable: bool = True

    @classmethod
    def from_answer_probabilities(cls, probability: Floats, answer: Ints, usable: bool = True) -> LeftOut:
        """Predictions of answers that are one of several.

        Parameters
        ----------
        probability : array, shape (anchors, answers)
            Probability of every answer.
        answer : int array, shape (anchors,)
            What people answered.

        Examples
        --------
        >>> LeftOut.from_answer_probabilities(np.array([[0.25, 0.75], [0.5, 0.5]]), np.array([1, 0])).right.tolist()
        [1.0, 0.5]
        """
        rows, best = (
            np.arange(len(answer)),
            probability > probability.max(axis=1, keepdims=True) - TIE_TOLERANCE,
        )
        doubt = np.sort(probability, axis=1)[:, :-1].sum(
            axis=1
        )  # not one less the largest, which rounds to zero
        return cls(probability[rows, answer], doubt, best[rows, answer] / best.sum(axis=1), usable)


def anchor_folds(count: int) -> list[Ints]:
    """Parts of so many anchors that are left out together: one each, or ``MAX_FOLDS`` parts."""
    return [np.arange(start, count, MAX_FOLDS) for start in range(min(MAX_FOLDS, count))]


class HumanAnswers(Generic[P]):
    """People's answers of a problem; of this class itself, where they only enter the likelihood.

    Attributes
    ----------
    drawn : str
        How cutting draws, in words.
    reference : str
        The method that learns nothing from judges' answers to anchors, beside which all others are shown.
    says_items : str or None
        The method that says what items are, whichever is chosen.
    """

    drawn: ClassVar[str] = ""
    reference: ClassVar[str] = MAJORITY
    says_items: ClassVar[str | None] = None

    def __init__(self, problem: P) -> None:
        self.problem = problem

    @property
    def can_cut(self) -> bool:
        """True if people's answers can teach judges by themselves under the problem's model."""
        return False

    @property
    def default(self) -> str:
        """The method that others must clearly beat."""
        return DEFAULT_METHODS["linked"]

    @property
    def of_chosen(self) -> str:
        """Results that the chosen method gives, in words."""
        return "items and judges" if self.says_items is None else "judges"

    def check_cut(self) -> None:
        """Raise where they cannot teach judges.

        Raises
        ------
        InputError
        """

    def check_requested_method(self, requested: str | None, method: str) -> None:
        """Raise where they cannot be used as asked.

        Raises
        ------
        InputError
        """
        if requested != CUT:
            return
        self.check_cut()
        if method == "nuts":
            raise InputError(
                f"anchor mode 'cut' is not for method 'nuts': {self.drawn}; use method='laplace', or "
                "anchor_mode='joint'"
            )

    def compares(self, requested: str | None, can_cut: bool) -> bool:
        """True if methods are compared by anchors left out: where nothing was asked for and both ways are possible."""
        return requested is None and can_cut

    def left_out(self, requested: str | None, joint: Floats) -> dict[str, LeftOut]:
        """Predictions of anchors left out, in up to ``MAX_FOLDS`` parts, by every method that may be used.

        Parameters
        ----------
        requested : "joint", "cut" or None
        joint : array, shape (size,)
            The joint mode.
        """
        return {}

    @property
    def people_only(self) -> HumanAnswers[P]:
        """The same with items scored by people's answers alone, without the judges' votes."""
        return self

    def cut(self, how: Method) -> Inferred:
        """The cut posterior."""
        if how.name == "map":
            mode = self.cut_mode()
            convergence = check.check_convergence(mode.gradient, mode.converged)
            return Inferred(Posterior(self.problem.density, mode.x, None), (convergence,), method="map")
        draws, modes = self.cut_draws(LAPLACE_DRAWS, np.random.default_rng(how.seed))
        convergence = check.check_convergence(
            max(mode.gradient for mode in modes), all(mode.converged for mode in modes)
        )
        return Inferred(Posterior(self.problem.density, draws.mean(axis=0), draws[None]), (convergence,))

    def cut_mode(self) -> Mode:
        """Mode of the cut posterior."""
        raise NotImplementedError

    def cut_draws(self, count: int, rng: np.random.Generator) -> tuple[Floats, list[Mode]]:
        """Draws of the cut posterior, shape (count, size), and the modes given each draw of what anchors teach."""
        raise NotImplementedError

    def answered(self, chosen: str) -> P:
        """The problem, with what the chosen method says of it where that is no posterior's."""
        return self.problem

    def pairs(self, chosen: str, posterior: Posterior) -> tuple[dict[str, Any], ...]:
        """Answers to unconnected pairs by the chosen method; see :class:`Anchored`."""
        return ()
