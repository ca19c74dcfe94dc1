"""From anchors to a posterior: which way to use them, and what that gives."""

from __future__ import annotations

from dataclasses import dataclass

from voirdire.errors import InputError
from voirdire.infer.posterior import Posterior
from voirdire.kinds.human import Anchored
from voirdire.kinds.votes.human.candidates import Evidence
from voirdire.kinds.votes.human.choose import Choice, choose_for_pairs, choose_for_ranking, people_prefer
from voirdire.kinds.votes.human.comparisons import answered, comparisons
from voirdire.kinds.votes.human.cut import CUT_KINDS, check_cut
from voirdire.kinds.votes.problem import VotesProblem
from voirdire.tables.families import family_codes
from voirdire.tables.graph import components
from voirdire.typing import Floats


@dataclass(frozen=True, eq=False)
class Plan:
    """What was decided about anchors before the posterior is found.

    Attributes
    ----------
    mode : str
        "joint" or "cut".
    choice : Choice
    evidence : Evidence
    pairs : bool
        Whether the items are unconnected pairs.
    """

    mode: str
    choice: Choice
    evidence: Evidence
    pairs: bool


def plan(
    problem: VotesProblem, families: dict[str, str] | None, discount: Floats, mode: str | None, method: str
) -> Plan:
    """Decide how to use a problem's anchors.

    Parameters
    ----------
    families : dict, optional
        Family of each judge.
    discount : array, shape (judges,)
        What an answer of each judge counts for.
    mode : "joint", "cut" or None
        None lets left-out anchors decide.
    method : str
        Of the fit; only "laplace" and "map" can cut.

    Raises
    ------
    InputError
        Mode "cut" with NUTS, for a model without coins, or for anchors that match no judge's vote.
    """
    evidence = gather(problem, families, discount)
    can_cut = problem.model.reliability.kind in CUT_KINDS and method != "nuts" and len(evidence.rows) > 0
    if mode == "cut":
        check_cut(problem)
        if method == "nuts":
            raise InputError(
                "anchor mode 'cut' is not for method 'nuts': its coins are drawn exactly from the anchors and the "
                "rest by Laplace given them; use method='laplace', or anchor_mode='joint'"
            )
        if not len(evidence.rows):
            raise InputError(
                "anchors: none decides a pair that the judges saw (and under one criterion, where votes have "
                "criteria), so there is nothing to learn judges' coins from; use anchor_mode='joint'"
            )
    pairs = unconnected_pairs(problem)
    if pairs and evidence.prior and len(evidence.rows):
        choice = choose_for_pairs(problem, evidence, mode)
        joint = choice.chosen == "joint" or not can_cut
        return Plan("joint" if joint else "cut", choice, evidence, True)
    if not can_cut or mode == "joint":
        return Plan("joint", Choice("joint", (), None), evidence, pairs)
    if mode == "cut":
        return Plan("cut", Choice("cut", (), None), evidence, pairs)
    choice = choose_for_ranking(problem, evidence)
    return Plan(choice.chosen, choice, evidence, pairs)


def gather(problem: VotesProblem, families: dict[str, str] | None, discount: Floats) -> Evidence:
    """What anchors and votes say of each other."""
    assert problem.anchors is not None
    criteria = problem.anchors.votes.has_criteria and problem.votes.has_criteria
    found = comparisons(problem.coded_votes, criteria=criteria)
    rows, answers = answered(found, problem.anchors, criteria=criteria)
    if problem.anchors.overall and problem.model.criteria == "separate":
        rows, answers = rows[:0], answers[:0]  # a judge's answers under one criterion are not about the whole
    alone = {name: name for name in problem.judges}
    numbers = problem.model.reliability.numbers
    prior: dict[str, float] = {key: numbers[key] for key in ("a", "b", "reversed") if key in numbers}
    return Evidence(
        found,
        rows,
        answers,
        prior if len(prior) == 3 else {},
        problem.model.position_aware,
        family_codes(families or alone, problem.judges),
        discount,
    )


def unconnected_pairs(problem: VotesProblem) -> bool:
    """Whether every item is compared with one other item only, so that there is nothing to rank."""
    if problem.beside_scores:
        return False
    votes = problem.votes.recoded(criteria=("all",), criterion=problem.votes.criterion * 0)
    groups = components(votes)[0]
    return len(groups) > 1 and all(len(group) == 2 for group in groups)


def result(problem: VotesProblem, plan: Plan, posterior: Posterior) -> Anchored:
    """Collect the tables that a fit shows."""
    pairs: list[dict[str, object]] = []
    if plan.pairs:
        p = plan.choice.p
        if p is None:
            values = posterior.values
            centre = {name: value[None] for name, value in posterior.central_values.items()}
            p = people_prefer(problem, values or centre, plan.evidence)
        found = plan.evidence.found
        several = len(problem.votes.criteria) > 1 and found.criterion.any()
        for row, (one, other) in enumerate(zip(found.one, found.other, strict=True)):
            name = {"criterion": problem.votes.criteria[found.criterion[row]]} if several else {}
            pair = {"first": problem.items[one], "second": problem.items[other], "p_first": float(p[row])}
            pairs.append(name | pair)
    return Anchored(plan.mode, plan.choice.chosen, plan.choice.rows, tuple(pairs))
