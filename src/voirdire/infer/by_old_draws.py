"""Posterior of a table that has grown, from the draws of the earlier fit."""

from __future__ import annotations

import time

import numpy as np

from voirdire.infer import checks as check
from voirdire.infer.latent_gaussian.chains import chains_of_draws
from voirdire.infer.latent_gaussian.draw_extension import extend_draws
from voirdire.infer.latent_gaussian.draw_transport import MAX_MEAN_ERROR, transport_draws
from voirdire.infer.method import Inferred, Method, oriented_posterior, seconds_since
from voirdire.infer.mirror import fold_draws
from voirdire.infer.threads import one_thread
from voirdire.model.problem import Problem
from voirdire.typing import Floats

CARRIED_DRAWS = 480  # draws that are carried over: a few more than the effective sample size that convergence needs
UPDATED_PREFIX = "Brought up to date"  # start of the note of an update
REFIT_PREFIX = "Fitted anew"  # start of the note of a complete new fit
OTHER_PARAMETERS_NOTE = f"{REFIT_PREFIX}: the new answers need parameters that the earlier fit did not have."
MAX_NEW_SHARE = 0.1  # largest share of new answers for which old draws are updated
MANY_NEW_NOTE = f"{REFIT_PREFIX}: more than a tenth of all answers is new."
TOO_INFORMATIVE_NOTE = f"{REFIT_PREFIX}: the new answers change the posterior too much for an update of the old draws."


def infer_from_old_draws(old: Problem, draws: Floats, new: Problem, method: Method) -> Inferred | str:
    """Infer a posterior from draws, shape (chains, draws, size), for a part of its table; else say why not possible."""
    start, rng = time.perf_counter(), np.random.default_rng(method.seed)
    gap = max(round(draws.shape[0] * draws.shape[1] / CARRIED_DRAWS), 1)
    thinned = draws[:, ::gap]
    if old.density.has_mirror:
        thinned = fold_draws(old.density, thinned, old.data)[0]
    chains, size = thinned.shape[0], thinned.shape[2]
    with one_thread():
        carried = extend_draws(old, thinned.reshape(-1, size), new, rng)
        if carried is None:
            return OTHER_PARAMETERS_NOTE
        if carried.new_answer_share > MAX_NEW_SHARE:
            return MANY_NEW_NOTE
        transported = transport_draws(carried, chains, rng)
    if transported.off > MAX_MEAN_ERROR:
        return TOO_INFORMATIVE_NOTE
    flat = carried.new.flat(transported.x, transported.hyper)
    run = chains_of_draws(new, flat.reshape(chains, -1, flat.shape[1]))
    checks = check.check_chains(run.rhat, run.worst_parameter, run.ess)
    times = "once" if transported.moves == 1 else f"{transported.moves} times"
    note = f"{UPDATED_PREFIX} by {len(flat)} draws of the fit before, each moved {times} ({seconds_since(start)})."
    centre = run.draws.mean(axis=(0, 1))
    return oriented_posterior(new, centre, run.draws, checks, rng, method="hmc", notes=(note,))
