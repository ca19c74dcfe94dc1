"""Stacking: the class of items from judges' labels, by a multinomial regression on items whose class people know.

Of item i let q_i,c be what the panel says of it, and x_i,k,l the share of label l among judge k's labels of it. Then

    P(class c) = exp(f_i,c) / sum_b exp(f_i,b),   f_i,c = m_i,c + alpha_c + sum_k,l beta_k,l,c x_i,k,l,

alpha_c ~ Normal(0, 1), beta_k,l,c ~ Normal(0, t^2), t in units in which the sum has mean square t^2 over the items,
known or not. What people say is pulled towards m, which is one of

    the panel:  s log q_i,c, q what a fit says of the item, its class unknown, or shares of labels; s one of ``SLOPES``,
    one judge:  1.5 for the class that is its label, with beta_k,l,c ~ Normal(0, 1.5^2) for its own labels besides,

of the panel's answers each as likely as all judges together, who are alike. With t one of ``SPREADS``, all are averaged
by their evidence (:mod:`voirdire.infer.multinomial`): a few known items leave the panel's answer as it is but for how
sure it is, and many let judges speak whom the panel outvotes. P(class) of known items that are left out follows from
the same regressions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import logsumexp

from voirdire.infer.multinomial import Multinomial, answer_probabilities, fit_multinomial
from voirdire.typing import Floats, Ints

LEAST = 3  # known items that labels are stacked from
SLOPES = {0.1: 0.15, 0.3: 0.25, 1.0: 0.6}  # that what the panel says is raised to, and how likely each is
SPREADS = (0.0, 0.5, 1.0, 2.0)  # of what single labels say beside
LEAN = 1.5  # log-odds of the label of a judge that is believed by itself
MOST = 400  # known items that are learned from
LONE = 24  # judges that may be believed by themselves: those right about most known items
FAINT = 4.0  # log evidence below the best from which a prior is left out
FLOOR = 1e-9  # probability that the panel gives any class
INTERCEPT = 1.0


@dataclass(frozen=True, eq=False)
class Prior:
    """A prior of the functions: where they are pulled, and the weight of every kernel.

    Attributes
    ----------
    mean : array, shape (items, classes)
    spread : float
        Of what single labels say.
    judge : int
        The judge that is believed by itself, -1 for the panel.
    log_weight : float
    """

    mean: Floats
    spread: float
    judge: int
    log_weight: float


@dataclass(frozen=True, eq=False)
class Stacking:
    """Data that stacking learns from.

    Attributes
    ----------
    shares : array, shape (items, judges, labels)
        Shares of the labels that a judge gave an item, zero where it gave none; the classes come first.
    panel : tuple of array, shape (items, classes)
        What the panel says, in several ways.
    at : int array, shape (known,)
        Items whose class is known.
    answer : int array, shape (known,)
        Their classes.
    own : int, optional
        How many of the items, the first ones, set the scale of what single labels say; by default all.
    alike : int array, shape (items,), optional
        The same number for items with the same shares and panel, which are computed once.

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
    at: Ints
    answer: Ints
    own: int | None = None
    alike: Ints | None = None

    def stacked_probabilities(self) -> tuple[Floats, Floats]:
        """P(class) of all items, and of the known ones, each left out: shapes (items, classes) and (known, classes).

        Of more than ``MOST`` known items it learns from as many, evenly spaced; the others need not be left out.
        """
        if len(self.at) > MOST:
            some = np.linspace(0, len(self.at) - 1, MOST).astype(int)
            total, left = replace(self, at=self.at[some], answer=self.answer[some]).stacked_probabilities()
            every = total[self.at]
            every[some] = left
            return total, every
        priors, fits = self._plausible_priors()
        left = np.stack([answer_probabilities(*fit.left_out()) for fit in fits])
        said = left[:, np.arange(len(self.answer)), self.answer]
        log = np.array([fit.log_evidence + prior.log_weight for fit, prior in zip(fits, priors, strict=True)])
        without = log[:, None] - np.log(np.maximum(said, 1e-300))
        without = np.exp(without - logsumexp(without, axis=0))
        weight = np.exp(log - logsumexp(log))
        codes = np.arange(len(self.shares)) if self.alike is None else self.alike
        _, one, back = np.unique(codes, return_index=True, return_inverse=True)
        total = np.zeros((len(one), left.shape[2]))
        for share, prior, fit in zip(weight, priors, fits, strict=True):
            across, variance = self._prior_covariance(prior)
            total += share * answer_probabilities(*fit.at(prior.mean[one], across[one], variance[one]))
        return total[back], np.einsum("gi,gic->ic", without, left)

    def _plausible_priors(self) -> tuple[list[Prior], list[Multinomial]]:
        """Priors that people's answers do not speak clearly against, with their posteriors.

        Each is tried with one spread first, and where that is far below the best with no other.
        """
        middle, groups = len(SPREADS) // 2, self._grouped_priors()
        tried = [self._fit_prior(group[middle]) for group in groups]
        log = np.array([f.log_evidence + g[middle].log_weight for f, g in zip(tried, groups, strict=True)])
        found = []
        for near, first, group in zip(log > log.max() - 2.0 * FAINT, tried, groups, strict=True):
            for place, prior in enumerate(group if near else ()):
                found.append((prior, first if place == middle else self._fit_prior(prior)))
        top = max(fit.log_evidence + prior.log_weight for prior, fit in found)
        kept = [(p, fit) for p, fit in found if fit.log_evidence + p.log_weight > top - FAINT]
        return [p for p, _ in kept], [fit for _, fit in kept]

    def _grouped_priors(self) -> list[list[Prior]]:
        """All priors, those that differ in spread alone together."""
        found = []
        ways = len(self.panel) + 1.0  # single judges are one
        each = -np.log(ways * len(SPREADS))
        for panel in self.panel:
            log = np.log(np.maximum(panel, FLOOR))
            log = log - log.mean(axis=1, keepdims=True)
            for slope, likely in SLOPES.items():
                mean = slope * log
                found.append([Prior(mean, spread, -1, each + np.log(likely)) for spread in SPREADS])
        classes = self.panel[0].shape[1]
        right = self.shares[self.at, :, self.answer].sum(axis=0)
        some = np.argsort(-right, kind="stable")[:LONE]
        each = -np.log(ways * self.shares.shape[1] * len(SPREADS))
        for judge in np.sort(some):
            mean = LEAN * self.shares[:, judge, :classes]
            found.append([Prior(mean, spread, int(judge), each) for spread in SPREADS])
        return found

    def _fit_prior(self, prior: Prior) -> Multinomial:
        return fit_multinomial(prior.mean[self.at], self._prior_covariance(prior)[0][self.at], self.answer)

    def _prior_covariance(self, prior: Prior) -> tuple[Floats, Floats]:
        """Prior covariance with the known items, shape (items, known), and variances, shape (items,)."""
        across, variance = self._label_covariance
        across = INTERCEPT**2 + prior.spread**2 * across
        variance = INTERCEPT**2 + prior.spread**2 * variance
        if prior.judge >= 0:
            own = self.shares[:, prior.judge]
            across = across + LEAN**2 * own @ own[self.at].T
            variance = variance + LEAN**2 * (own**2).sum(axis=1)
        return across, variance

    @cached_property
    def _label_covariance(self) -> tuple[Floats, Floats]:
        """The same of what single labels say, with mean variance 1."""
        x = (self.shares - self.shares[: self.own].mean(axis=0)).reshape(len(self.shares), -1)
        variance = (x**2).sum(axis=1)
        scale = max(float(variance[: self.own].mean()), 1e-12)
        return x @ x[self.at].T / scale, variance / scale
