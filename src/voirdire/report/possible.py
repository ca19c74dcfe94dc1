"""Whether a fit has what a figure shows, before anything is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from voirdire.errors import InputError

if TYPE_CHECKING:
    from voirdire.result import Fit


def check(fit: Fit, kind: str) -> None:
    """Raise where drawing a kind of figure would.

    Parameters
    ----------
    fit : Fit
    kind : str

    Raises
    ------
    InputError
        There is nothing to draw; the message says why.
    """
    from voirdire.report.figures import forest, position
    from voirdire.report.groups import score_draws
    from voirdire.report.observed import observed_over_expected
    from voirdire.report.replicated import table_of

    if kind == "rank-probability" and score_draws(fit) is None:
        raise InputError("ranks have probabilities only where there are draws; fit with laplace or nuts")
    if kind in ("ppc", "calibration"):
        table_of(fit)
    elif kind == "judges":
        forest.reliability_order(fit)
    elif kind == "position":
        position.position_order(fit)
    elif kind == "strengths" and len(fit.criteria()) < 2:
        raise InputError("there is only one criterion: its strengths are the ranking")
    elif kind == "agreement":
        if len(fit.problem.judges) < 2:
            raise InputError("there is one judge, so nobody to agree with")
        ratio = observed_over_expected(fit).log_ratio
        if np.isnan(ratio[~np.eye(len(ratio), dtype=bool)]).all():
            raise InputError("no two judges voted often enough on the same comparisons")
    elif kind == "trace":
        if fit.method != "nuts" or fit.posterior.draws is None:
            raise InputError(f"method {fit.method!r} has no chains to trace; fit with method='nuts'")
    elif kind == "mirror":
        if not fit.problem.program.has_mirror:
            raise InputError(f"model {fit.model.name} has no mirrored twin: its orientation is certain")
        if fit.posterior.draws is None:
            raise InputError("method 'map' has no draws; fit with method='laplace' or 'nuts'")
