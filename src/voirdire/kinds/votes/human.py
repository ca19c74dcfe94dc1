"""Ways to use comparisons that people answered, and their predictions."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from voirdire.errors import InputError
from voirdire.infer.posterior import Mode, Posterior
from voirdire.kinds.human import CUT, DEFAULT_METHODS, JOINT, MAJORITY, PEOPLE_ALONE, HumanAnswers, LeftOut
from voirdire.kinds.votes import candidates, cut
from voirdire.kinds.votes.candidates import CROWD_BT_PRIOR, Evidence, Predicted, coin_means
from voirdire.kinds.votes.comparisons import collect_comparisons, decided_comparisons, unconnected_pairs
from voirdire.kinds.votes.problem import VotesProblem
from voirdire.model.specs import Model
from voirdire.tables.families import family_codes
from voirdire.tables.graph import graph_connectivity
from voirdire.typing import Floats

CUT_INDEPENDENT, CUT_BY_FAMILY = "cut, independent", "cut, by family"
PAIR_METHODS = {
    MAJORITY: candidates.majority_shares,
    "best judge": candidates.best_judge_prediction,
    CUT_INDEPENDENT: candidates.naive_bayes,
    CUT_BY_FAMILY: candidates.naive_bayes_by_family,
    "stacking": candidates.stacked_predictions,
}


class HumanVotes(HumanAnswers[VotesProblem]):
    """Answers of people to comparisons; unconnected pairs have further methods beside joint and cut.

    Attributes
    ----------
    evidence : Evidence
    unconnected : bool
        Whether the items are unconnected pairs.
    by_pair : bool
        Whether the methods of unconnected pairs are used.
    """

    drawn = "its coins are drawn exactly from the anchors and the rest by Laplace given them"

    def __init__(self, problem: VotesProblem, families: dict[str, str] | None = None) -> None:
        super().__init__(problem)
        self.evidence = gather_evidence(problem, families)
        self.unconnected = unconnected_pairs(problem)
        self.by_pair = self.unconnected and bool(self.evidence.prior) and len(self.evidence.rows) > 0

    @property
    def can_cut(self) -> bool:
        """True if the model has coins and an anchor decides a pair that the judges saw."""
        return cut.learns_from_anchors(self.problem.model) and len(self.evidence.rows) > 0

    @property
    def default(self) -> str:
        """Stacking for unconnected pairs, else joint."""
        return DEFAULT_METHODS["pairs" if self.by_pair else "linked"]

    def check_cut(self) -> None:
        """As in :class:`.HumanAnswers`."""
        if not cut.learns_from_anchors(self.problem.model):
            raise InputError(
                "anchor mode 'cut' learns judges' coins from the anchors alone, but in model "
                f"{self.problem.model.name} a judge is no coin; take learned-crowd-bt-position or maple-position, or "
                "anchor_mode='joint'"
            )
        if not len(self.evidence.rows):
            raise InputError(
                "anchors: none decides a pair that the judges saw (and under one criterion, where votes have "
                "criteria), so there is nothing to learn judges' coins from; use anchor_mode='joint'"
            )

    @property
    def of_chosen(self) -> str:
        """As in :class:`.HumanAnswers`."""
        return "pairs" if self.by_pair else super().of_chosen

    def compares(self, requested: str | None, can_cut: bool) -> bool:
        """True for unconnected pairs under every request, else as in :class:`.HumanAnswers`."""
        return self.by_pair or super().compares(requested, can_cut)

    @cached_property
    def has_dependent_judges(self) -> bool:
        """True if the answers of some judges count for less, because their votes are not independent."""
        return bool((self.evidence.answer_weight < 1.0).any())

    @cached_property
    def learned(self) -> dict[str, Predicted]:
        """Predictions of all pairs, and of anchored pairs left out, by each method that learns from anchors alone."""
        methods = {
            name: method for name, method in PAIR_METHODS.items() if name != CUT_BY_FAMILY or self.has_dependent_judges
        }
        return {name: method(self.evidence) for name, method in methods.items()}

    def left_out(self, requested: str | None, joint: Floats) -> dict[str, LeftOut]:
        """As in :class:`.HumanAnswers`.

        The method that takes dependent judges as independent is shown, but not chosen: with few anchors its
        overconfident predictions may all be right by luck. The majority is a method of pairs only; it does not rank
        linked items.
        """
        p = {MAJORITY: candidates.majority_shares(self.evidence)[1]}
        if self.by_pair and requested != JOINT:
            p |= {name: left_out for name, (_, left_out) in self.learned.items()}
        if requested != CUT:
            p[JOINT] = cut.joint_left_out_predictions(self.problem, self.evidence, joint)
        if not self.by_pair:
            p[CUT] = cut.cut_left_out_predictions(self.problem, self.evidence)
        if self.people_link_items:
            p[PEOPLE_ALONE] = cut.cut_left_out_predictions(self.people_only.problem, self.evidence)
        shown_only = {CUT_INDEPENDENT} if self.has_dependent_judges else set()
        if not self.by_pair or requested == JOINT:
            shown_only |= {MAJORITY}
        return {name: self._left_out_answers(probability, name not in shown_only) for name, probability in p.items()}

    @property
    def people_link_items(self) -> bool:
        """True if people's answers alone link all items, under every criterion that they are about."""
        people = self.problem.anchors
        if self.by_pair or people is None:
            return False
        overall = people.overall or self.problem.model.criteria != "separate"
        votes = people.votes
        if overall:
            votes = votes.with_codes(criteria=votes.criteria[:1], criterion=votes.criterion * 0)
        return all(len(graph.components) == 1 for graph in graph_connectivity(votes))

    @cached_property
    def people_only(self) -> HumanVotes:
        """As in :class:`.HumanAnswers`: coins and strengths from the anchors, without the votes."""
        human = HumanVotes(replace(self.problem, data=cut.without_panel_votes(self.problem)))
        human.evidence = self.evidence
        return human

    def _left_out_answers(self, p_one: Floats, usable: bool) -> LeftOut:
        p = np.where(self.evidence.answers > 0, p_one, 1.0 - p_one)
        return LeftOut(p, np.minimum(p, 1.0 - p), (p > 0.5) + 0.5 * (p == 0.5), usable)

    def cut_mode(self) -> Mode:
        """As in :class:`.HumanAnswers`."""
        return cut.cut_mode(self.problem, *coin_means(self.evidence))

    def cut_draws(self, count: int, rng: np.random.Generator) -> tuple[Floats, list[Mode]]:
        """As in :class:`.HumanAnswers`."""
        return cut.cut_draws(self.problem, self.evidence, count, rng)

    def pairs(self, chosen: str, posterior: Posterior) -> tuple[dict[str, Any], ...]:
        """As in :class:`.HumanAnswers`."""
        if not self.unconnected:
            return ()
        if chosen in PAIR_METHODS:
            p = self.learned[chosen][0]
        else:
            centre = {name: value[None] for name, value in posterior.central_values.items()}
            p = cut.people_preference_probability(self.problem, posterior.values or centre, self.evidence)
        comparisons, problem = self.evidence.comparisons, self.problem
        several = len(problem.votes.criteria) > 1 and comparisons.criterion.any()
        pairs = []
        for row, (first, second) in enumerate(zip(comparisons.item_a, comparisons.item_b, strict=True)):
            name = {"criterion": problem.votes.criteria[comparisons.criterion[row]]} if several else {}
            pair = {"first": problem.items[first], "second": problem.items[second], "p_first": float(p[row])}
            pairs.append(name | pair)
        return tuple(pairs)


def gather_evidence(problem: VotesProblem, families: dict[str, str] | None = None) -> Evidence:
    """Collect votes, and anchors if there are any, by comparison; ``families`` names the family of each judge."""
    people = problem.anchors
    criteria = people is not None and people.votes.has_criteria and problem.votes.has_criteria
    comparisons = collect_comparisons(problem.coded_votes, criteria=criteria)
    rows, answers = np.empty(0, np.int64), np.empty(0)
    # anchors about items as a whole cannot be matched with answers under one criterion
    if people is not None and not (people.overall and problem.model.criteria == "separate"):
        rows, answers = decided_comparisons(comparisons, people, criteria=criteria)
    family = family_codes(families or {name: name for name in problem.judges}, problem.judges)
    weight = np.ones(len(problem.judges)) if problem.answer_weight is None else problem.answer_weight
    prior, by_position = _coin_prior(problem.model), problem.model.position_aware
    return Evidence(comparisons, rows, answers, prior, by_position, family, weight)


def _coin_prior(model: Model) -> dict[str, float]:
    """Prior of the coins that anchors teach; empty for models without such coins."""
    if not cut.learns_from_anchors(model):
        return {}
    numbers = CROWD_BT_PRIOR | dict(model.reliability.numbers)
    return {key: numbers[key] for key in ("a", "b", "reversed")}
