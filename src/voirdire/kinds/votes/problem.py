"""Encoding of a table of votes for a density: distinct outcomes with counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from voirdire.errors import InputError
from voirdire.kinds.checks import orientation_check
from voirdire.kinds.further_terms import NO_TERMS, ResolvedTerms, check_terms_vary, family_of_judges, resolve_terms
from voirdire.kinds.votes.contexts import ContextVotes, cell_contexts, effective_counts, further_codes, split_by_terms
from voirdire.kinds.votes.density import VotesDensity
from voirdire.kinds.votes.people import Anchors
from voirdire.model.problem import Check, Problem
from voirdire.model.specs import Model
from voirdire.model.terms import RELIABILITY, TIES
from voirdire.tables.counts import Votes
from voirdire.tables.encode import level_positions
from voirdire.tables.ratings import known_names
from voirdire.tables.votes import VoteRows
from voirdire.typing import Floats, Ints

COLLAPSED_CRITERION = "overall"
MIN_VOTES_PER_CONTEXT = 2.0  # mean votes of a judge in a context from which its habits there are identified


@dataclass(frozen=True, eq=False)
class VotesProblem(Problem):
    """Model and table of votes (with votes on criteria, if any), ready for inference.

    ``data`` has for each table the distinct pairs (``pair_criterion``, ``pair_first``, ``pair_second``), the distinct
    decided outcomes (``judge``, ``pair``, ``outcome``, ``criterion``, ``weight``) and, with ties, the distinct cells
    (``tie_judge``, ``tie_pair``, ``tied``, ``decided``); for anchors it has the distinct answers (``criterion``,
    ``first``, ``second``, ``counts``). ``beside_scores`` is true if the items have scores, too, which link them.
    ``added`` are terms beside those of the sections of the model.
    """

    density: VotesDensity
    votes: Votes
    criteria_votes: Votes | None
    anchors: Anchors | None = None
    answer_weight: Floats | None = None
    beside_scores: bool = False
    added: ResolvedTerms = NO_TERMS

    def orientation_check(self, mass: float, at_mode: bool = False) -> Check:
        """See :func:`voirdire.kinds.checks.orientation_check`."""
        return orientation_check(mass, at_mode, anchored=self.anchors is not None, data=self.model.data)

    @property
    def coded_votes(self) -> Votes:
        """Votes with judges coded as in the problem, which also has the judges who voted on criteria alone."""
        judge = level_positions(self.votes.judges, self.judges)[self.votes.judge]
        return self.votes.with_codes(judges=self.judges, judge=judge)

    @property
    def coords(self) -> dict[str, list[str]]:
        """Names of the levels of each dimension."""
        added = {name: list(names) for name, names in self.added.levels.items()}
        contexts = {"context": list(self.votes.contexts)} if self.density.contexts else {}
        return added | super().coords | contexts

    @property
    def family_of_judges(self) -> Ints:
        """Code of each judge's family, shape (judges,); -1 without a family or a term of families."""
        return family_of_judges(self.added, VoteRows(self.coded_votes).judge, len(self.judges))

    @property
    def covariates(self) -> tuple[str, ...]:
        """Names of the covariates that the model has slopes for."""
        return tuple(self.added.units)


def encode_votes(
    model: Model,
    votes: Votes,
    criteria_votes: Votes | None = None,
    *,
    anchors: Anchors | None = None,
    answer_weight: Floats | None = None,
    ties: bool | None = None,
    keep_empty: bool = False,
    over: str = "new",
    tastes: bool | None = None,
) -> VotesProblem:
    """Encode a table of votes, and votes on its criteria, for a model.

    Parameters
    ----------
    anchors : Anchors, optional
        Human answers, taken as a further judge whose coin has a prior of its own.
    answer_weight : array, shape (judges,), optional
        Weight of one answer of each judge; judges sorted by name.
    ties : bool, optional
        Whether the model has its tie term; by default only if the tables have ties.
    keep_empty : bool
        Keep outcomes without a vote, so that tables with the same cells and other counts (the folds of a
        cross-validation) have arrays of one shape and share one compilation.
    over : "new" or "these"
        Contexts of scores: those like the contexts of the table, or these alone.
    tastes : bool, optional
        Whether a model with tastes of judges uses them; by default only if the votes identify them.

    Raises
    ------
    InputError
        Ties under a model that refuses them; votes on criteria for a model that collapses criteria, or on a criterion
        without votes on items.
    """
    _check_tables(model, votes, criteria_votes, anchors)
    if model.weights is None or model.weights.kind != "votes":
        criteria_votes = None  # the model does not use them
    judges = tuple(sorted({*votes.judges, *(criteria_votes.judges if criteria_votes else ())}))
    separate = model.criteria == "separate"
    has_contexts = model.context is not None and votes.row_context is not None and len(votes.contexts) > 1
    added = resolve_terms(model, VoteRows(votes), {}) if model.terms else NO_TERMS
    if has_contexts or added.terms or (votes.details is not None and votes.details.degree is not None):
        votes = split_by_terms(votes, has_contexts, added)
    contexts = len(votes.contexts) if has_contexts else 0
    has_taste_data = len(votes.criteria) > 1 if separate else len(judges) > 1
    tastes = model.taste is not None and (has_taste_data if tastes is None else tastes)
    criteria = votes.criteria if separate else (COLLAPSED_CRITERION,)
    tables = {"votes": _weigh_cells(vote_cells(votes, judges, separate), answer_weight)}
    if model.pool == "majority":
        tables["votes"] = _majority_cells(tables["votes"], len(votes.items))
    judge_votes = _votes_per_judge(votes, judges)
    if criteria_votes is not None:
        as_items = level_positions(criteria_votes.items, criteria)
        on_criteria = vote_cells(criteria_votes, judges, separate=False, criterion=len(criteria), items=as_items)
        tables["criteria"] = _weigh_cells(on_criteria, answer_weight)
        judge_votes = judge_votes + _votes_per_judge(criteria_votes, judges)
    if ties is None:
        ties = any(table.counts[:, 2].any() for table in tables.values())
        ties |= anchors is not None and anchors.votes.has_ties
    sizes = (len(judges), len(criteria), len(votes.items))
    levels = tuple((name, len(names)) for name, names in added.levels.items())
    density = VotesDensity(
        model, *sizes, ties, anchors is not None, contexts, tastes, over, added.terms, levels,
        repeated=not contexts or votes_per_judge_context(votes) >= MIN_VOTES_PER_CONTEXT,
    )  # fmt: skip
    split_pairs = bool(contexts or tastes or added.terms)
    ordered = any(not term.contrast for term in added.terms)
    data = {"votes": encode_cells(model, tables["votes"], len(votes.items), ties, keep_empty, split_pairs, ordered)}
    if "criteria" in tables:
        data["criteria"] = encode_cells(model, tables["criteria"], len(criteria), ties, keep_empty)
        data["criteria"]["pair_criterion"] *= 0  # weights have one row, under any criterion code of coins
    if anchors is not None:
        data["anchors"] = _encode_people(anchors, separate, len(criteria), has_contexts)
    names = (judges, criteria, votes.items)
    return VotesProblem(density, data, *names, judge_votes, votes, criteria_votes, anchors, answer_weight, added=added)


def votes_per_judge_context(votes: Votes) -> float:
    """Mean number of votes of a judge in a context in which it votes, held-out votes included.

    Parameters
    ----------
    votes : Votes
        Votes with cells of one context each.
    """
    context = cell_contexts(votes)
    assert context is not None
    judge_contexts = np.unique(np.stack([votes.judge, context]), axis=1)
    return float(len(votes.row_cell) / max(judge_contexts.shape[1], 1))


def refuse_constant_terms(problem: VotesProblem) -> None:
    """Refuse terms that are the same for both items of each vote: they do not show which item is better.

    Raises
    ------
    InputError
    """
    votes = problem.votes
    if problem.added.terms and isinstance(votes, ContextVotes):
        differs = None if votes.numbers is None else (votes.numbers[:, 0] != votes.numbers[:, 1]).any(axis=0)
        check_terms_vary(problem.added, "vote", differs)


@dataclass(frozen=True)
class Cells:
    """Cells of distinct (judge, criterion, first, second) with ``counts`` of first, second and tie, shape (cells, 3).

    ``more`` has the further factors by which the model distinguishes cells: codes of the context and of further terms,
    shape (cells,) each, and ``numbers`` of both items, shape (2, cells, numbers).
    """

    judge: Ints
    criterion: Ints
    first: Ints
    second: Ints
    counts: Floats
    more: Mapping[str, Any] = field(default_factory=dict)


def vote_cells(
    votes: Votes, judges: tuple[str, ...], separate: bool, criterion: int = 0, items: Ints | None = None
) -> Cells:
    """Make the cells of a table with judges coded by ``judges``; criteria collapse unless ``separate``."""
    first, second = votes.first, votes.second
    if items is not None:
        first, second = items[first], items[second]
    column = votes.criterion if separate else np.full_like(votes.criterion, criterion)
    context = cell_contexts(votes)
    extra = further_codes(votes) | ({} if context is None else {"context": context})
    judge = level_positions(votes.judges, judges)[votes.judge]
    return Cells(judge, column, first, second, effective_counts(votes), extra)


def encode_cells(
    model: Model,
    table: Cells,
    items: int,
    ties: bool,
    keep_empty: bool = False,
    structured: bool = False,
    ordered: bool = False,
) -> dict[str, Any]:
    """Encode distinct pairs, outcomes and tie cells of a table; cells that the model does not distinguish are merged.

    A model without position effects (of its coins, or if ``ordered`` of terms) does not use the order of items, and a
    model without reliability does not use the judge. The cost of a fit thus depends on what the model distinguishes. If
    ``structured``, pairs are distinct by judge and context as well.
    """
    reliability = RELIABILITY[model.reliability.kind]
    if not (reliability.position_aware or ordered):
        table = _order_pairs(table)
    judge_free = not reliability.keys
    ties_by_judge = model.ties is not None and TIES[model.ties.kind].by_judge
    tie_judge = table.judge * 0 if judge_free and not ties_by_judge else table.judge
    pair_key = (table.criterion * items + table.first) * items + table.second
    if structured:
        numbers = table.more.get("numbers", np.zeros((2, len(pair_key), 0)))
        extra_codes = [code for name, code in table.more.items() if name != "numbers"]
        parts = [pair_key, table.judge, *extra_codes, *numbers.transpose(0, 2, 1).reshape(-1, len(pair_key))]
        pair_key = np.unique(np.stack(parts), axis=1, return_inverse=True)[1].ravel()
    _, first_row, pair = np.unique(pair_key, return_index=True, return_inverse=True)
    pairs = ((table.criterion * items + table.first) * items + table.second)[first_row]
    judge = table.judge * 0 if judge_free else table.judge
    out: dict[str, Any] = {
        "pair_criterion": pairs // (items * items),
        "pair_first": pairs // items % items,
        "pair_second": pairs % items,
    }
    if structured:
        extra = {"context": np.full_like(pair_key, -1), **table.more, "judge": table.judge}
        for name, codes in extra.items():
            out[f"pair_{name}"] = codes[:, first_row] if name == "numbers" else codes[first_row]
    size = max(len(pairs), 1)
    outcome_key = np.concatenate([judge * size + pair, (judge * size + pair) + 2**62])
    keys, inverse = np.unique(outcome_key, return_inverse=True)
    weight = np.bincount(inverse, np.concatenate([table.counts[:, 0], table.counts[:, 1]]), len(keys))
    if not keep_empty:
        keys, weight = keys[weight > 0], weight[weight > 0]
    outcome = (keys >= 2**62).astype(np.int64)
    keys = keys - outcome * 2**62
    out |= {"judge": keys // size, "pair": keys % size, "outcome": outcome, "weight": weight}
    out["criterion"] = (pairs // (items * items))[out["pair"]]
    if ties:
        keys, inverse = np.unique(tie_judge * size + pair, return_inverse=True)
        out |= {
            "tie_judge": keys // size,
            "tie_pair": keys % size,
            "tied": np.bincount(inverse, table.counts[:, 2], len(keys)),
            "decided": np.bincount(inverse, table.counts[:, :2].sum(axis=1), len(keys)),
        }
    return out


def _weigh_cells(table: Cells, answer_weight: Floats | None) -> Cells:
    if answer_weight is None:
        return table
    return replace(table, counts=table.counts * answer_weight[table.judge][:, None])


def _encode_people(anchors: Anchors, separate: bool, criteria: int, structured: bool) -> dict[str, Any]:
    in_contexts = structured and anchors.votes.row_context is not None
    people = split_by_terms(anchors.votes, in_contexts) if in_contexts else anchors.votes
    criterion = people.criterion if separate else people.criterion * 0
    if separate and anchors.overall:
        criterion = np.full_like(people.criterion, criteria)  # code of items as a whole
    counts = people.counts.astype(float)
    arrays = {"criterion": criterion, "first": people.first, "second": people.second, "counts": counts}
    return arrays | ({"context": cell_contexts(people)} if in_contexts else {})


#: Kinds of reliability that are possible with a learned scale of strengths.
LEARNED_SCALE_KINDS = (
    "pooled-one-coin",
    "pooled-two-coin",
    "pooled-discrimination",
    "pooled-discrimination-position",
    "fixed",
)


def _check_tables(model: Model, votes: Votes, criteria_votes: Votes | None, anchors: Anchors | None) -> None:
    problems = []
    if anchors is not None and model.anchors is None:
        problems.append(
            f"model {model.name} has no [anchors] section, so it cannot use anchors; take crowd-bt-position"
        )
    if model.strength.kind in ("learned-scale", "divided-scale") and model.reliability.kind not in LEARNED_SCALE_KINDS:
        problems.append(
            f"model {model.name} learns the scale of strengths, which goes with reliability of kind "
            f"{', '.join(LEARNED_SCALE_KINDS[:-1])} or {LEARNED_SCALE_KINDS[-1]}, not {model.reliability.kind}; take "
            "learned-crowd-bt-position, or a strength of kind normal"
        )
    people = None if anchors is None else anchors.votes
    tables = ((votes, "votes"), (criteria_votes, "votes on criteria"), (people, "anchors"))
    for table, name in tables:
        if table is not None and table.has_ties and model.ties is None:
            count = int(table.counts[:, 2].sum())
            problems.append(
                f"{name}: {count} ties, but model {model.name} refuses ties; "
                "use a model with a [ties] section or ask the judges for a forced choice"
            )
    if criteria_votes is not None:
        if model.criteria == "collapse":
            problems.append(
                f"votes on criteria were given, but model {model.name} collapses criteria; use a maple model"
            )
        unknown = sorted(set(criteria_votes.items) - set(votes.criteria))
        if unknown and model.criteria == "separate":
            problems.append(
                f"votes on criteria name {known_names(unknown)}, under which no vote on items was given; "
                f"the criteria of the votes are {known_names(votes.criteria)}"
            )
    if problems:
        raise InputError(problems)


def _votes_per_judge(votes: Votes, judges: tuple[str, ...]) -> Ints:
    code = level_positions(votes.judges, judges)[votes.judge]
    return np.bincount(code, votes.counts.sum(axis=1), len(judges)).astype(np.int64)


def _order_pairs(table: Cells) -> Cells:
    swap = table.first > table.second
    counts = np.where(swap[:, None], table.counts[:, [1, 0, 2]], table.counts)
    first, second = np.where(swap, table.second, table.first), np.where(swap, table.first, table.second)
    more = dict(table.more)
    if "numbers" in more:
        more["numbers"] = np.where(swap[:, None], more["numbers"][::-1], more["numbers"])
    return Cells(table.judge, table.criterion, first, second, counts, more)


def _majority_cells(table: Cells, items: int) -> Cells:
    """Reduce votes to one outcome per unordered pair: the item with more votes, or a tie where both have as many."""
    table = _order_pairs(table)
    pairs, pair = np.unique(table.first * items + table.second, return_inverse=True)
    lead = np.bincount(pair, table.counts[:, 0] - table.counts[:, 1], len(pairs))
    voted = np.bincount(pair, table.counts.sum(axis=1), len(pairs)) > 0  # cells of a held-out fold have no vote
    counts = np.stack([lead > 0, lead < 0, (lead == 0) & voted], axis=1).astype(float)
    zero = np.zeros(len(pairs), dtype=np.int64)
    return Cells(zero, zero, pairs // items, pairs % items, counts)
