"""Ways to use people's answers (anchors) in a problem: interface of the kinds of data, and record of the use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from voirdire.errors import InputError
from voirdire.infer import checks as check
from voirdire.infer.method import LAPLACE_DRAWS, Inferred, Method
from voirdire.infer.posterior import Mode, Posterior
from voirdire.model.density import Data, LogDensity
from voirdire.model.problem import Problem
from voirdire.typing import Floats, Ints

MODES = JOINT, CUT = "joint", "cut"
STACKING = "stacking"
AVERAGE = "average"
PEOPLE_ALONE = "people alone"
DEFAULT_METHODS = {"pairs": STACKING, "linked": JOINT}  # methods that others must clearly beat
MAJORITY = "majority"
MAX_FOLDS = 20  # largest number of refits of the joint and of the cut posterior
TIE_TOLERANCE = 1e-9  # difference of probabilities below which answers are equally likely

P = TypeVar("P", bound=Problem)


@dataclass(frozen=True)
class Anchored:
    """Record of the use of anchors.

    Attributes
    ----------
    mode : str
        Posterior of the tables of items and judges: "joint" or "cut".
    chosen : str
        Chosen method.
    methods : tuple of dict
        For each method: ``method``; ``log_loss`` and ``log_loss_se``, mean and standard error over anchors left out
        one at a time; ``accuracy``, the share of right predictions (ties count half); ``chosen``; ``used``, the results
        from this method: "items and judges", "items", "judges", "pairs", or empty.
    pairs : tuple of dict
        For unconnected pairs: ``criterion`` (if there are several), ``first``, ``second``, ``p_first``.
    over : str
        Method that others had to beat: the default, or people alone; empty if none were compared.
    """

    mode: str
    chosen: str
    methods: tuple[dict[str, Any], ...]
    pairs: tuple[dict[str, Any], ...] = field(default=())
    over: str = ""


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Predictions of held-out anchors by a method, shape (anchors,) each.

    Attributes
    ----------
    p : array
        Probability of people's answer.
    doubt : array
        Probability of all answers but the most probable one.
    right : array
        1 where the most probable answer is people's; where several are equally probable, 1 divided by their number.
    usable : bool
        Whether the method can be chosen; if not, it is only shown.
    """

    p: Floats
    doubt: Floats
    right: Floats
    usable: bool = True

    @classmethod
    def from_answer_probabilities(cls, probability: Floats, answer: Ints, usable: bool = True) -> LeftOut:
        """Make predictions from the probabilities of the possible answers.

        Parameters
        ----------
        probability : array, shape (anchors, answers)
            Probability of every possible answer.
        answer : int array, shape (anchors,)
            Code of people's answer.

        Examples
        --------
        >>> LeftOut.from_answer_probabilities(np.array([[0.25, 0.75], [0.5, 0.5]]), np.array([1, 0])).right.tolist()
        [1.0, 0.5]
        """
        rows, best = (np.arange(len(answer)), probability > probability.max(axis=1, keepdims=True) - TIE_TOLERANCE)
        other_probability = np.sort(probability, axis=1)[:, :-1].sum(axis=1)  # 1 - max would round to zero
        return cls(probability[rows, answer], other_probability, best[rows, answer] / best.sum(axis=1), usable)


def anchor_folds(count: int) -> list[Ints]:
    """Divide anchors into folds that are left out together: one anchor each, or ``MAX_FOLDS`` folds."""
    return [np.arange(start, count, MAX_FOLDS) for start in range(min(MAX_FOLDS, count))]


def fix_parameters(density: LogDensity, data: Data, values: Mapping[str, Floats | float]) -> Data:
    """Add fixed values of some parameters to tables; values of parameters that the density lacks are not used."""
    x = density.flat(
        {p.name: np.broadcast_to(values.get(p.name, 0.0), p.shape(density.sizes)) for p in density.parameters}, np
    )
    fixed = np.zeros(density.size)
    for name in density.parameter_slices.keys() & values.keys():
        fixed[density.parameter_slices[name]] = 1.0
    return data | {"pinned": {"x": x, "held": fixed}}


class HumanAnswers(Generic[P]):
    """Answers of people in a problem; this base class is for kinds in which they only enter the likelihood.

    Attributes
    ----------
    drawn : str
        Description of draws from the cut posterior.
    reference : str
        Reference method, which learns nothing from judges' answers to anchors.
    says_items : str or None
        Method of the results about items under every choice, if there is one.
    """

    drawn: ClassVar[str] = ""
    reference: ClassVar[str] = MAJORITY
    says_items: ClassVar[str | None] = None

    def __init__(self, problem: P) -> None:
        self.problem = problem

    @property
    def can_cut(self) -> bool:
        """True if people's answers alone can teach judges under the problem's model."""
        return False

    @property
    def default(self) -> str:
        """The method that others must clearly beat."""
        return DEFAULT_METHODS["linked"]

    @property
    def of_chosen(self) -> str:
        """Results from the chosen method, in words."""
        return "items and judges" if self.says_items is None else "judges"

    def check_cut(self) -> None:
        """Raise if people's answers alone cannot teach judges.

        Raises
        ------
        InputError
        """

    def check_requested_method(self, requested: str | None, method: str) -> None:
        """Raise if people's answers cannot be used as requested.

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
        """True if methods are compared by anchors left out: without a request, and if the cut is possible."""
        return requested is None and can_cut

    def left_out(self, requested: str | None, joint: Floats) -> dict[str, LeftOut]:
        """Predict anchors left out, in up to ``MAX_FOLDS`` folds, by every possible method.

        Parameters
        ----------
        requested : "joint", "cut" or None
            Requested method.
        joint : array, shape (size,)
            Joint mode.
        """
        return {}

    @property
    def people_only(self) -> HumanAnswers[P]:
        """The same with scores of items from people's answers alone, without the judges' votes."""
        return self

    def cut(self, method: Method) -> Inferred:
        """Compute the cut posterior."""
        if method.name == "map":
            mode = self.cut_mode()
            convergence = check.check_convergence(mode.gradient, mode.converged)
            return Inferred(Posterior(self.problem.density, mode.x, None), (convergence,), method="map")
        draws, modes = self.cut_draws(LAPLACE_DRAWS, np.random.default_rng(method.seed))
        converged = all(mode.converged for mode in modes)
        convergence = check.check_convergence(max(mode.gradient for mode in modes), converged)
        return Inferred(Posterior(self.problem.density, draws.mean(axis=0), draws[None]), (convergence,))

    def cut_mode(self) -> Mode:
        """Find the mode of the cut posterior."""
        raise NotImplementedError

    def cut_draws(self, count: int, rng: np.random.Generator) -> tuple[Floats, list[Mode]]:
        """Draw from the cut posterior, shape (count, size); also return the mode given each draw of the judges."""
        raise NotImplementedError

    def answered(self, chosen: str) -> P:
        """Return the problem, with results of the chosen method that are not from a posterior, if any."""
        return self.problem

    def pairs(self, chosen: str, posterior: Posterior) -> tuple[dict[str, Any], ...]:
        """Predict unconnected pairs by the chosen method; see :class:`Anchored`."""
        return ()
