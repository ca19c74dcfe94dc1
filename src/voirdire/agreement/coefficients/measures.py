"""The measures by name: requirements of each, and construction from ratings."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from voirdire.agreement.coefficients.alpha import krippendorff_alpha
from voirdire.agreement.coefficients.icc import Form, intraclass_correlation, mixed_intraclass_correlation
from voirdire.agreement.coefficients.majority import share_agreeing
from voirdire.agreement.coefficients.pairwise import CORRELATIONS
from voirdire.agreement.coefficients.panel import brennan_prediger, fleiss_kappa, gwet_ac, panel_agreement
from voirdire.agreement.coefficients.preferences import DEGREE_WIN_RATE, HELD_WIN_RATE, Ties
from voirdire.agreement.coefficients.ranks import kendall_w, kendall_w_of_items, rank_correlation
from voirdire.agreement.coefficients.ratings import Ratings
from voirdire.agreement.coefficients.two import agreement_rate, cohen_kappa, conger_kappa, scott_pi
from voirdire.agreement.engine.combine import TwoWayStatistic
from voirdire.agreement.engine.statistic import CountStatistic, FloatArray, PanelStatistic, Statistic
from voirdire.errors import InputError

Needs: TypeAlias = Literal["nominal", "ordered", "numbers", "ranks", "sets"]
Build: TypeAlias = Callable[[Ratings], Statistic | TwoWayStatistic]


@dataclass(frozen=True)
class Measure:
    """One coefficient.

    Attributes
    ----------
    name : str
        Name in tables and on the command line.
    compares : {"pair", "panel", "both"}
        Judges that it compares: two, a whole panel, or either.
    needs : {"nominal", "ordered", "numbers", "ranks", "sets"}
        Required kind of answers.
    build : callable
        Builds the statistic from the ratings of the compared judges.
    """

    name: str
    compares: Literal["pair", "panel", "both"]
    needs: Needs
    build: Build


def _agreement_rate(ratings: Ratings) -> Statistic | TwoWayStatistic:
    return agreement_rate(ratings) if len(ratings.judges) == 2 else panel_agreement(ratings)


def _paired_answer_values(ratings: Ratings) -> tuple[FloatArray, FloatArray]:
    """The answers of two judges as numbers, or as positions of ordered levels."""
    level_values = np.arange(len(ratings.levels), dtype=float) if ratings.values is None else ratings.values
    first, second = np.where(ratings.is_rated, level_values[ratings.codes], np.nan).T
    return first, second


def _measure_variants(
    name: str,
    judge_count: Literal["pair", "panel", "both"],
    function: Callable[[Ratings, Any], Statistic | TwoWayStatistic],
    arguments: Mapping[str, tuple[Needs, object]],
) -> list[Measure]:
    """Measures of one function; ``arguments`` maps the ending of each name to its needs and the function's argument."""

    def build_with(argument: object) -> Build:
        return lambda ratings: function(ratings, argument)

    return [Measure(name + end, judge_count, needs, build_with(value)) for end, (needs, value) in arguments.items()]


def _correlation_statistic(ratings: Ratings, name: str) -> Statistic:
    return CORRELATIONS[name](*_paired_answer_values(ratings))


_CORRELATIONS = _measure_variants(
    "",
    "pair",
    _correlation_statistic,
    {name: ("numbers" if name == "pearson" else "ordered", name) for name in CORRELATIONS},
)
_WEIGHTS: dict[str, tuple[Needs, object]] = {
    "": ("nominal", "identity"),
    "_linear": ("ordered", "linear"),
    "_quadratic": ("ordered", "quadratic"),
}
_AC: dict[str, tuple[Needs, object]] = {
    "1": ("nominal", "identity"),
    "2": ("ordered", "quadratic"),
    "2_linear": ("ordered", "linear"),
    "2_ordinal": ("ordered", "ordinal"),
}
_ALPHAS: dict[str, Needs] = {
    "nominal": "nominal",
    "ordinal": "ordered",
    "interval": "numbers",
    "ratio": "numbers",
    "masi": "sets",
    "jaccard": "sets",
}
_FORMS: dict[str, tuple[Needs, object]] = {form: ("numbers", form) for form in get_args(Form)}

_OTHERS = [
    Measure("agreement_rate", "both", "nominal", _agreement_rate),
    *_measure_variants("cohen_kappa", "pair", cohen_kappa, _WEIGHTS),
    Measure("scott_pi", "pair", "nominal", scott_pi),
    *_measure_variants("fleiss_kappa", "both", fleiss_kappa, _WEIGHTS),
    *_measure_variants("conger_kappa", "both", conger_kappa, _WEIGHTS),
    *_measure_variants("brennan_prediger", "both", brennan_prediger, _WEIGHTS),
    *_measure_variants("gwet_ac", "both", gwet_ac, _AC),
    *_measure_variants(
        "krippendorff_alpha_", "both", krippendorff_alpha, {name: (needs, name) for name, needs in _ALPHAS.items()}
    ),
    *_measure_variants("icc_", "both", intraclass_correlation, _FORMS),
    *_measure_variants(
        "icc_", "both", mixed_intraclass_correlation, {f"{form}_mixed": needs for form, needs in _FORMS.items()}
    ),
    Measure("kendall_w", "panel", "ordered", kendall_w_of_items),
    Measure("all_agree", "panel", "nominal", share_agreeing),
]

MEASURES = {measure.name: measure for measure in [*_OTHERS, *_CORRELATIONS]}

#: Measures of rankings.
RANKING_MEASURES = {
    measure.name: measure
    for measure in (
        Measure("kendall_w", "panel", "ranks", kendall_w),
        *_measure_variants("", "both", rank_correlation, {n: ("ranks", n) for n in ("kendall_tau_b", "spearman")}),
    )
}

#: Measures of votes, per judge and item; ties are left out, not won, or half won.
WIN_RATES: dict[str, Ties] = {"win_rate": "left out", "win_rate_of_all": "not won", "win_rate_ties_half": "half won"}

_AT_LEAST = re.compile(r"at_least_(\d+)_agree")


def find_measure(name: str, *, ranked: bool = False) -> Measure:
    """Look up a measure by name; ``at_least_m_agree`` exists for any number m.

    Parameters
    ----------
    ranked : bool
        True for a measure of rankings.

    Raises
    ------
    InputError
        If the name is not known; the message gives the nearest name.

    Examples
    --------
    >>> find_measure("at_least_3_agree").compares
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
        if name not in RANKING_MEASURES:
            raise InputError(
                f"measure {name!r} does not compare rankings; take {', '.join(RANKING_MEASURES)}, or compare the votes "
                "between their items (--table votes)"
            )
        return RANKING_MEASURES[name]
    if name in MEASURES:
        return MEASURES[name]
    if match := _AT_LEAST.fullmatch(name):
        return Measure(name, "panel", "nominal", lambda r: share_agreeing(r, int(match[1])))
    names = [*MEASURES, *WIN_RATES, DEGREE_WIN_RATE, HELD_WIN_RATE]
    variants = [candidate for candidate in names if name.startswith(f"{candidate}_")]
    nearest = (
        sorted(variants, key=len, reverse=True)
        if variants and not difflib.get_close_matches(name, names, n=1, cutoff=0.9)
        else difflib.get_close_matches(name, names, n=1, cutoff=0.5)
        or [candidate for candidate in names if name in candidate][:1]
    )
    hint = f"did you mean {nearest[0]!r}?" if nearest else f"the measures are {', '.join(names)}"
    raise InputError(f"measure {name!r} is not known; {hint}")


def misfit_reason(measure: Measure, ratings: Ratings) -> str:
    """Explain why a measure cannot be computed from the answers; empty if it can.

    Examples
    --------
    >>> from voirdire.agreement.coefficients.ratings import ratings_from_matrix
    >>> misfit_reason(MEASURES["pearson"], ratings_from_matrix([["a", "b"]]))
    "pearson needs numbers, and the answers are 'a', 'b'"
    """
    shown = ", ".join(repr(level) for level in ratings.levels[:5]) + (", ..." if len(ratings.levels) > 5 else "")
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
    """Build a measure's statistic, averaged over both orders of each pair where the order is arbitrary.

    The average is over features, as if each unit were entered in both orders with half the weight. So it
    costs no more and does not count units twice.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from voirdire.agreement.coefficients.ratings import ratings_from_matrix
    >>> votes = replace(ratings_from_matrix([["x", "x"], ["x", "y"], ["y", "y"], ["y", "y"]]), mirrored=True)
    >>> statistic_of(MEASURES["cohen_kappa"], votes).values(np.ones((1, 4))).tolist()
    [0.5]
    """
    statistic = measure.build(ratings)
    if not ratings.mirrored:
        return statistic
    flipped = measure.build(ratings.with_reversed_levels())
    if isinstance(statistic, CountStatistic) and isinstance(flipped, CountStatistic):
        return CountStatistic((statistic.features + flipped.features) / 2, statistic.kernel)
    if isinstance(statistic, PanelStatistic) and isinstance(flipped, PanelStatistic):
        first, second = statistic.unit_features, flipped.unit_features
        return PanelStatistic(statistic.judges, lambda v: (first(v) + second(v)) / 2, statistic.kernel)
    return statistic
