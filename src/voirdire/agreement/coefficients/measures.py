"""The measures by name: what each needs, and how it is made from ratings."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np

from voirdire.agreement.coefficients.alpha import krippendorff_alpha
from voirdire.agreement.coefficients.icc import Form, intraclass_correlation
from voirdire.agreement.coefficients.icc_mixed import mixed_intraclass_correlation
from voirdire.agreement.coefficients.majority import share_agreeing
from voirdire.agreement.coefficients.pairwise import CORRELATIONS
from voirdire.agreement.coefficients.panel import brennan_prediger, fleiss_kappa, gwet_ac, panel_agreement
from voirdire.agreement.coefficients.preferences import DEGREES, HELD, Ties
from voirdire.agreement.coefficients.ranks import kendall_w, kendall_w_of_items, rank_correlation
from voirdire.agreement.coefficients.ratings import Ratings
from voirdire.agreement.coefficients.two import agreement_rate, cohen_kappa, conger_kappa, scott_pi
from voirdire.agreement.engine.combine import TwoWayStatistic
from voirdire.agreement.engine.statistic import (
    CountStatistic,
    FloatArray,
    PanelStatistic,
    Statistic,
)
from voirdire.errors import InputError

Build: TypeAlias = Callable[[Ratings], Statistic | TwoWayStatistic]


@dataclass(frozen=True)
class Measure:
    """One coefficient.

    Attributes
    ----------
    name : str
        Its name in tables and on the command line.
    of : {"pair", "panel", "both"}
        Whether it compares two judges, a whole panel, or either.
    needs : {"nominal", "ordered", "numbers", "ranks", "sets"}
        What the answers must be.
    build : callable
        Makes the statistic from the ratings of those judges.
    """

    name: str
    of: Literal["pair", "panel", "both"]
    needs: Literal["nominal", "ordered", "numbers", "ranks", "sets"]
    build: Build


def _agreement_rate(ratings: Ratings) -> Statistic | TwoWayStatistic:
    return agreement_rate(ratings) if len(ratings.judges) == 2 else panel_agreement(ratings)


def _paired_answer_values(ratings: Ratings) -> tuple[FloatArray, FloatArray]:
    """The answers of two judges as numbers, or as places of ordered levels."""
    worth = np.arange(len(ratings.levels), dtype=float) if ratings.values is None else ratings.values
    first, second = np.where(ratings.is_rated, worth[ratings.codes], np.nan).T
    return first, second


_CORRELATIONS = [
    Measure(
        name,
        "pair",
        "numbers" if name == "pearson" else "ordered",
        lambda ratings, of=of: of(*_paired_answer_values(ratings)),  # type: ignore[misc]
    )
    for name, of in CORRELATIONS.items()
]

_OTHERS = [
    Measure("agreement_rate", "both", "nominal", _agreement_rate),
    Measure("cohen_kappa", "pair", "nominal", lambda r: cohen_kappa(r)),
    Measure("cohen_kappa_linear", "pair", "ordered", lambda r: cohen_kappa(r, "linear")),
    Measure("cohen_kappa_quadratic", "pair", "ordered", lambda r: cohen_kappa(r, "quadratic")),
    Measure("scott_pi", "pair", "nominal", lambda r: scott_pi(r)),
    Measure("fleiss_kappa", "both", "nominal", lambda r: fleiss_kappa(r)),
    Measure("fleiss_kappa_linear", "both", "ordered", lambda r: fleiss_kappa(r, "linear")),
    Measure("fleiss_kappa_quadratic", "both", "ordered", lambda r: fleiss_kappa(r, "quadratic")),
    Measure("conger_kappa", "both", "nominal", lambda r: conger_kappa(r)),
    Measure("conger_kappa_linear", "both", "ordered", lambda r: conger_kappa(r, "linear")),
    Measure("conger_kappa_quadratic", "both", "ordered", lambda r: conger_kappa(r, "quadratic")),
    Measure("brennan_prediger", "both", "nominal", lambda r: brennan_prediger(r)),
    Measure("brennan_prediger_linear", "both", "ordered", lambda r: brennan_prediger(r, "linear")),
    Measure("brennan_prediger_quadratic", "both", "ordered", lambda r: brennan_prediger(r, "quadratic")),
    Measure("gwet_ac1", "both", "nominal", lambda r: gwet_ac(r)),
    Measure("gwet_ac2", "both", "ordered", lambda r: gwet_ac(r, "quadratic")),
    Measure("gwet_ac2_linear", "both", "ordered", lambda r: gwet_ac(r, "linear")),
    Measure("gwet_ac2_ordinal", "both", "ordered", lambda r: gwet_ac(r, "ordinal")),
    Measure("krippendorff_alpha_nominal", "both", "nominal", lambda r: krippendorff_alpha(r, "nominal")),
    Measure("krippendorff_alpha_ordinal", "both", "ordered", lambda r: krippendorff_alpha(r, "ordinal")),
    Measure("krippendorff_alpha_interval", "both", "numbers", lambda r: krippendorff_alpha(r, "interval")),
    Measure("krippendorff_alpha_ratio", "both", "numbers", lambda r: krippendorff_alpha(r, "ratio")),
    Measure("krippendorff_alpha_masi", "both", "sets", lambda r: krippendorff_alpha(r, "masi")),
    Measure("krippendorff_alpha_jaccard", "both", "sets", lambda r: krippendorff_alpha(r, "jaccard")),
    Measure("icc_1_1", "both", "numbers", lambda r: intraclass_correlation(r, "1_1")),
    Measure("icc_2_1", "both", "numbers", lambda r: intraclass_correlation(r, "2_1")),
    Measure("icc_3_1", "both", "numbers", lambda r: intraclass_correlation(r, "3_1")),
    Measure("icc_1_k", "both", "numbers", lambda r: intraclass_correlation(r, "1_k")),
    Measure("icc_2_k", "both", "numbers", lambda r: intraclass_correlation(r, "2_k")),
    Measure("icc_3_k", "both", "numbers", lambda r: intraclass_correlation(r, "3_k")),
    *(
        Measure(
            f"icc_{form}_mixed",
            "both",
            "numbers",
            lambda r, form=form: mixed_intraclass_correlation(r, form),  # type: ignore[misc]
        )
        for form in get_args(Form)
    ),
    Measure("kendall_w", "panel", "ordered", lambda r: kendall_w_of_items(r)),
    Measure("all_agree", "panel", "nominal", lambda r: share_agreeing(r)),
]

MEASURES = {measure.name: measure for measure in [*_OTHERS, *_CORRELATIONS]}

#: Of rankings.
OF_RANKINGS = {
    measure.name: measure
    for measure in (
        Measure("kendall_w", "panel", "ranks", lambda r: kendall_w(r)),
        Measure("kendall_tau_b", "both", "ranks", lambda r: rank_correlation(r, "kendall_tau_b")),
        Measure("spearman", "both", "ranks", lambda r: rank_correlation(r, "spearman")),
    )
}

#: Of votes only, per judge and item; ties are left out, not won, or half won.
WIN_RATES: dict[str, Ties] = {
    "win_rate": "left out",
    "win_rate_of_all": "not won",
    "win_rate_ties_half": "half won",
}

_AT_LEAST = re.compile(r"at_least_(\d+)_agree")


def find_measure(name: str, *, ranked: bool = False) -> Measure:
    """Look a measure up by name; ``at_least_3_agree`` and the like are made for any number.

    Parameters
    ----------
    ranked : bool
        Whether it is to compare rankings.

    Raises
    ------
    InputError
        If there is none of that name, with the nearest one.

    Examples
    --------
    >>> find_measure("at_least_3_agree").of
    'panel'
    >>> find_measure("kappa")
    Traceback (most recent call last):
    ...
    voirdire.errors.InputError: measure 'kappa' is not known; did you mean 'cohen_kappa'?
    >>> find_measure("gwet_ac2_quadratic")
    Traceback (most recent call last):
    ...
    voirdire.errors.InputError: measure 'gwet_ac2_quadratic' is not known; did you mean 'gwet_ac2'?
    """
    if ranked:
        if name not in OF_RANKINGS:
            raise InputError(
                f"measure {name!r} does not compare rankings; take {', '.join(OF_RANKINGS)}, or compare the votes "
                "between their items (--table votes)"
            )
        return OF_RANKINGS[name]
    if name in MEASURES:
        return MEASURES[name]
    found = _AT_LEAST.fullmatch(name)
    if found:
        return Measure(name, "panel", "nominal", lambda r: share_agreeing(r, int(found[1])))
    names = [*MEASURES, *WIN_RATES, DEGREES, HELD]
    begun = [one for one in names if name.startswith(f"{one}_")]
    near = (
        sorted(begun, key=len, reverse=True)
        if begun and not difflib.get_close_matches(name, names, n=1, cutoff=0.9)
        else difflib.get_close_matches(name, names, n=1, cutoff=0.5)
        or [one for one in names if name in one][:1]
    )
    hint = f"did you mean {near[0]!r}?" if near else f"the measures are {', '.join(names)}"
    raise InputError(f"measure {name!r} is not known; {hint}")


def misfit_reason(measure: Measure, ratings: Ratings) -> str:
    """Why a measure cannot be computed from such answers; empty if it can.

    Examples
    --------
    >>> from voirdire.agreement.coefficients.ratings import ratings_from_matrix
    >>> misfit_reason(MEASURES["pearson"], ratings_from_matrix([["a", "b"]]))
    "pearson needs numbers, and the answers are 'a', 'b'"
    """
    shown = ", ".join(repr(level) for level in ratings.levels[:5]) + (
        ", ..." if len(ratings.levels) > 5 else ""
    )
    if ratings.tie is not None and (measure in _CORRELATIONS or measure.name == "kendall_w"):
        return f"{measure.name} compares scores, and these are votes"
    if measure.needs == "sets" and ratings.members is None:
        return f"{measure.name} compares sets of labels, and each answer is one label"
    if measure.needs == "numbers" and ratings.values is None:
        return f"{measure.name} needs numbers, and the answers are {shown}"
    if measure.needs == "ordered" and not ratings.ordered:
        return f"{measure.name} needs the order of the answers {shown}; declare it by levels, lowest first"
    return ""


def statistic_of(measure: Measure, ratings: Ratings) -> Statistic | TwoWayStatistic:
    """Build a measure's statistic, averaged over both orders of each pair where these are arbitrary.

    The average is over features, as if each unit were entered in both orders with half the weight, so it
    costs no more and does not count units twice.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from voirdire.agreement.coefficients.ratings import ratings_from_matrix
    >>> votes = replace(ratings_from_matrix([["x", "x"], ["x", "y"], ["y", "y"], ["y", "y"]]), mirrored=True)
    >>> statistic_of(MEASURES["cohen_kappa"], votes).values(np.ones((1, 4))).tolist()
    [0.5]
    """
    made = measure.build(ratings)
    if not ratings.mirrored:
        return made
    other = measure.build(ratings.flipped())
    if isinstance(made, CountStatistic) and isinstance(other, CountStatistic):
        return CountStatistic((made.features + other.features) / 2, made.kernel)
    if isinstance(made, PanelStatistic) and isinstance(other, PanelStatistic):
        first, second = made.unit_features, other.unit_features
        return PanelStatistic(made.judges, lambda v: (first(v) + second(v)) / 2, made.kernel)
    return made
