"""Encoding of a table of scores for a density."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from voirdire.errors import InputError
from voirdire.kinds.checks import orientation_check
from voirdire.kinds.criteria_votes import CRITERIA_DATA, encode_criteria_votes, weights_problem
from voirdire.kinds.further_terms import NO_TERMS, ResolvedTerms, has_family_terms, resolve_terms
from voirdire.kinds.people import PeopleTable
from voirdire.kinds.scores import baseline, continuous, ordinal, score_counts
from voirdire.kinds.scores import weights as weighing
from voirdire.kinds.scores.density import LEARNED_SPREAD_KINDS, ScoresDensity, log_odds_unit, score_form_module
from voirdire.kinds.scores.halo import can_learn_tastes, reason_contexts_unknown
from voirdire.kinds.scores.human import read_scored_anchors, recode_contexts
from voirdire.kinds.scores.layout import FACTOR_NAMES, ScoresLayout
from voirdire.kinds.scores.scale import Scale, continuous_scale, ordinal_scale
from voirdire.model.problem import Check, Problem
from voirdire.model.specs import Model
from voirdire.tables.counts import Votes
from voirdire.tables.families import shared_families
from voirdire.tables.problems import Problems
from voirdire.tables.scores import Scores
from voirdire.typing import Floats, Ints


@dataclass(frozen=True, eq=False)
class ScoresProblem(Problem):
    """One model and one table of scores, ready for inference.

    ``data["scores"]`` holds the distinct answers (``judge``, ``criterion``, ``item``, ``weight`` and the encoded score)
    and ``data["panel"]`` the ``group`` of every judge.

    Attributes
    ----------
    table : Scores
    scale : Scale
    groups : tuple of str
        Names of the judges' groups; ``("all",)`` for a table without column ``group``.
    judge_group : int array, shape (judges,)
    criteria_votes : Votes or None
    answer_weight : array, shape (judges,), or None
        Weight of one answer of each judge.
    anchors : PeopleTable or None
        Human scores; ``data["anchors"]`` holds their distinct answers in the same form.
    families : dict
        Family of each judge if the model has errors that families share; else empty.
    added : ResolvedTerms
        Terms in addition to the sections of the model.
    """

    density: ScoresDensity
    table: Scores
    scale: Scale
    groups: tuple[str, ...]
    judge_group: Ints
    criteria_votes: Votes | None = None
    answer_weight: Floats | None = None
    anchors: PeopleTable[Scores] | None = None
    families: dict[str, str] = field(default_factory=dict)
    added: ResolvedTerms = NO_TERMS

    ordered: ClassVar[bool] = True  # answers have an order

    @property
    def possible(self) -> tuple[str, ...]:
        """Names of the answers, in the order of their probabilities."""
        return tuple(self.scale.names)

    @property
    def over(self) -> str:
        """Contexts of comparisons of items or systems: contexts like the table's ("new"), or "these" alone."""
        return self.density.over

    def codes(self, table: Scores) -> dict[str, Ints]:
        """Codes of each score of a table, by the names of :attr:`.ScoresLayout.code_names`; -1 where it has none."""
        return row_codes(self.density, table, self.added.codes if table is self.table else {})

    def answer_codes(self, table: Scores) -> Ints:
        """Index of the level of each score among :attr:`possible`, shape (rows,)."""
        return np.searchsorted(self.scale.levels, table.score)

    def independent_parts(self) -> tuple[Problem, ...]:
        """Scores, and votes on criteria, as separate problems if the votes do not depend on judges' reliability."""
        if not (self.density.voted and self.density.uses_marginal_likelihood):
            return ()
        data = {name: part for name, part in self.data.items() if name != CRITERIA_DATA}
        scores = replace(self, density=replace(self.density, voted=False), data=data)
        return scores, weights_problem(self)

    def orientation_check(self, mass: float, at_mode: bool = False) -> Check:
        """See :func:`voirdire.kinds.checks.orientation_check`."""
        anchor_words = "scores of some of these items"
        return orientation_check(mass, at_mode, self.anchors is not None, self.model.data, anchor_words)

    @property
    def form(self) -> Any:
        """Module for the form of scores; see :func:`.scores.density.score_form_module`."""
        return self.density.form

    def weight_of(self, judge: Ints) -> Floats | float:
        """Weight of the answers of judges; 1 unless judges who answer alike count for less."""
        return 1.0 if self.answer_weight is None else self.answer_weight[judge]

    def times(self, part: Mapping[str, Any]) -> Floats:
        """Number of answers in each row of a part of the data, not weighted."""
        return np.asarray(part["weight"] / (self.weight_of(part["judge"]) if "judge" in part else 1.0), dtype=float)

    @property
    def in_points(self) -> bool:
        """True if the model takes scores as numbers, so that results are in points of the scale."""
        return self.form is not ordinal

    @property
    def unit(self) -> tuple[float, float]:
        """Origin of strengths on the scale of the scores, and size of one unit of strength there.

        0 and 1 for models of an ordered scale, with strengths in log-odds.
        """
        if not self.in_points:
            return 0.0, 1.0
        return 0.5 * (self.scale.low + self.scale.high), self.scale.range

    @property
    def coords(self) -> dict[str, list[str]]:
        """Names of the levels of each dimension."""
        gaps = [f"{low} to {high}" for low, high in zip(self.scale.names[1:-1], self.scale.names[2:], strict=True)]
        shared = shared_families(self.families, self.judges)[1]
        limits = [f"{low} | {high}" for low, high in zip(self.scale.names[:-1], self.scale.names[1:], strict=True)]
        further = {"group": list(self.groups), "gap": gaps, "limit": limits, "family": list(shared)}
        added = {name: list(names) for name, names in self.added.levels.items()}
        return added | super().coords | further | {"context": list(self.table.contexts)}


def encode_scores(
    model: Model,
    table: Scores,
    *,
    levels: Sequence[object] | None = None,
    criteria: object = None,
    repeats: bool | None = None,
    complete: bool = True,
    answer_weight: Floats | None = None,
    anchors: object = None,
    over: str = "new",
    families: Mapping[str, str] | None = None,
    contexts: bool | None = None,
    tastes: bool | None = None,
) -> ScoresProblem:
    """Encode a table of scores for a model.

    Parameters
    ----------
    levels : sequence, optional
        The levels of the scale; by default the whole numbers from the lowest score to the highest. For models that take
        scores as numbers, the ends of the scale.
    criteria : path, dataframe, Votes or CriterionImportance, optional
        Weights of the criteria or votes on them, see :func:`voirdire.kinds.scores.weights.read_criterion_importance`.
    repeats : bool, optional
        True to include the model's term for repeated scores; by default if the table has repeated scores and several
        judges.
    complete : bool
        True if every item must have a score under every criterion.
    answer_weight : array, shape (judges,), optional
        Weight of one answer of each judge; judges sorted by name.
    anchors : path, dataframe or PeopleTable, optional
        Human scores, see :func:`voirdire.kinds.scores.human.read_scored_anchors`.
    over : "new" or "these"
        As in :class:`ScoresProblem`.
    families : mapping, optional
        Family of each judge, for models with errors that families share; by default every judge is alone.
    contexts : bool, optional
        True to include the contexts of a model with contexts; by default if some item is scored in two.
    tastes : bool, optional
        True to include the tastes of a model with tastes; by default if the scores identify them.

    Raises
    ------
    InputError
        A model with contexts that learns no spreads. Scores outside the scale, a scale of one level, items without a
        score under some criterion, judges of several groups; all at once.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.model.specs import load_model
    >>> from voirdire.tables.scores import read_scores
    >>> rows = [("a", "x", 1), ("b", "x", 2), ("a", "y", 3), ("b", "y", 3)]
    >>> table = read_scores(pd.DataFrame(rows, columns=["judge", "item", "score"]))
    >>> encode_scores(load_model("rating-severity"), table).data["scores"]["level"].tolist()
    [0, 2, 1, 2]
    """
    if anchors is not None and model.anchors is None:
        raise InputError(
            f"model {model.name} has no [anchors] section, so it cannot use anchors; take rating-severity or "
            "rating-discrimination"
        )
    problems, form = Problems("scores"), score_form_module(model)
    if model.context is not None and model.strength.kind not in LEARNED_SPREAD_KINDS:
        raise InputError(
            f"model {model.name}: [context] is for models that learn spreads, as rating-contexts and "
            "rating-continuous-contexts"
        )
    scale = (ordinal_scale if form is ordinal else continuous_scale)(table.score, levels, problems)
    if complete:
        score_counts.report_unscored_items(table, problems)
    score_counts.group_per_judge(table, problems)
    problems.raise_any()
    assert scale is not None  # else a problem was raised
    votes, weights = weighing.read_criterion_importance(criteria, table.criteria).check_model(model)
    if votes is not None:
        table = weighing.with_judges(table, votes.judges)
    groups, judge_group = score_counts.group_per_judge(table, problems)
    sizes = (len(table.criteria), len(table.items))
    codes = (table.judge, table.criterion, table.item)
    if contexts is None:
        contexts = reason_contexts_unknown(table) is None
    contexts = contexts and model.context is not None
    if repeats is None:  # with one judge, its effect on an item and the item's strength are the same
        repeats = score_counts.has_repeats(table, contexts) and len(np.unique(table.judge)) > 1
    repeats = repeats and model.repeats is not None
    answers, runs = score_counts.answers_per_cell(table)
    judge_families = dict(families or {}) if uses_families(model) else {}
    family_of_judge, shared_names = shared_families(judge_families, table.judges)
    judge_factors = {"group": (judge_group, groups)} if table.groups else {}
    if family_of_judge:
        judge_factors["family"] = (np.array(family_of_judge), shared_names)
    added = resolve_terms(model, table, judge_factors, unit=log_odds_unit(model))
    known_factors = ("judge", "criterion", "item", *judge_factors, *(("context",) if contexts else ()))
    density = ScoresDensity(
        model,
        len(table.judges),
        *sizes,
        levels=len(scale.levels) if form is ordinal else 0,
        groups=len(groups),
        repeats=repeats,
        voted=votes is not None,
        fixed_weights=weights,
        answers=answers,
        runs=runs,
        families=family_of_judge,
        contexts=len(table.contexts) if contexts else 0,
        tastes=model.taste is not None and (can_learn_tastes(table, contexts) if tastes is None else tastes),
        added=added.terms,
        added_levels=tuple((name, len(names)) for name, names in added.levels.items() if name not in known_factors),
        over=over,
    )
    about = row_codes(density, table, added.codes)
    count = len(scale.levels) if form is ordinal else 0
    parts = scale.to_parts(table.score)
    if form is ordinal:
        level = np.searchsorted(scale.levels, table.score)
        encoded = ordinal.encode_levels(about, level, count, density.integrates_repeats)
    elif form is continuous:
        encoded = continuous.encode_numbers(about, parts)
    else:
        encoded = baseline.encode_centres(*codes, parts, sizes, judge_group, model.pool)
    if answer_weight is not None:
        encoded["weight"] = encoded["weight"] * answer_weight[encoded["judge"]]
    panel = {"group": judge_group, "numbers": added.numbers}
    data: dict[str, dict[str, Any]] = {"scores": encoded, "panel": panel}
    people = None
    if anchors is not None:
        options = {"ordinal": form is ordinal, "declared": levels is not None}
        people = read_scored_anchors(anchors, table, scale, **options)
        people = recode_contexts(people, table) if contexts else people
        data["anchors"] = _encode_people(people, scale, form, contexts)
    if votes is not None:
        data[CRITERIA_DATA] = encode_criteria_votes(votes, table.judges, table.criteria)
        if answer_weight is not None:
            data[CRITERIA_DATA]["weight"] *= answer_weight[data[CRITERIA_DATA]["judge"]]
    density = replace(
        density, anchors=() if people is None else score_counts.human_scores_per_cell(people.table, sizes)
    )
    judge_scores = np.bincount(table.judge, minlength=len(table.judges)).astype(np.int64)
    names = (table.judges, table.criteria, table.items)
    problem = ScoresProblem(
        density, data, *names, judge_scores, table, scale, groups, judge_group, votes, answer_weight
    )
    return replace(problem, anchors=people, families=judge_families, added=added)


def row_codes(density: ScoresLayout, table: Scores, added: Mapping[str, Ints]) -> dict[str, Ints]:
    """As :meth:`ScoresProblem.codes`; ``added`` has the codes of factors of added terms, if known."""
    codes: dict[str, Ints] = {}
    for name in density.code_names:
        code = getattr(table, name) if name in (*FACTOR_NAMES, "context") else added.get(name)
        codes[name] = table.judge * 0 - 1 if code is None else code
    return codes


def uses_families(model: Model) -> bool:
    """True if a model has errors that families share, or another term of families."""
    return model.families is not None or has_family_terms(model)


def _encode_people(people: PeopleTable[Scores], scale: Scale, form: Any, contexts: bool) -> dict[str, Any]:
    """Distinct human scores and their counts; without judges, and with context -1 if no context is named."""
    table = people.table
    about: dict[str, Ints] = {name: getattr(table, name) for name in FACTOR_NAMES}
    if contexts:
        about["context"] = table.judge * 0 - 1 if table.context is None else table.context
    if form is ordinal:
        level = np.searchsorted(scale.levels, table.score)
        encoded = ordinal.encode_levels(about, level, len(scale.levels), repeats=False)
    else:
        encoded = continuous.encode_numbers(about, scale.to_parts(table.score))
    return {name: column for name, column in encoded.items() if name != "judge"}
