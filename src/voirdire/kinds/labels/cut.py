"""The cut posterior of labels: judges' matrices from items of known class alone, then shares and classes given them.

In the joint posterior, a clique of judges that share a mistake can outvote a few items of known class: it makes classes
of its own, and is right about them. The cut posterior (Plummer 2015, Statistics and Computing 25; Jacob, Murray, Holmes
and Robert 2017, arXiv 1708.08719) forbids that feedback. With A the items whose class z_i is known,

    p_cut(rates, shares) = p(rates | A) p(shares | rates, all labels, A),
    p(rates | A) = p(rates) prod_{i in A} prod_k,l rate_k,z_i,l ^ n_i,k,l / constant,

with the prior of the model (judges pooled towards the panel's matrix), and the second factor of
:mod:`.labels.shares`. The class of an item then is distributed as the model has it, averaged over draws, so
that what the known items leave open about the judges is carried through. A judge that labelled none of them is known as
far as the panel is.

Rates are drawn from the first factor: coins exactly (given r right labels of r + w, a coin's density is a mixture of
Beta(a + r, b + w) and Beta(b + r, a + w)), matrices by the Laplace approximation as corrected in
:mod:`voirdire.infer.refine` (the density is log-concave). A class without a known item keeps the prior's row: renaming
such classes changes p_cut by the prior's ratio alone, as it does the joint posterior, so their names are settled alike.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import betaln, expit, logit

from voirdire.errors import InputError
from voirdire.infer.laplace import laplace_approximation
from voirdire.infer.mode import find_mode
from voirdire.infer.posterior import Mode
from voirdire.infer.refine import laplace_draws
from voirdire.kinds.labels import shares
from voirdire.kinds.labels.problem import LabelsProblem
from voirdire.typing import Floats

RATES = 1000  # draws of the rates, each with several of the shares
LARGEST = 4_000_000  # numbers held at once


def check_cut(problem: LabelsProblem) -> None:
    """Raise where known classes teach nothing about judges, as the model takes all alike.

    Raises
    ------
    InputError
    """
    if not problem.density.latent:
        raise InputError(
            f"anchor mode 'cut' learns judges from the anchors, but model {problem.model.name} takes all judges alike; "
            "take hierarchical-dawid-skene, dawid-skene-pooled or one-coin-label, or anchor_mode='joint'"
        )
    if problem.density.shares_errors:
        raise InputError(
            f"anchor mode 'cut' is for models whose judges err independently, not for {problem.model.name}: take "
            "hierarchical-dawid-skene, or anchor_mode='joint'"
        )


def restrict_to_anchors(problem: LabelsProblem) -> LabelsProblem:
    """The same problem with the items of known class alone: its posterior of the rates is p(rates | A).

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.kinds.labels.problem import encode_labels
    >>> from voirdire.model.specs import load_model
    >>> from voirdire.tables.labels import read_labels
    >>> rows = [("a", "x", "yes"), ("b", "x", "no"), ("a", "y", "yes"), ("b", "y", "yes")]
    >>> table = read_labels(pd.DataFrame(rows, columns=["judge", "item", "label"]))
    >>> posed = encode_labels(load_model("hierarchical-dawid-skene"), table, known=np.array([1, -1]))
    >>> restrict_to_anchors(posed).data["labels"]["counts"].tolist()
    [[0.0, 1.0, 1.0, 0.0]]
    """
    rows = np.unique(problem.unit_row[problem.known >= 0])
    part = {name: column[rows] for name, column in problem.data["labels"].items()}
    return replace(problem, data={"labels": part})


def cut_mode(problem: LabelsProblem) -> Mode:
    """Mode of the rates given the known items, and of the shares given those rates."""
    of_rates = find_mode(restrict_to_anchors(problem))
    x, slope = of_rates.x[None].copy(), of_rates.gradient
    given = shares.class_likelihoods(problem.density, problem.density.values(x, np), problem.data)
    found = [shares.share_modes(part, _share_sd(problem)) for part in given]
    here = problem.density.parameter_slices["class_share"]
    x[:, here] = np.concatenate([modes.x for modes in found], axis=1)
    return replace(of_rates, x=x[0], gradient=max([slope, *(modes.gradient for modes in found)]))


def cut_draws(
    problem: LabelsProblem, mode: Mode, count: int, rng: np.random.Generator
) -> tuple[Floats, float | None]:
    """Draws of the cut posterior, shape (count, size), and the tail shape of the rates' importance weights, if any.

    Parameters
    ----------
    mode : Mode
        As :func:`cut_mode` has it.
    """
    size = min(RATES, count)
    x, k = _rate_draws(problem, mode, size, rng)
    each = -(-count // size)
    out = np.repeat(x, each, axis=0)
    density, sd, here = problem.density, _share_sd(problem), problem.density.parameter_slices["class_share"]
    together = max(1, LARGEST // max(1, len(problem.data["labels"]["counts"]) * problem.classes))
    for start in range(0, size, together):
        part = x[start : start + together]
        given = shares.class_likelihoods(density, density.values(part, np), problem.data)
        found = [shares.draw_shares(lik, shares.share_modes(lik, sd), sd, each, rng) for lik in given]
        at = slice(start * each, (start + len(part)) * each)
        out[at, here] = np.concatenate(found, axis=-1).reshape(len(part) * each, -1)
    return out[:count], k


def _rate_draws(
    problem: LabelsProblem, mode: Mode, count: int, rng: np.random.Generator
) -> tuple[Floats, float | None]:
    given, slices = restrict_to_anchors(problem), problem.density.parameter_slices
    if "reliability" in slices:
        x = np.tile(mode.x, (count, 1))
        x[:, slices["reliability"]] = _draw_reliability_logits(given, count, rng)
        return x, None
    draws, k = laplace_draws(given, laplace_approximation(given, mode), count, rng)
    return draws, k


def _draw_reliability_logits(given: LabelsProblem, count: int, rng: np.random.Generator) -> Floats:
    """Exact draws of the log-odds of judges' coins, shape (count, judges)."""
    part, labels, prior = given.data["labels"], given.density.labels, given.model.reliability.numbers
    counts = part["counts"].reshape(len(part["counts"]), -1, labels) * part["weight"][:, None, None]
    right = counts[np.arange(len(counts)), :, part["known"].argmax(axis=1)].sum(axis=0)
    wrong = counts.sum(axis=(0, 2)) - right
    a, b, turned = prior["a"], prior["b"], prior["reversed"]
    with np.errstate(divide="ignore"):
        log_odds = (
            np.log(turned) - np.log1p(-turned) + betaln(b + right, a + wrong) - betaln(a + right, b + wrong)
        )
    back = rng.random((count, len(right))) < expit(log_odds)
    drawn = np.where(
        back, rng.beta(b + right, a + wrong, back.shape), rng.beta(a + right, b + wrong, back.shape)
    )
    edge = 1e-12  # the log-odds of a coin must be finite
    return np.asarray(logit(np.clip(drawn, edge, 1.0 - edge)))


def _share_sd(problem: LabelsProblem) -> float:
    assert problem.model.classes is not None  # every model file of labels has this section
    return problem.model.classes.numbers["sd"]
