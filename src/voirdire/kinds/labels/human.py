"""Items of known class: several methods that learn from them, compared on held-out items, and their average.

The joint and the cut posterior are compared, and one of them gives the reliability of judges. Class probabilities are
averages over both, over the fit without known classes, and over a stacking, each mixed with the shares of labels. The
weights follow from the prediction of held-out known items (:mod:`.labels.target`), so that uninformative known items
change nothing. The comparison includes the average, with each held-out item left out of the weights, too.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from voirdire.errors import InputError
from voirdire.infer import checks as check
from voirdire.infer import mirror
from voirdire.infer.infer import infer_at_mode
from voirdire.infer.method import LAPLACE_DRAWS, Inferred, Method
from voirdire.infer.mode import find_mode
from voirdire.infer.posterior import Posterior
from voirdire.kinds.human import AVERAGE, CUT, JOINT, MAJORITY, STACKING, HumanAnswers, LeftOut, anchor_folds
from voirdire.kinds.labels.class_probabilities import class_probabilities, collect_panel_probabilities
from voirdire.kinds.labels.cut import cut_draws, cut_mode
from voirdire.kinds.labels.influence import count_labels
from voirdire.kinds.labels.problem import LabelsProblem, encode_labels
from voirdire.kinds.labels.stacking import MIN_KNOWN_ITEMS, Stacking
from voirdire.kinds.labels.target import Panel, average_predictions
from voirdire.model.density import Data
from voirdire.typing import Floats, Ints

MAX_STACKED_NUMBERS = 50_000_000  # largest number of items x judges x labels for stacking


class HumanLabels(HumanAnswers[LabelsProblem]):
    """Items of known class."""

    drawn = "judges are drawn given the anchors alone and the shares given judges"
    says_items = AVERAGE

    @property
    def can_cut(self) -> bool:
        """True if the model has a reliability for each judge, and judges err independently."""
        return self.problem.density.latent and not self.problem.density.shares_errors

    @property
    def _enough_known(self) -> bool:
        """True if there are enough known items for stacking, and the table is not too large."""
        problem, size = self.problem, len(self.problem.unit_item) * len(self.problem.labels)
        return len(self.known) >= MIN_KNOWN_ITEMS and len(problem.judges) * size <= MAX_STACKED_NUMBERS

    @property
    def can_stack(self) -> bool:
        """True if judges share errors, so that there is no cut posterior, and enough items are known."""
        return self._enough_known and self.problem.density.shares_errors

    @cached_property
    def known(self) -> Ints:
        """Units of known class."""
        return np.flatnonzero(self.problem.known >= 0)

    def check_cut(self) -> None:
        """As in :class:`.HumanAnswers`: refuse models in which judges are alike or share errors."""
        problem = self.problem
        if not problem.density.latent:
            raise InputError(
                f"anchor mode 'cut' learns judges from the anchors, but model {problem.model.name} takes all judges "
                "alike; take hierarchical-dawid-skene, dawid-skene-pooled or one-coin-label, or anchor_mode='joint'"
            )
        if problem.density.shares_errors:
            raise InputError(
                f"anchor mode 'cut' is for models whose judges err independently, not for {problem.model.name}: take "
                "hierarchical-dawid-skene, or anchor_mode='joint'"
            )

    def compares(self, requested: str | None, can_cut: bool) -> bool:
        """True if the user named no mode and there are several methods."""
        return requested is None and (can_cut or self.can_stack)

    @cached_property
    def _label_counts(self) -> Floats:
        """Counts of the labels that each judge gave, shape (units, judges, labels)."""
        return count_labels(self.problem, self.problem.table, len(self.problem.judges))

    @cached_property
    def _majority_shares(self) -> Floats:
        return _majority_shares(count_labels(self.problem, self.problem.table, 1), self.problem.classes)

    @cached_property
    def _mode_probabilities(self) -> dict[str, Floats]:
        """P(class) by the joint and the cut mode, with known units held out, shape (units, classes).

        With shared errors there is no cut, and the joint mode is the one without known items, for all units: known
        items are few, and each search takes long.
        """
        problem, known_units = self.problem, self.known
        if not self.can_cut:
            return {JOINT: _mode_probabilities(problem, JOINT, known_units)}
        probabilities = {}
        for name in (JOINT, CUT):
            probability = _mode_probabilities(problem, name, known_units[:0])
            for part in anchor_folds(len(known_units)):
                hidden = known_units[part]
                probability[hidden] = _mode_probabilities(problem, name, hidden)[hidden]
            probabilities[name] = probability
        return probabilities

    @cached_property
    def _unanchored_probabilities(self) -> Floats:
        """P(class) of all units by the joint mode without known classes."""
        if not self.can_cut:
            return self._mode_probabilities[JOINT]
        return _mode_probabilities(self.problem, JOINT, self.known)

    @cached_property
    def _stacking_model(self) -> Stacking:
        panel, known = (*self._mode_probabilities.values(), self._majority_shares), self.known
        groups = self.problem.unit_row.copy()
        groups[known] = len(groups) + np.arange(len(known))  # each was held out in its fold
        return Stacking(
            _label_shares(self._label_counts), panel, known, self.problem.known[known], duplicate_group=groups
        )

    @cached_property
    def _stacked_probabilities(self) -> tuple[Floats, Floats]:
        return self._stacking_model.stacked_probabilities()

    def classify_new_items(self, data: Data) -> Floats:
        """P(class) about the target for new items, shape (items, classes).

        Parameters
        ----------
        data : dict
            Labels of the new items, in the form of the problem's ``data``.
        """
        problem, known = self.problem, self.known
        probabilities = [_mode_probabilities(problem, JOINT, known, data)]
        if self.can_cut:
            probabilities += [_mode_probabilities(problem, name, known[:0], data) for name in (JOINT, CUT)]
        panels = [collect_panel_probabilities(problem, chance, data) for chance in probabilities]
        if self._enough_known:
            panels.append(_as_one_answer(panels[0], self._stack_new_items(probabilities, data)))
        combined = [panel.with_items(extra) for panel, extra in zip(self._panels_by_method, panels, strict=True)]
        return average_predictions(combined, known, problem.known[known])[len(problem.unit_item) :]

    @cached_property
    def _panels_by_method(self) -> list[Panel]:
        """Panel by each method, first the fit without known classes; known items are held out."""
        probabilities = [self._unanchored_probabilities, *(self._mode_probabilities.values() if self.can_cut else ())]
        panels = [collect_panel_probabilities(self.problem, chance) for chance in probabilities]
        if self._enough_known:
            stacked, left_out = self._stacked_probabilities
            chance = stacked.copy()
            chance[self.known] = left_out
            panels.append(_as_one_answer(panels[0], chance))
        return panels

    def _stack_new_items(self, panel_probabilities: list[Floats], data: Data) -> Floats:
        problem, model = self.problem, self._stacking_model
        counts = data["labels"]["counts"].reshape(-1, len(problem.judges), len(problem.labels))
        panel = [*panel_probabilities[-(len(model.panel) - 1) :], _majority_shares(counts, problem.classes)]
        panels = tuple(np.concatenate(pair) for pair in zip(model.panel, panel, strict=True))
        shares = np.concatenate([model.shares, _label_shares(counts)])
        joined = Stacking(shares, panels, model.known_items, model.answer, len(model.shares))
        probabilities = joined.stacked_probabilities()[0]
        return probabilities[len(model.shares) :]

    def left_out(self, requested: str | None, joint: Floats) -> dict[str, LeftOut]:
        """P(class) of held-out known items: by majority, the joint and the cut mode, stacking, and their average."""
        known_units = self.known
        by_method = {MAJORITY: self._majority_shares[known_units]} | {
            name: p[known_units] for name, p in self._mode_probabilities.items()
        }
        if self.can_stack:
            by_method[STACKING] = self._stacked_probabilities[1]
        by_method[AVERAGE] = self._average_left_out()
        answer = self.problem.known[known_units]
        return {
            name: LeftOut.from_answer_probabilities(p, answer, name in (JOINT, CUT)) for name, p in by_method.items()
        }

    def _average_left_out(self) -> Floats:
        """P(class) about the target for held-out known items, each left out of the weights of the methods, too."""
        panels = [panel.select_rows(self.known) for panel in self._panels_by_method]
        answer, positions = self.problem.known[self.known], np.arange(len(self.known))
        probabilities = np.empty((len(positions), self.problem.classes))
        for part in anchor_folds(len(positions)):
            others = np.setdiff1d(positions, part)
            probabilities[part] = average_predictions(panels, others, answer[others])[part]
        return probabilities

    def answered(self, chosen: str) -> LabelsProblem:
        """The problem with P(class) about the target."""
        problem = self.problem
        if not problem.density.latent:
            return problem
        return replace(
            problem, answered=average_predictions(self._panels_by_method, self.known, problem.known[self.known])
        )

    def cut(self, method: Method) -> Inferred:
        """The cut posterior, with a check that classes keep their names."""
        problem = self.problem
        mode = cut_mode(problem)
        checks = [check.check_convergence(mode.gradient, mode.converged)]
        if method.name == "map":
            return infer_at_mode(problem, mode, checks)
        rng = np.random.default_rng(method.seed)
        draws, k = cut_draws(problem, mode, LAPLACE_DRAWS, rng)
        draws = draws[None]
        checks += check.check_importance_weights(k)
        if problem.density.has_mirror:
            # rates of classes without an anchor follow the prior, so draws contain all namings as the prior does
            orientations = mirror.weigh_orientations(problem.density, draws, problem.data, True, rng)
            checks.append(problem.orientation_check(orientations.mass))
            draws = orientations.all_draws
        return Inferred(Posterior(problem.density, mode.x, draws), tuple(checks))


def _mode_probabilities(problem: LabelsProblem, name: str, hidden: Ints, data: Data | None = None) -> Floats:
    """P(class) of all units by the mode of a fit with some classes hidden, shape (units, classes).

    With ``data``, P(class) of the items in ``data`` instead.
    """
    encoded = _hide_classes(problem, hidden) if len(hidden) else problem
    mode = find_mode(encoded) if name == JOINT else cut_mode(encoded)
    values = encoded.density.values(mode.x, np)
    if data is not None:
        return class_probabilities(encoded.density, [values], data)
    return np.asarray(class_probabilities(encoded.density, [values], encoded.data)[encoded.unit_row])


def _as_one_answer(panel: Panel, probability: Floats) -> Panel:
    """Panel with one answer per item, for probabilities that already account for dependence between judges."""
    return replace(panel, chance=probability, count=np.ones(len(probability)))


def _label_shares(counts: Floats) -> Floats:
    return np.asarray(counts / np.maximum(counts.sum(axis=2, keepdims=True), 1.0))


def _majority_shares(counts: Floats, classes: int) -> Floats:
    """Shares of labels, with one pseudo-label for every class, shape (items, classes)."""
    votes = counts.sum(axis=1)[:, :classes] + 1.0
    return np.asarray(votes / votes.sum(axis=1, keepdims=True))


def _hide_classes(problem: LabelsProblem, hidden: Ints) -> LabelsProblem:
    """Encode the problem with unknown classes for the hidden units."""
    known = problem.known.copy()
    known[hidden] = -1
    classes, families = problem.labels[: problem.classes], problem.families
    return encode_labels(problem.model, problem.table, classes=classes, known=known, families=families)
