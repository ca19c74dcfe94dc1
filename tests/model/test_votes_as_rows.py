"""Models of votes as rows of terms of a panel density: the same log density, at random points."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from voirdire.kinds.votes.density import VotesDensity
from voirdire.kinds.votes.layout import vote_terms
from voirdire.model import load_model, model_names
from voirdire.model.design import Cells, Scale, Term
from voirdire.model.family.sharpness import sharpness_family
from voirdire.model.family.two_coin import DIFFERENCE, FIRST, SECOND, two_coin_family
from voirdire.model.panel_density import PanelDensity
from voirdire.model.terms.parameters import LogExponential, Normal, Parameter, Spread

POINTS = 20
UNSAID = Scale()  # where a row says no such prior, and values are given
#: Priors of models of votes that no row says, by what has them.
BETA = "coins of a Beta distribution, some of them reversed"
POPULATION = "coins of a population whose mean and spread are learned together"
DIVIDED = "spreads that are parts of one scale, and strengths around what items are worth under all criteria"
SCALE = "ties with a scale around another mean than 0"  # only in tables with ties
NOT_AS_ROWS = {
    **dict.fromkeys(("learned-bradley-terry", "learned-bt-sigma", "learned-bt-sigma-position"), SCALE),
    "crowd-bt": BETA,
    "crowd-bt-position": BETA,
    "maple": BETA,
    "maple-criterion-reliability": BETA,
    "maple-fixed-weights": BETA,
    "maple-position": BETA,
    "crowd-bt-contexts": POPULATION,
    "learned-crowd-bt": POPULATION,
    "learned-crowd-bt-position": POPULATION,
    "unordered-crowd-bt-contexts": POPULATION,
    "learned-maple-position": f"{POPULATION}; {DIVIDED}",
    "maple-contexts": f"{POPULATION}; {DIVIDED}",
    "maple-tastes": f"{POPULATION}; {DIVIDED}",
    "unordered-maple-contexts": f"{POPULATION}; {DIVIDED}",
    "unordered-maple-tastes": f"{POPULATION}; {DIVIDED}",
}
OF_VOTES = [name for name in model_names() if load_model(name).data == "votes"]


def scale_of(parameter: Parameter, density: VotesDensity) -> Scale | None:
    """The scale of a row that says a parameter's prior; None where no scale does."""
    prior, zero_sum = parameter.prior, parameter.zero_sum
    if type(prior) is Normal and prior.mean == 0.0:
        return Scale(sd=prior.sd, zero_sum=zero_sum)
    spreads = {p.name: p for p in density.parameters if isinstance(p.prior, LogExponential)}
    if type(prior) is not Spread or type(getattr(spreads.get(prior.log_sd_name), "prior", None)) is not LogExponential:
        return None
    own = spreads[prior.log_sd_name]
    assert isinstance(own.prior, LogExponential)
    return Scale(rate=own.prior.rate, spread=prior.log_sd_name, rows=len(own.dims), zero_sum=zero_sum)


def rows_of(density: VotesDensity) -> list[Term]:
    """The terms of a density, with the priors that rows can say; weights by both criteria that are asked about."""
    terms = [
        *vote_terms(density),
        Term("weight", ("one",), DIFFERENCE),
        Term("weight", ("other",), DIFFERENCE, sign=-1.0),
        Term("reliability_deviation", ("judge", "own"), FIRST),
        Term("reliability_deviation", ("judge", "own"), SECOND),
    ]
    found = {p.name: p for p in density.parameters}
    return [
        term._replace(scale=term.scale or scale_of(found[term.name], density) or UNSAID)
        for term in terms
        if term.name in found
    ]


def cells_of(table: str, part: dict[str, Any], ties: bool) -> tuple[dict[str, Any], Any]:
    """What the outcomes of a table are about, one after the other, then its ties; and counts of the answers."""
    voted = len(part["judge"])
    pair = np.append(part["pair"], part["tie_pair"]) if ties else part["pair"]
    judge = np.append(part["judge"], part["tie_judge"]) if ties else part["judge"]
    counts = np.zeros((2, 2, len(pair)))
    for outcome in (0, 1):
        counts[0, outcome, :voted] = part["weight"] * (part["outcome"] == outcome)
    if ties:
        counts[1, 0, voted:], counts[1, 1, voted:] = part["tied"], part["decided"]
    about = {
        name.removeprefix("pair_"): of[..., pair, :] if of.ndim > 1 else of[pair]
        for name, of in part.items()
        if name.startswith("pair_")
    }
    first, second = about.pop("first"), about.pop("second")
    nothing = np.full(len(pair), -1)
    own = {"one": nothing, "other": nothing, "own": about["criterion"], "first": first, "second": second}
    if table == "criteria":
        about = {"criterion": nothing}
        own = {"one": first, "other": second, "own": nothing, "first": nothing, "second": nothing}
    return {"judge": judge, **about, **own}, counts[: 1 + ties]


def encoded(density: VotesDensity, data: dict[str, Any]) -> tuple[PanelDensity, Any]:
    """The panel density of the rows of a model of votes, and its data: votes, then votes on criteria."""
    tables = [cells_of(table, data[table], density.ties) for table in ("votes", "criteria") if table in data]
    names = dict.fromkeys(name for about, _ in tables for name in about if name != "numbers")
    size = sum(len(about["judge"]) for about, _ in tables)
    factors = {
        name: np.concatenate([about.get(name, np.full(len(about["judge"]), -1)) for about, _ in tables])
        for name in names
    }
    given = [about["numbers"] for about, _ in tables if "numbers" in about]
    numbers = None
    if given:
        numbers = np.zeros((2, size, given[0].shape[-1]))
        numbers[:, : given[0].shape[1]] = given[0]
    items = factors.pop("first"), factors.pop("second")
    sizes = {**density.sizes, **dict.fromkeys(("one", "other", "own"), density.criteria)}
    family = (two_coin_family if density.coin_names else sharpness_family)(density.ties, density.has_tie_scale)
    shape = density.judges, density.criteria, density.items
    panel = PanelDensity(density.model, *shape, tuple(rows_of(density)), family, 2, tuple(sizes.items()))
    counts = np.concatenate([counts for _, counts in tables], axis=-1)
    return panel, panel.table(Cells(size, factors, items, numbers), counts)


def apart(values: dict[str, Any]) -> dict[str, Any]:
    """Strengths beside what items are worth under all criteria, which is a row of its own."""
    if "general" not in values:
        return values
    return {**values, "strength": values["strength"] - values["general"][..., None, :]}


def at_random(density: VotesDensity) -> list[Any]:
    return list(np.random.default_rng(4).normal(size=(POINTS, density.size)))


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("name", OF_VOTES)
def test_rows_have_the_likelihood_of_the_model(name: str, ties: bool, make_case: Any) -> None:
    case = make_case(name, ties)
    density, data = case.density, case.problem.data
    panel, table = encoded(density, data)
    assert {term.name for term in panel.terms} <= {p.name for p in density.parameters}
    for x in at_random(density):
        values = density.values(x, np)
        found = float(panel.log_panel_likelihood(apart(values), table, np))
        assert found == pytest.approx(float(density.log_panel_likelihood(values, data, np)), abs=1e-6, rel=1e-12)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("name", OF_VOTES)
def test_rows_have_the_density_of_the_model_where_they_say_its_priors(name: str, ties: bool, make_case: Any) -> None:
    case = make_case(name, ties)
    density, data = case.density, case.problem.data
    panel, table = encoded(density, data)
    unsaid = [term.name for term in panel.terms if term.scale is UNSAID]
    assert bool(unsaid) == (name in NOT_AS_ROWS and (ties or NOT_AS_ROWS[name] != SCALE))
    if unsaid:
        return
    assert sorted(p.name for p in panel.parameters) == sorted(p.name for p in density.parameters)
    apart_by = []
    for x in at_random(density):
        own = float(density.log_density(x, data, np))
        rows = panel.flat(density.values(x, np), np)
        apart_by.append(float(panel.log_density(rows, table, np)) - own)
    np.testing.assert_allclose(apart_by, apart_by[0], atol=1e-6)


def test_another_prior_is_another_density(make_case: Any) -> None:
    """Negative control, which the comparison must tell."""
    case = make_case("bt-sigma", True)
    panel, table = encoded(case.density, case.problem.data)
    wrong = tuple(term._replace(scale=Scale(sd=1.3)) if term.name == "tie_judge" else term for term in panel.terms)
    other = replace(panel, terms=wrong)
    apart_by = [float(other.log_density(x, table, np) - panel.log_density(x, table, np)) for x in at_random(panel)]
    assert np.ptp(apart_by) > 1e-3
