"""Stacking: the class of items from judges' labels, by a multinomial regression on items of known class.

For item i let q_i,c be the panel's P(class c), and x_i,k,l the share of label l among judge k's labels of it. Then

    P(class c) = exp(f_i,c) / sum_b exp(f_i,b),   f_i,c = m_i,c + alpha_c + sum_k,l beta_k,l,c x_i,k,l,

with alpha_c ~ Normal(0, 1) and beta_k,l,c ~ Normal(0, t^2); t is in units in which the sum has mean square t^2 over all
items. The prior mean m is one of

    the panel:  s log q_i,c, with q from a fit without the item's class, or shares of labels;
                s one of ``SLOPE_PRIORS``,
    one judge:  1.5 for the class that is its label, with a further beta_k,l,c ~ Normal(0, 1.5^2) for its own labels.

Each q of the panel has the same prior probability as all judges together, and judges have equal ones. With t one of
``PRIOR_SPREADS``, all priors are averaged by their evidence (:mod:`voirdire.infer.multinomial`). A few known items
change only the certainty of the panel's answer; with many, judges whom the panel outvotes have influence. P(class) of
held-out known items follows from the same regressions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import logsumexp

from voirdire.infer.multinomial import Multinomial, answer_probabilities, fit_multinomial
from voirdire.typing import Floats, Ints

MIN_KNOWN_ITEMS = 3  # smallest number of known items for stacking
SLOPE_PRIORS = {0.1: 0.15, 0.3: 0.25, 1.0: 0.6}  # powers of the panel's probabilities, with prior probabilities
PRIOR_SPREADS = (0.0, 0.5, 1.0, 2.0)  # values of t, standard deviation of the effect of single labels
JUDGE_LOG_ODDS = 1.5  # log-odds of a judge's label if its answers are the prior mean
MAX_KNOWN_ITEMS = 400  # largest number of known items to learn from
MAX_SINGLE_JUDGES = 24  # largest number of judges as prior means: those right about most known items
MAX_EVIDENCE_GAP = 4.0  # difference in log evidence from the best prior above which a prior is left out
MIN_PROBABILITY = 1e-9  # lower bound of the panel's probabilities of classes
INTERCEPT_SD = 1.0


@dataclass(frozen=True, eq=False)
class StackingPrior:
    """A prior of the functions f: their mean and the weights of kernels.

    Attributes
    ----------
    mean : array, shape (items, classes)
        Prior mean m.
    spread : float
        Standard deviation t of the effect of single labels.
    judge : int
        The judge with answers as prior mean, -1 for the panel.
    log_weight : float
        Log of the prior probability.
    """

    mean: Floats
    spread: float
    judge: int
    log_weight: float


@dataclass(frozen=True, eq=False)
class Stacking:
    """Data for stacking.

    Attributes
    ----------
    shares : array, shape (items, judges, labels)
        Shares of each judge's labels of an item, zero without labels; the classes come first.
    panel : tuple of array, shape (items, classes)
        P(class) by the panel, from several methods.
    known_items : int array, shape (known,)
        Items of known class.
    answer : int array, shape (known,)
        Classes of the known items.
    scale_items : int, optional
        Number of items, from the first, that set the unit of t; by default all.
    duplicate_group : int array, shape (items,), optional
        Code of groups of items with the same shares and panel, which are computed once.

    Examples
    --------
    >>> said = np.array([[0, 1], [0, 0], [1, 1], [1, 0], [0, 1], [1, 0], [0, 0], [1, 1]])
    >>> shares = np.eye(2)[said]
    >>> half = np.full((8, 2), 0.5)
    >>> found = Stacking(shares, (half,), np.arange(6), said[:6, 0]).stacked_probabilities()[0]
    >>> found[6:].argmax(axis=1).tolist()
    [0, 1]
    """

    shares: Floats
    panel: tuple[Floats, ...]
    known_items: Ints
    answer: Ints
    scale_items: int | None = None
    duplicate_group: Ints | None = None

    def stacked_probabilities(self) -> tuple[Floats, Floats]:
        """P(class) of all items, shape (items, classes), and of held-out known items, shape (known, classes).

        If there are more than ``MAX_KNOWN_ITEMS`` known items, that many, evenly spaced, are used; the others are held
        out anyway.
        """
        if len(self.known_items) > MAX_KNOWN_ITEMS:
            sample = np.linspace(0, len(self.known_items) - 1, MAX_KNOWN_ITEMS).astype(int)
            total, left_probabilities = replace(
                self, known_items=self.known_items[sample], answer=self.answer[sample]
            ).stacked_probabilities()
            left_out = total[self.known_items]
            left_out[sample] = left_probabilities
            return total, left_out
        priors, fits = self._plausible_priors()
        left_probabilities = np.stack([answer_probabilities(*fit.left_out()) for fit in fits])
        answer_chance = left_probabilities[:, np.arange(len(self.answer)), self.answer]
        log = np.array([fit.log_evidence + prior.log_weight for fit, prior in zip(fits, priors, strict=True)])
        left_weight = log[:, None] - np.log(np.maximum(answer_chance, 1e-300))
        left_weight = np.exp(left_weight - logsumexp(left_weight, axis=0))
        weight = np.exp(log - logsumexp(log))
        codes = np.arange(len(self.shares)) if self.duplicate_group is None else self.duplicate_group
        _, first_row, row_of = np.unique(codes, return_index=True, return_inverse=True)
        total = np.zeros((len(first_row), left_probabilities.shape[2]))
        for share, prior, fit in zip(weight, priors, fits, strict=True):
            covariance, variance = self._prior_covariance(prior)
            total += share * answer_probabilities(
                *fit.predict_at(prior.mean[first_row], covariance[first_row], variance[first_row])
            )
        return total[row_of], np.einsum("gi,gic->ic", left_weight, left_probabilities)

    def _plausible_priors(self) -> tuple[list[StackingPrior], list[Multinomial]]:
        """Priors with evidence near that of the best, with their posteriors.

        Each is fitted with one spread first, and with other spreads only if its evidence is not far below the best.
        """
        middle, groups = len(PRIOR_SPREADS) // 2, self._grouped_priors()
        first_fits = [self._fit_prior(group[middle]) for group in groups]
        log = np.array([f.log_evidence + g[middle].log_weight for f, g in zip(first_fits, groups, strict=True)])
        pairs = []
        for is_near, first_fit, group in zip(log > log.max() - 2.0 * MAX_EVIDENCE_GAP, first_fits, groups, strict=True):
            for index, prior in enumerate(group if is_near else ()):
                pairs.append((prior, first_fit if index == middle else self._fit_prior(prior)))
        best_evidence = max(fit.log_evidence + prior.log_weight for prior, fit in pairs)
        plausible = [(p, fit) for p, fit in pairs if fit.log_evidence + p.log_weight > best_evidence - MAX_EVIDENCE_GAP]
        return [p for p, _ in plausible], [fit for _, fit in plausible]

    def _grouped_priors(self) -> list[list[StackingPrior]]:
        """All priors, in groups that differ only in spread."""
        groups = []
        way_count = len(self.panel) + 1.0  # all single judges count as one method
        log_share = -np.log(way_count * len(PRIOR_SPREADS))
        for panel in self.panel:
            log = np.log(np.maximum(panel, MIN_PROBABILITY))
            log = log - log.mean(axis=1, keepdims=True)
            for slope, probability in SLOPE_PRIORS.items():
                mean = slope * log
                groups.append(
                    [StackingPrior(mean, spread, -1, log_share + np.log(probability)) for spread in PRIOR_SPREADS]
                )
        classes = self.panel[0].shape[1]
        right = self.shares[self.known_items, :, self.answer].sum(axis=0)
        best_judges = np.argsort(-right, kind="stable")[:MAX_SINGLE_JUDGES]
        log_share = -np.log(way_count * self.shares.shape[1] * len(PRIOR_SPREADS))
        for judge in np.sort(best_judges):
            mean = JUDGE_LOG_ODDS * self.shares[:, judge, :classes]
            groups.append([StackingPrior(mean, spread, int(judge), log_share) for spread in PRIOR_SPREADS])
        return groups

    def _fit_prior(self, prior: StackingPrior) -> Multinomial:
        return fit_multinomial(
            prior.mean[self.known_items], self._prior_covariance(prior)[0][self.known_items], self.answer
        )

    def _prior_covariance(self, prior: StackingPrior) -> tuple[Floats, Floats]:
        """Prior covariance with the known items, shape (items, known), and variances, shape (items,)."""
        covariance, variance = self._label_covariance
        covariance = INTERCEPT_SD**2 + prior.spread**2 * covariance
        variance = INTERCEPT_SD**2 + prior.spread**2 * variance
        if prior.judge >= 0:
            judge_shares = self.shares[:, prior.judge]
            covariance = covariance + JUDGE_LOG_ODDS**2 * judge_shares @ judge_shares[self.known_items].T
            variance = variance + JUDGE_LOG_ODDS**2 * (judge_shares**2).sum(axis=1)
        return covariance, variance

    @cached_property
    def _label_covariance(self) -> tuple[Floats, Floats]:
        """Covariance with the known items and variances from single labels, with mean variance 1."""
        x = (self.shares - self.shares[: self.scale_items].mean(axis=0)).reshape(len(self.shares), -1)
        variance = (x**2).sum(axis=1)
        scale = max(float(variance[: self.scale_items].mean()), 1e-12)
        return x @ x[self.known_items].T / scale, variance / scale
