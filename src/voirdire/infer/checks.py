"""Checks by a method of inference of its own result."""

from __future__ import annotations

import numpy as np

from voirdire.infer.hmc_validation import CENTRAL_PROBABILITY, HmcValidation
from voirdire.model.problem import Check, Level

MAX_RHAT = 1.01
MIN_ESS = 400.0
MAX_AGREEING_RHAT, MIN_AGREEING_ESS = (1.1, 100.0)  # limits of R-hat and effective sample size for chains that agree
MIN_EBFMI = 0.3
LAST_EPOCHS = 500  # last epochs of Adam, over which changes are checked
MAX_LAST_CHANGE = 0.1  # largest change of a coordinate over these epochs at convergence
MAX_PARETO_K = 0.7  # largest k of reliable importance weights (Vehtari et al. 2024)


def check_convergence(gradient: float, converged: bool) -> Check:
    """Check whether the search for the mode converged."""
    if converged:
        return Check("convergence", "ok", gradient, f"The mode was found (largest gradient component {gradient:.1e}).")
    message = (
        f"The search for the mode stopped with a gradient of {gradient:.1e}; the numbers below are not the mode's. Use "
        "tighter priors or report the table."
    )
    return Check("convergence", "fail", gradient, message)


def check_adam_convergence(largest_change: float) -> Check:
    """Check whether a coordinate still moved in the last epochs of Adam; ``largest_change`` is the largest change."""
    if largest_change <= MAX_LAST_CHANGE:
        message = f"The last {LAST_EPOCHS} epochs of Adam moved no number by more than {largest_change:.1e}."
        return Check("convergence", "ok", largest_change, message)
    message = (
        f"The last {LAST_EPOCHS} epochs of Adam still moved a number by {largest_change:.2g}: the likelihood has no "
        "highest point (an item that always wins, a judge that never errs), and the numbers are where the epochs end. "
        "Use method='map', whose priors keep them finite."
    )
    return Check("convergence", "warn", largest_change, message)


def check_curvature(smallest: float) -> Check:
    """Check whether the posterior is curved in every direction at the mode."""
    if smallest > 0:
        return Check("curvature", "ok", smallest, "The posterior falls off in every direction around the mode.")
    message = (
        "The mode is no proper maximum (a direction of the posterior is flat or rises), so Laplace intervals are "
        "not to be trusted; use method='nuts' or tighter priors."
    )
    return Check("curvature", "fail", smallest, message)


def check_importance_weights(k: float | None) -> list[Check]:
    """Warn if the tail shape k shows that importance weights cannot correct the Laplace draws; else return nothing."""
    if k is None or k <= MAX_PARETO_K:
        return []
    message = (
        f"The posterior is far from the normal approximation (Pareto k {k:.2f}, above {MAX_PARETO_K}): intervals may "
        "be too narrow; use method='nuts'."
    )
    return [Check("approximation", "warn", k, message)]


def check_approximation(validation: HmcValidation, remedy: str) -> list[Check]:
    """Warn if draws of the approximation are too narrow, with the remedy; else return nothing."""
    if validation.holds:
        return []
    message = (
        f"The approximation is too narrow here: its {CENTRAL_PROBABILITY:.0%} intervals hold about "
        f"{validation.share:.0%} ({validation.parameter}); {remedy}."
    )
    return [Check("approximation", "warn", validation.share, message)]


def check_propagation(amiss: str) -> list[Check]:
    """Warn if expectation propagation was needed and did not converge; ``amiss`` is the reason, else empty."""
    if not amiss:
        return []
    message = (
        f"There are few answers for each latent value, and expectation propagation did not converge ({amiss}): spreads "
        "were found by Laplace's method, which makes them and the intervals too small. Ask more about fewer items, "
        "or in fewer contexts."
    )
    return [Check("approximation", "warn", None, message)]


def check_chains(rhat: float, parameter: str, smallest_ess: float) -> list[Check]:
    """Check whether chains have converged; replaces the check of the search from which they started.

    Chains that ended early but agree have fewer effective draws, which their intervals include. Chains that disagree
    may be in different regions, so that their draws are unreliable.
    """
    fact = f"largest R-hat {rhat:.2f}, {parameter}; smallest effective sample size {smallest_ess:.0f}"
    if rhat <= MAX_RHAT and smallest_ess >= MIN_ESS:
        return [Check("convergence", "ok", rhat, f"The sampler has converged ({fact}).")]
    error = 1.0 / np.sqrt(max(smallest_ess, 1.0))
    if rhat <= MAX_AGREEING_RHAT and smallest_ess >= MIN_AGREEING_ESS:
        message = (
            f"The sampler has converged, with few draws ({fact}): numbers are known to {error:.0%} of a standard "
            "deviation, which the intervals include. More seconds (seconds=, --seconds) give more draws."
        )
        return [Check("convergence", "ok", rhat, message)]
    message = (
        f"The sampler has not converged ({fact}): numbers may be off by {error:.0%} of a standard deviation or more, "
        "and intervals too narrow; give it longer (seconds=, --seconds)."
    )
    return [Check("convergence", "warn", rhat if np.isfinite(rhat) else None, message)]


def check_both_modes(share: float) -> Check:
    """Warn that chains of a sampler that targets one orientation were partly in the other."""
    message = (
        f"{share:.0%} of the draws lay in the mirrored mode and were folded back: this sampler cannot weigh the two "
        "modes. Use sampler='numpyro', which targets both alike."
    )
    return Check("both-modes", "warn", share, message)


def check_sampling(diagnostics: dict[str, float | str]) -> list[Check]:
    """Check R-hat, bulk and tail effective sample size, divergences and E-BFMI of a NUTS run."""
    rhat, bulk, tail = (float(diagnostics[key]) for key in ("rhat", "ess_bulk", "ess_tail"))
    worst_rhat, worst_bulk, worst_tail = (diagnostics[f"{name}_of"] for name in ("rhat", "ess_bulk", "ess_tail"))
    divergences, ebfmi = float(diagnostics["divergences"]), float(diagnostics["ebfmi"])
    size, more = "effective sample size", "draw more (draws=, warmup=; --draws, --warmup)"
    missed = "the sampler missed a narrow region; use tighter priors"
    rows = (
        ("rhat", rhat <= MAX_RHAT, f"Largest R-hat {rhat:.4f} ({worst_rhat})", f"chains disagree; {more}"),
        ("ess_bulk", bulk >= MIN_ESS, f"Smallest bulk {size} {bulk:.0f} ({worst_bulk})", f"means are noisy; {more}"),
        (
            "ess_tail",
            tail >= MIN_ESS,
            f"Smallest tail {size} {tail:.0f} ({worst_tail})",
            f"interval ends are noisy; {more}",
        ),
        ("divergences", divergences == 0, f"{divergences:.0f} divergent transitions", missed),
        ("ebfmi", ebfmi >= MIN_EBFMI, f"Smallest E-BFMI {ebfmi:.2f}", f"the energy is explored slowly; {more}"),
    )
    return [_threshold_check(row[0], float(diagnostics[row[0]]), *row[1:]) for row in rows]


def _threshold_check(name: str, value: float, fine: bool, fact: str, otherwise: str) -> Check:
    if fine:
        return Check(name, "ok", value, f"{fact}.")
    level: Level = "fail" if name in ("rhat", "divergences") else "warn"
    return Check(name, level, value if np.isfinite(value) else None, f"{fact}: {otherwise}.")
