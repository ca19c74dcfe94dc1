"""Availability of what a figure shows in a fit, before anything is drawn."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from voirdire.errors import InputError
from voirdire.report.pair_agreement import observed_over_expected
from voirdire.report.ppc import answers_of_kind

if TYPE_CHECKING:
    from voirdire.kinds.fit import Fit


def check_figure(fit: Fit, kind: str) -> None:
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
    if kind in _NEEDS:
        _NEEDS[kind](fit)


def _check_rank_probability(fit: Fit) -> None:
    fit.ranking()
    if fit.posterior.values is None:
        raise InputError("ranks have probabilities only where there are draws; fit with laplace or nuts")


def _check_answers(fit: Fit) -> None:
    answers_of_kind(fit)


def _check_score_answers(fit: Fit) -> None:
    answers_of_kind(fit, "scores")


def _check_judges(fit: Fit) -> None:
    from voirdire.report.figures.forest import reliability_order

    reliability_order(fit)


def _check_position(fit: Fit) -> None:
    from voirdire.report.figures.position import position_order

    position_order(fit)
    if order := fit.kind.fixed_order(fit.problem):
        raise InputError(f"cannot be told, {order}")


def _check_strengths(fit: Fit) -> None:
    if len(fit.criteria()) < 2:
        raise InputError("there is only one criterion: its strengths are the ranking")


def _check_agreement(fit: Fit) -> None:
    if len(fit.problem.judges) < 2:
        raise InputError("there is one judge, so nobody to agree with")
    ratio = observed_over_expected(fit).log_ratio
    if np.isnan(ratio[~np.eye(len(ratio), dtype=bool)]).all():
        raise InputError("no two judges voted often enough on the same comparisons")


def _check_trace(fit: Fit) -> None:
    if fit.posterior.draws is None or len(fit.posterior.draws) < 2:
        raise InputError(f"method {fit.method!r} has no chains to trace; fit with method='nuts'")


def _check_mirror(fit: Fit) -> None:
    if not fit.problem.density.has_mirror:
        raise InputError(f"model {fit.model.name} has no mirrored twin: its orientation is certain")
    if fit.posterior.draws is None:
        raise InputError(f"method {fit.method!r} has no draws; fit with method='laplace' or 'nuts'")


def _check_systems(fit: Fit) -> None:
    from voirdire.report.figures.forest import system_rows

    system_rows(fit)


def _check_severity(fit: Fit) -> None:
    from voirdire.report.figures.forest import severity_rows

    severity_rows(fit)


def _check_classes(fit: Fit) -> None:
    if fit.classes()["known"].all():
        raise InputError("the class of every item is known")


def _check_confusion(fit: Fit) -> None:
    if not len(fit.confusion()):
        raise InputError(f"model {fit.model.name} has no classes behind the labels: judges have no matrices")
    _check_judges(fit)


def _check_shares(fit: Fit) -> None:
    if not len(fit.shares()):
        raise InputError(f"model {fit.model.name} has no classes behind the labels: they have no shares")


_NEEDS: dict[str, Callable[[Fit], None]] = {
    "rank-probability": _check_rank_probability,
    "ppc": _check_answers,
    "calibration": _check_answers,
    "ppc-scores": _check_score_answers,
    "calibration-scores": _check_score_answers,
    "judges": _check_judges,
    "position": _check_position,
    "strengths": _check_strengths,
    "agreement": _check_agreement,
    "trace": _check_trace,
    "mirror": _check_mirror,
    "systems": _check_systems,
    "severity": _check_severity,
    "classes": _check_classes,
    "confusion": _check_confusion,
    "shares": _check_shares,
}
