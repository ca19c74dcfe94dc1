"""The density of a model of labels, with the class of every item summed out.

Item i (under criterion c) belongs to class j with probability share_c,j, and judge k gives an item of class j label l
with probability rate_k,j,l. With n_i,k,l the number of times judge k gave label l to item i,

    P(labels of i) = sum_j share_c,j prod_k,l rate_k,j,l ^ n_i,k,l

(Dawid and Skene 1979, JRSS C 28, eq. 2.7). For items of known class (anchors) the sum has one term, so known classes
inform rates and shares jointly with the other items. Items with the same labels are counted together.

Renaming the classes, and with them the rows of all rates, does not change the likelihood. Only the prior's lean, which
favours right labels, identifies the names; classes with an anchor keep their name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import permutations
from statistics import NormalDist
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from voirdire.kinds.labels.curvature import negative_hessian
from voirdire.kinds.labels.expected import ExpectedGrades, ExpectedLabels
from voirdire.kinds.labels.layout import LabelsLayout, is_compressed, multiply_counts, sum_by_item
from voirdire.kinds.labels.matrix_free_draws import laplace_draws
from voirdire.kinds.labels.renaming import best_renaming, log_permanent
from voirdire.kinds.labels.states import log_joint, log_rates
from voirdire.model.density import ClosedFormDerivatives, Data
from voirdire.model.terms import CLASSES, CONFUSION, MATRICES, SHARED_ERRORS
from voirdire.model.terms.arrays import Array
from voirdire.model.terms.confusion import log_softmax, log_sum_exp
from voirdire.model.terms.parameters import Parameter
from voirdire.model.terms.score_probabilities import log_expectation
from voirdire.model.terms.shared_errors import VALUE_NODES, JudgeCutpointsOfLabels, gauss_hermite_rule, log_class_shares
from voirdire.model.terms.term import Values
from voirdire.typing import Floats, Ints

MAX_SUMMED_CLASSES = 8  # largest number of classes for sums over renamings
MAX_DRAWN_CLASSES = 6  # largest number of classes for draws from all renamings
MAX_TWINS = 24  # largest number of renamings that give proposals: all renamings of four classes
LEVEL_CUTPOINTS = JudgeCutpointsOfLabels()  # term of ordered labels
VALUE_WEIGHTS = gauss_hermite_rule(VALUE_NODES)[1]
SMOOTHING = 0.5  # pseudo-count of labels in each cell of starting values


@dataclass(frozen=True)
class LabelsDensity(LabelsLayout):
    """The density of a model of labels; its parameters are those of :class:`.LabelsLayout`.

    Examples
    --------
    >>> from voirdire.model.specs import load_model
    >>> model = load_model("hierarchical-dawid-skene")
    >>> LabelsDensity(model, judges=3, criteria=1, items=9, units=9, classes=2, labels=2).size
    9
    """

    mixture: ClassVar[bool] = True

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """All parameters, in the order of the flat vector."""
        classes, judging = self.model.classes, self.model.reliability
        assert classes is not None  # every model file of labels has this section
        terms = CLASSES[classes.kind].parameters(classes.numbers)
        terms += CONFUSION[judging.kind].parameters(judging.numbers)
        empty_dims = {dim for dim in ("gap", "family") if not self.sizes[dim]}
        return tuple(p for p in terms if empty_dims.isdisjoint(p.dims))

    @property
    def latent(self) -> bool:
        """True if items have a latent class, so that labels are right or wrong."""
        return self.model.classes is not None and self.model.classes.kind != "by-item"

    @property
    def has_grades(self) -> bool:
        """True if items have a latent value, which judges divide into levels."""
        return self.model.classes is not None and self.model.classes.kind == "latent-value"

    @property
    def shares_errors(self) -> bool:
        """True if judges of a family share an effect of each item; see :mod:`.labels.states`."""
        return self.model.reliability.kind in SHARED_ERRORS

    @property
    def free(self) -> tuple[int, ...]:
        """Classes without an anchor, which may exchange names."""
        return tuple(j for j in range(self.classes) if j not in self.anchored)

    @property
    def has_mirror(self) -> bool:
        """True if classes can exchange names; more than eight classes without an anchor keep their names."""
        if self.shares_errors and not SHARED_ERRORS[self.model.reliability.kind].symmetric:
            # an effect is on right labels: with two labels, renaming changes its sign
            return not self.has_grades and self.labels == 2 and len(self.free) == 2
        if self.lean_parameter:
            return 2 <= len(self.free) <= MAX_SUMMED_CLASSES
        return "reliability" in self.parameter_slices and self.labels == 2 and len(self.free) == 2

    @property
    def lean_parameter(self) -> str | None:
        """Name of the parameter that the lean is added to: the panel's rows, else the rows of each judge."""
        return next((name for name in ("confusion", "confusion_judge") if name in self.parameter_slices), None)

    def rates(self, values: Values, xp: Any) -> Array:
        """Log P(label | class), shape (..., judges or 1, classes, labels); effects of families are summed out."""
        section = self.model.reliability
        if self.shares_errors and values["log_load"].ndim > 1:
            if self.has_grades:
                return self._rates_and_shares(values)[0]
            return np.stack([self.rates(draw, xp) for draw in _split_draws(values)])
        if self.has_grades:
            return LEVEL_CUTPOINTS.log_rates(values, section.numbers, self.sizes, xp)
        if self.shares_errors:
            return log_rates(self, values, xp)
        return MATRICES[section.kind].log_rates(values, section.numbers, self.sizes, xp)

    def nodes(self, values: Values, judges: Ints, xp: Any) -> Array:
        """Log P(label | state, effect) for judges who share errors, shape (judges, states, effects, labels)."""
        section = self.model.reliability
        return SHARED_ERRORS[section.kind].log_nodes(values, section.numbers, self.sizes, judges, xp)

    def effects(self, values: Values, block: int | None, xp: Any) -> Array:
        """Log P(effect | state) of a block of judges, or of a judge alone (None), (effects,) or (states, effects)."""
        return SHARED_ERRORS[self.model.reliability.kind].log_weights(values, self.sizes, block, xp)

    def log_class_by_value(self, values: Values, xp: Any) -> Array:
        """Log P(class | value) for ordered labels, shape (values, classes)."""
        return LEVEL_CUTPOINTS.log_class_probabilities(values, self.model.reliability.numbers, self.sizes, xp)

    def shares(self, values: Values, xp: Any) -> Array:
        """Log shares of the classes, shape (..., criteria, classes)."""
        if not self.has_grades:
            return log_softmax(values["class_share"], self.classes, xp)
        if values["log_load"].ndim > 1:
            return self._rates_and_shares(values)[1]
        log = log_class_shares(self.log_class_by_value(values, xp), xp)
        return log[None] + np.zeros((self.criteria, 1))

    def _rates_and_shares(self, values: Values) -> tuple[Floats, Floats]:
        """Rates and shares of draws of ordered labels; the result for the last draws is cached."""
        cached = self.__dict__.get("_kept_draws")
        if cached is None or cached[0] is not values["log_load"]:
            numbers = self.model.reliability.numbers
            pairs = [
                LEVEL_CUTPOINTS.log_rates_and_shares(draw, numbers, self.sizes, np) for draw in _split_draws(values)
            ]
            shares = np.repeat(np.stack([share for _, share in pairs])[:, None], self.criteria, axis=1)
            cached = values["log_load"], (np.stack([rates for rates, _ in pairs]), shares)
            self.__dict__["_kept_draws"] = cached
        result: tuple[Floats, Floats] = cached[1]
        return result

    def log_parts(self, values: Values, data: Data, xp: Any) -> list[tuple[Array, Array]]:
        """Log probability of the labels of each distinct item, and the number of such items."""
        part = data["labels"]
        if not self.latent:
            return [(log_softmax(values["tendency"], self.labels, xp), part["counts"])]
        return [(log_sum_exp(self.joint(values, data, xp), self.classes, xp), part["weight"])]

    def outcome_names(self, data: Data) -> list[str]:
        """A name for each of :meth:`log_probabilities_and_counts`."""
        return ["labels"]

    def joint(self, values: Values, data: Data, xp: Any) -> Array:
        """Log P(class and labels) of each distinct item, shape (distinct, classes); not for draws."""
        part = data["labels"]
        if self.shares_errors:
            log = log_joint(self, values, part["counts"], xp)
        else:
            rates = self.rates(values, xp).transpose(0, 2, 1).reshape((-1, self.classes))
            log = multiply_counts(part["counts"], rates, xp)
        if not self.has_grades:
            return log + self.shares(values, xp)[part["criterion"]] + part["known"]
        named = self.log_class_by_value(values, xp)
        logs = [
            log_expectation(log + named[:, c], VALUE_WEIGHTS, xp) + part["known"][:, c] for c in range(self.classes)
        ]
        return xp.stack(logs, axis=-1)

    def state_probabilities(self, values: Values, data: Data) -> Floats:
        """P(state | labels and known class), shape (distinct, states), for models with shared errors."""
        if self.has_grades:
            part = data["labels"]
            log = log_joint(self, values, part["counts"], np) + VALUE_WEIGHTS
            log = log + log_expectation(self.log_class_by_value(values, np) + part["known"][:, None, :], 0.0, np)
        else:
            log = self.joint(values, data, np)
        weights = np.exp(log - log.max(axis=1, keepdims=True))
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    def mirror_values(self, x: Array, xp: Any) -> Array:
        """Return the flat vector with two classes swapped, if exactly two can be.

        Raises
        ------
        ValueError
            No class can change its name, or more than two can.
        """
        if not self.has_mirror or len(self.free) != 2:
            raise ValueError(f"model {self.model.name} has no mirror here, or more than one")
        return self.rename_classes(x, self._class_order((1, 0)), xp)

    def _class_order(self, names: Sequence[int] | Ints) -> Ints:
        """The new name of every class, for a permutation ``names`` of the free classes."""
        order, free = np.arange(self.classes), np.array(self.free)
        order[free] = free[list(names)]
        return order

    def rename_classes(self, x: Array, order: npt.NDArray[np.int64], xp: Any) -> Array:
        """Return the flat vectors, shape (..., size), with class j renamed ``order[j]``."""
        values = self.values(x, xp)
        old_class = np.argsort(order)  # the class that gets each name
        out = {**values, "class_share": values["class_share"][..., old_class]}
        if "reliability" in values:
            out["reliability"] = -values["reliability"]
        by_class = ("confusion", "confusion_judge", "common_label")
        out |= {name: values[name][..., old_class, :] for name in by_class if name in values}
        if self.lean_parameter:
            # rows move without their lean, which stays on the diagonal
            eye = np.eye(self.classes, self.labels)
            out[self.lean_parameter] = out[self.lean_parameter] + self.model.reliability.numbers["lean"] * (
                eye[old_class] - eye
            )
        return self.flat(out, xp)

    def name_scores(self, x: Array, xp: Any) -> Array:
        """Log prior density of each free class's row under each free name, up to a constant, shape (..., free, free).

        Only the prior of rows with the lean identifies names: the priors of the shares and of judges' deviations from
        the panel treat all classes alike.
        """
        assert self.lean_parameter is not None
        numbers, of_panel = self.model.reliability.numbers, self.lean_parameter == "confusion"
        lean, sd = numbers["lean"], numbers["sd" if of_panel else "judge_sd"]
        eye = np.eye(self.classes, self.labels)
        (parameter,) = (p for p in self.parameters if p.name == self.lean_parameter)
        rows = parameter.value(self._free_coordinates(parameter, x), self.sizes, xp) + lean * eye
        free = list(self.free)
        # the distance in the plane of zero sum is that of the free coordinates
        gap = rows[..., free, None, :] - lean * eye[free]
        score = -0.5 * (gap * gap).sum(axis=-1) / sd**2
        return score if of_panel else score.sum(axis=-3)

    def symmetric_log_prior(self, x: Array, data: Data, xp: Any) -> Array:
        """Log of the sum of the prior over all renamings; the log prior if there are none."""
        if not self.has_mirror or "reliability" in self.parameter_slices:
            return super().symmetric_log_prior(x, data, xp)
        return self.log_prior(x, xp) + self.log_turned(x, data, xp)

    def log_turned(self, x: Array, data: Data, xp: Any) -> Array:
        """Change of the log prior by summing over all renamings; only the rows with the lean contribute."""
        if not self.has_mirror or "reliability" in self.parameter_slices:
            return super().log_turned(x, data, xp)
        scores, size = self.name_scores(x, xp), len(self.free)
        return log_permanent(scores, size, xp) - sum(scores[..., j, j] for j in range(size))

    def fold_orientations(self, draws: Floats, data: Data) -> tuple[Floats, Floats, npt.NDArray[np.bool_]]:
        """Rename the classes of every draw as the prior prefers; see :class:`voirdire.model.density.LogDensity`."""
        if not self.has_mirror or "reliability" in self.parameter_slices:
            return super().fold_orientations(draws, data)
        flat = draws.reshape(-1, self.size)
        scores = self.name_scores(flat, np)
        best = best_renaming(scores)
        size = len(self.free)
        folded = flat.copy()
        for names in np.unique(best, axis=0):
            if (names == np.arange(size)).all():
                continue
            rows = (best == names).all(axis=1)
            folded[rows] = self.rename_classes(flat[rows], self._class_order(names), np)
        best_score = np.take_along_axis(scores, best[..., None], axis=-1)[..., 0].sum(axis=-1)
        ratio = np.expm1(np.maximum(log_permanent(scores, size, np) - best_score, 0.0))
        is_turned = (best != np.arange(size)).any(axis=1)
        lead = draws.shape[:-1]
        return folded.reshape(draws.shape), ratio.reshape(lead), is_turned.reshape(lead)

    def prior_prefers(self, x: Floats) -> npt.NDArray[np.bool_]:
        """True for all renamings, as draws are folded by the prior alone."""
        if "reliability" in self.parameter_slices:
            return super().prior_prefers(x)
        return np.ones(x.shape[:-1], dtype=bool)

    def fold_with_twins(self, draws: Floats, data: Data) -> tuple[Floats, npt.NDArray[np.bool_], Iterator[Floats]]:
        """Rename the classes of every draw as the prior prefers; see :class:`voirdire.model.density.LogDensity`.

        Each renaming gives a twin, 5,040 for seven classes, but draws need few of them: the most frequent ones are
        used.
        """
        if not self.has_mirror or "reliability" in self.parameter_slices:
            return super().fold_with_twins(draws, data)
        folded = self.fold_orientations(draws, data)[0]
        names, choice, counts = np.unique(
            best_renaming(self.name_scores(draws, np)), axis=0, return_inverse=True, return_counts=True
        )
        frequent = np.argsort(-counts, kind="stable")[:MAX_TWINS]
        orders = [np.argsort(self._class_order(names[index])) for index in frequent]
        identity = np.arange(self.classes)
        twins = (self.rename_classes(folded, order, np) for order in orders if (order != identity).any())
        return folded, np.isin(choice.ravel(), frequent), twins

    def some_twin(self, x: Floats, data: Data, rng: np.random.Generator) -> Floats:
        """Rename each vector at random: by any renaming of up to six free classes, else by a swap of two names."""
        if "reliability" in self.parameter_slices:
            return super().some_twin(x, data, rng)
        scores, size = self.name_scores(x, np), len(self.free)
        names = np.array(
            list(permutations(range(size)))[1:]
            if size <= MAX_DRAWN_CLASSES
            else [_swapped_indices(size, i, j) for i in range(size) for j in range(i)]
        )
        log = scores[:, np.arange(size), names].sum(axis=-1)
        drawn_names = (log + rng.gumbel(size=log.shape)).argmax(axis=1)
        out = x.copy()
        for choice in np.unique(drawn_names):
            order = self._class_order(names[choice])
            out[drawn_names == choice] = self.rename_classes(x[drawn_names == choice], order, np)
        return out

    def starts(self, data: Data) -> list[Floats]:
        """Start at the estimate with class probabilities equal to shares of labels, and at the mode of the prior."""
        part = data["labels"]
        if not self.latent:
            log = np.log(part["counts"] + SMOOTHING)
            return [self._flat_from({"tendency": log - log.mean(axis=-1, keepdims=True)})]
        if self.has_grades:
            return [self._flat_from(self._graded_start(part["counts"], part["weight"]))]
        judges = part["counts"].shape[1] // self.labels
        votes = sum_by_item(part["counts"], self.labels)[:, : self.classes] + SMOOTHING
        known_probability = np.exp(np.maximum(part["known"], -700.0))
        belief = votes / votes.sum(axis=1, keepdims=True) * known_probability
        belief = part["weight"][:, None] * belief / np.maximum(belief.sum(axis=1, keepdims=True), 1e-300)
        start: Values = {}
        share = np.full((self.criteria, self.classes), SMOOTHING)
        np.add.at(share, part["criterion"], belief)
        start["class_share"] = _centre_logs(np.log(share))
        by_judge = (belief.T @ part["counts"]).reshape(self.classes, judges, self.labels).transpose(1, 0, 2)
        right = np.eye(self.classes, self.labels)
        if "reliability" in self.parameter_slices:
            hit = (by_judge * right).sum(axis=(1, 2)) + 2.0
            start["reliability"] = np.log(hit) - np.log(by_judge.sum(axis=(1, 2)) - hit + 3.0)
        else:
            panel = by_judge.sum(axis=0) + SMOOTHING + right
            rate = panel / panel.sum(axis=1, keepdims=True)
            if "confusion" in self.parameter_slices:
                start["confusion"] = _centre_logs(np.log(panel))
            if "confusion_judge" in self.parameter_slices:
                base = rate if "confusion" in self.parameter_slices else 1.0
                start["confusion_judge"] = _centre_logs(np.log(by_judge + 4.0 * rate) - np.log(base))
            assert self.lean_parameter is not None
            start[self.lean_parameter] = _centre_logs(
                start[self.lean_parameter] - self.model.reliability.numbers["lean"] * right
            )
        if self.shares_errors:
            term, numbers = SHARED_ERRORS[self.model.reliability.kind], self.model.reliability.numbers
            zeros = {p.name: np.zeros(p.shape(self.sizes)) for p in self.parameters}
            return [self._flat_from(zeros | start | extra) for extra in term.starts(numbers, self.sizes)]
        return [self._flat_from(start), np.zeros(self.size)]

    def closed_form(self, data: Data) -> ClosedFormDerivatives | None:
        """Derivatives from expected counts, or None.

        Available for confusion matrices (:class:`.labels.expected.ExpectedLabels`), and for ordered labels without
        known classes (:class:`.labels.expected_grades.ExpectedGrades`).
        """
        if "pinned" in data:
            return None
        if self.has_grades and not self.anchored:
            return ClosedFormDerivatives(ExpectedGrades(self, data).value_gradient)
        if not self.lean_parameter or self.shares_errors:
            return None
        expected = ExpectedLabels(self, data)
        compressed = is_compressed(data["labels"]["counts"])
        draws_about_mode = partial(laplace_draws, expected) if compressed else None
        return ClosedFormDerivatives(
            expected.value_gradient,
            expected.inverse_information,
            draws_about_mode=draws_about_mode,
            hessian=partial(negative_hessian, expected),
        )

    def _graded_start(self, counts: Floats, weight: Floats) -> Values:
        """Start with equal judges, and cutpoints that give a standard normal value the observed shares of labels."""
        numbers, normal = self.model.reliability.numbers, NormalDist()
        used = weight @ counts.reshape(len(counts), -1, self.labels).sum(axis=1) + SMOOTHING
        cumulative = np.cumsum(used / used.sum())[:-1]
        cuts = np.array([normal.inv_cdf(float(share)) for share in cumulative])
        start: Values = {parameter.name: np.zeros(parameter.shape(self.sizes)) for parameter in self.parameters}
        start["log_sharpness"] = np.array(numbers["mean"])
        start["cut_location"] = np.array(0.5 * (cuts[0] + cuts[-1]))
        start |= LEVEL_CUTPOINTS.starts(numbers, self.sizes)[0]
        if "log_gap" in start:
            start["log_gap"] = np.log(np.maximum(np.diff(cuts), 0.05))
        return start

    def _flat_from(self, values: Values) -> Floats:
        return np.asarray(self.flat(values, np), dtype=float)


def _split_draws(values: Values) -> list[Values]:
    """Split values with a leading axis of draws into one set of values per draw."""
    return [{name: value[n] for name, value in values.items()} for n in range(len(values["log_load"]))]


def _swapped_indices(size: int, i: int, j: int) -> list[int]:
    names = list(range(size))
    names[i], names[j] = j, i
    return names


def _centre_logs(log: Floats) -> Floats:
    return np.asarray(log - log.mean(axis=-1, keepdims=True))
