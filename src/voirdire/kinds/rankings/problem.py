"""Encoding of a table of rankings for its density: the items of each ranking in order."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from voirdire.errors import InputError
from voirdire.kinds.criteria_votes import CRITERIA_DATA, encode_criteria_votes, weights_problem
from voirdire.kinds.further_terms import NO_TERMS, ResolvedTerms, check_terms_vary, family_of_judges, resolve_terms
from voirdire.kinds.people import PeopleTable
from voirdire.kinds.rankings.density import RankingsDensity, model_terms, reason_contexts_unknown
from voirdire.kinds.rankings.human import read_ranked_anchors
from voirdire.kinds.scores.weights import NO_IMPORTANCE, CriterionImportance, with_judges
from voirdire.model.design import Cells, LatentPositions
from voirdire.model.family.ranking import ranking_family, tied_places
from voirdire.model.problem import Problem
from voirdire.model.specs import Model
from voirdire.tables.counts import Votes
from voirdire.tables.rankings import Rankings
from voirdire.typing import Floats, Ints

MAX_PRODUCT_NUMBERS = 4e8  # largest number of products of pairs of a ranking's values, over all rankings


class Order(NamedTuple):
    """Rankings as columns, each in its own order.

    Attributes
    ----------
    row : int array, shape (places, rankings)
        Row of the table at each place, best first; -1 after the last item.
    group : int array, shape (places, rankings)
        0 for the best place, 1 for the next, ..., equal for tied items; -1 after the last item.
    """

    row: Ints
    group: Ints

    def by_ranking(self, column: Ints) -> Ints:
        """Select the values of a column for each ranking, shape (rankings,)."""
        return np.asarray(column[self.row[0]])

    def by_place(self, column: Ints) -> Ints:
        """Select the values of a column at each place, shape (places, rankings); -1 after the last item."""
        return np.asarray(np.where(self.row >= 0, column[self.row], -1))

    def padded(self, places: int) -> Order:
        """Pad the rankings to a number of places."""
        padding = np.full((places - len(self.row), self.row.shape[1]), -1)
        return Order(np.concatenate([self.row, padding]), np.concatenate([self.group, padding]))


def order_rankings(table: Rankings) -> Order:
    """Order the items of each ranking of a table.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.rankings import read_rankings
    >>> rows = {"judge": ["a", "a", "a", "b", "b"], "item": list("xyzxy"), "rank": [2, 5, 2, 2, 1]}
    >>> order = order_rankings(read_rankings(pd.DataFrame(rows)))
    >>> order.row.T.tolist(), order.group.T.tolist()
    ([[0, 2, 1], [4, 3, -1]], [[0, 0, 1], [0, 1, -1]])
    """
    ranking, rank = table.ranking, table.rank
    rows = np.lexsort((table.item, rank, ranking))
    place = np.arange(len(rows)) - np.searchsorted(ranking[rows], ranking[rows])
    is_later = np.append(False, rank[rows][1:] > rank[rows][:-1]) & (place > 0)
    groups_before = np.cumsum(is_later)
    shape = (int(place.max()) + 1, table.count)
    row, group = np.full(shape, -1), np.full(shape, -1)
    row[place, ranking[rows]] = rows
    group[place, ranking[rows]] = groups_before - groups_before[np.arange(len(rows)) - place]
    return Order(row, group)


@dataclass(frozen=True, eq=False)
class RankingsProblem(Problem):
    """Model and table of rankings, ready for inference.

    ``judge_votes`` is the number of rankings of each judge.

    Attributes
    ----------
    table : Rankings
    order : Order
        Rankings of the table, in order.
    anchors : PeopleTable or None
        People's rankings.
    added : ResolvedTerms
        Terms beside those of the sections of the model.
    criteria_votes : Votes or None
    """

    density: RankingsDensity
    table: Rankings
    order: Order
    anchors: PeopleTable[Rankings] | None = None
    added: ResolvedTerms = NO_TERMS
    criteria_votes: Votes | None = None

    def independent_parts(self) -> tuple[Problem, ...]:
        """Problems of the rankings and of the votes on criteria, if there are such votes."""
        if not self.density.voted or "pinned" in self.data:
            return ()
        density, panel = replace(self.density, voted=False), self.data["panel"]
        index = np.minimum(panel["index"], LatentPositions(density).size)  # weights are the last values
        rankings = replace(self, density=density, data={"panel": panel | {"index": index}})
        return rankings, weights_problem(self)

    @property
    def coords(self) -> dict[str, list[str]]:
        """Names of the levels of each dimension."""
        added = {name: list(names) for name, names in self.added.levels.items()}
        return added | super().coords | {"context": list(self.table.contexts), "panel": ["panel"]}

    @property
    def ranked(self) -> tuple[Ints, Floats]:
        """Ranks of items (0: unranked), (rankings, items); codes of judge, criterion, context, (rankings, codes)."""
        table, contexts = self.table, self.density.sizes.get("context", 0)
        _, ranking, ranking_row = np.unique(table.ranking, return_index=True, return_inverse=True)
        rank = np.zeros((len(ranking), len(self.items)), np.int64)
        rank[ranking_row, table.item] = np.unique(table.rank, return_inverse=True)[1] + 1
        about = [table.judge, table.criterion, *([] if table.context is None or not contexts else [table.context])]
        return rank, np.stack([code[ranking] for code in about], axis=1).astype(float)

    @property
    def family_of_judges(self) -> Ints:
        """Code of each judge's family, shape (judges,); -1 without a family or a term of families."""
        return family_of_judges(self.added, self.table.judge, len(self.judges))

    def cells(self) -> Cells:
        """Make the cells of the table: factors of each ranking, and the items at its places."""
        return add_term_factors(ranking_cells(self.table, self.order), self.order, self.added)

    def item_predictors(self, values: dict[str, Floats], cells: Cells) -> Floats:
        """Compute predictors eta of items at each place, shape (..., places, rankings); -inf after the last item."""
        data = self.density.table(cells, None)
        eta = np.asarray(self.density.predictors(values, data, np))
        return np.asarray(np.where(np.array(cells.items) >= 0, eta, -np.inf))


def ranking_cells(table: Rankings, order: Order, people: bool = False) -> Cells:
    """Make the cells of a table: factors of each ranking, and items at its places; ``people`` have no judge code."""
    judge = order.by_ranking(table.judge)
    judge, panel = (np.full(len(judge), -1), -1) if people else (judge, 0)
    factors = {"judge": judge, "criterion": order.by_ranking(table.criterion), "panel": np.full(len(judge), panel)}
    if table.context is not None:
        factors["context"] = order.by_ranking(table.context)
    return Cells(order.row.shape[1], factors, tuple(order.by_place(table.item)))


def add_term_factors(cells: Cells, order: Order, added: ResolvedTerms) -> Cells:
    """Add the factors of further terms, and their numbers at each place, to the cells.

    Raises
    ------
    InputError
        A factor differs between the items of a ranking.
    """
    factors = dict(cells.factors)
    for name in added.codes:
        if name in ("numbers", "item", *factors):
            continue
        codes = order.by_place(added.codes[name])
        if ((codes != codes[0]) & (order.row >= 0)).any():
            raise InputError(
                f"terms: column {name!r} differs between items of a ranking; give numbers, or leave the term out"
            )
        factors[name] = codes[0]
    numbers = added.numbers[order.by_place(added.codes["numbers"])] if "numbers" in added.codes else None
    return replace(cells, factors=factors, numbers=numbers)


def _join_cells(panel: Cells, people: Cells) -> Cells:
    """Join the cells of both tables; numbers of people's cells are 0."""
    missing = np.full(people.number, -1)
    factors = {
        name: np.concatenate([codes, people.factors.get(name, missing)]) for name, codes in panel.factors.items()
    }
    items = tuple(np.concatenate(pair) for pair in zip(panel.items, people.items, strict=True))
    numbers = panel.numbers
    if numbers is not None:
        zeros = np.zeros((len(numbers), people.number, numbers.shape[-1]))
        numbers = np.concatenate([numbers, zeros], axis=1)
    return Cells(panel.number + people.number, factors, items, numbers)


def encode_rankings(
    model: Model,
    table: Rankings,
    *,
    over: str = "new",
    criteria: CriterionImportance = NO_IMPORTANCE,
    anchors: object = None,
) -> RankingsProblem:
    """Encode a table of rankings for a model.

    Parameters
    ----------
    over : "new" or "these"
        Contexts of scores: those like the contexts of the table, or these alone.
    criteria : CriterionImportance, optional
        Weights of the criteria, or votes on them; by default equal weights.
    anchors : path, dataframe or PeopleTable, optional
        People's rankings; see :func:`.rankings.human.read_ranked_anchors`.

    Raises
    ------
    InputError
        The model has no section of anchors, the anchors are invalid, or matrices of the items of long rankings would
        take too much memory.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.model.specs import load_model
    >>> from voirdire.tables.rankings import read_rankings
    >>> rows = {"judge": ["a", "a", "b", "b"], "item": ["x", "y"] * 2, "rank": [1, 2, 1, 1]}
    >>> table = read_rankings(pd.DataFrame(rows))
    >>> encode_rankings(load_model("plackett-luce"), table).judge_votes.tolist()
    [1, 1]
    """
    if anchors is not None and model.anchors is None:
        raise InputError(f"model {model.name} has no section [anchors]; leave anchors out, or add it")
    votes, weights = criteria.check_model(model)
    if votes is not None:
        table = with_judges(table, votes.judges)
    people = None if anchors is None else read_ranked_anchors(anchors, table)
    added = resolve_terms(model, table, {}, apart=True)
    check_terms_vary(added, "ranking")
    terms = (*model_terms(model, table, people is not None), *added.terms)
    orders = [order_rankings(source) for source in ((table,) if people is None else (table, people.table))]
    places = max(len(order.row) for order in orders)
    order, *people_orders = (order.padded(places) for order in orders)
    groups = np.concatenate([source.group for source in (order, *people_orders)], axis=1)
    count = groups.shape[1]
    if (numbers := count * (places * len(terms)) ** 2) > MAX_PRODUCT_NUMBERS:
        remedy = "take plackett-luce" if len(terms) > 1 else "read them as votes (--table votes, table='votes')"
        raise InputError(
            f"rankings: {count:,} rankings of up to {places:,} items under {model.name} would take "
            f"{8 * numbers / 1e9:.2g} GB; {remedy}"
        )
    contexts = 0 if reason_contexts_unknown(table) is not None else len(table.contexts)
    sizes = (len(table.judges), len(table.criteria), len(table.items))
    levels = dict(zip(("judge", "criterion", "item", "context", "panel"), (*sizes, contexts, 1), strict=True))
    levels = {name: len(names) for name, names in added.levels.items()} | levels
    family = ranking_family(places, tied_places(groups))
    density = RankingsDensity(model, *sizes, terms, family, places, tuple(levels.items()), over, weights)
    density = replace(density, voted=votes is not None)
    cells = add_term_factors(ranking_cells(table, order), order, added)
    if people is not None:
        cells = _join_cells(cells, ranking_cells(people.table, people_orders[0], people=True))
    data = density.table(cells, groups)
    if votes is not None:
        data[CRITERIA_DATA] = encode_criteria_votes(votes, table.judges, table.criteria)
    judge_rankings = np.bincount(order.by_ranking(table.judge), minlength=len(table.judges))
    names = (table.judges, table.criteria, table.items)
    return RankingsProblem(density, data, *names, judge_rankings, table, order, people, added, votes)


def check_covariates_vary(problem: RankingsProblem) -> None:
    """Refuse numbers that are equal for all items of each ranking: they say nothing about their order.

    Raises
    ------
    InputError
    """
    added = problem.added
    if "numbers" not in added.codes:
        return
    order, numbers = problem.order, added.numbers[problem.order.by_place(added.codes["numbers"])]
    varies = ((numbers != numbers[0]) & (order.row >= 0)[..., None]).any(axis=(0, 1))
    check_terms_vary(added, "ranking", varies)
