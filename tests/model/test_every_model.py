"""Every model file, with and without ties: its density is the one its equation states, in all three engines.

The likelihood is compared with a loop over the rows of the table in plain Python, written from the equation in the
model file and sharing no code with the package; the prior with SciPy's densities and the file's own numbers.
A model file that is not listed in ``EQUATIONS`` fails here: write its equation down.
"""

from __future__ import annotations

import itertools
import math
import statistics
import tomllib
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats
from value_points import value_point

from voirdire.infer import Derivatives, autodiff, engine
from voirdire.infer.derivatives import hessian_matrix
from voirdire.infer.pymc_model import pymc_model
from voirdire.kinds import Request, kind_of
from voirdire.kinds.further_terms import resolve_terms
from voirdire.kinds.votes.contexts import cell_contexts, split_by_context, split_by_terms
from voirdire.kinds.votes.response_probabilities import cell_probabilities
from voirdire.kinds.votes.terms import with_terms
from voirdire.model import load_model, specification_folder
from voirdire.tables import read_votes
from voirdire.tables.covariates import covariate_columns
from voirdire.tables.votes import VoteRows

# PyTensor's wheels come without BLAS and say so; no model here multiplies matrices.
pytestmark = pytest.mark.filterwarnings("ignore:PyTensor could not link to a BLAS:UserWarning")

COVARIATES = ["length", "lists"]
CONTEXTS = ["p", "q", "r"]

Row = tuple[str, str | None, str, str, str]  # judge, criterion (None: a vote on criteria), first, second, winner


# --- the equations of the model files, in plain Python ---------------------------------------------------------


def s(t: float) -> float:
    return 1.0 / (1.0 + exp(-t)) if t > 0 else exp(t) / (1.0 + exp(t))


def exp(t: float) -> Any:
    """In a wide format: a sharp judge may see items thousands of log-odds apart."""
    return np.exp(np.longdouble(t))


def plain(v: dict[str, Any], k: int, c: int | None, d: float) -> tuple[float, float, float]:
    return s(d), s(-d), d


def two_coins(logit1: float, logit2: float, d: float) -> tuple[float, float, float]:
    (e1, f1), (e2, f2) = (s(logit1), s(-logit1)), (s(logit2), s(-logit2))
    return e1 * s(d) + f2 * s(-d), f1 * s(d) + e2 * s(-d), d


def one_coin(v: dict[str, Any], k: int, c: int | None, d: float) -> tuple[float, float, float]:
    return two_coins(v["reliability"][k], v["reliability"][k], d)


def one_coin_by_criterion(v: dict[str, Any], k: int, c: int | None, d: float) -> tuple[float, float, float]:
    logit = v["reliability"][k] + (0.0 if c is None else v["reliability_deviation"][k][c])
    return two_coins(logit, logit, d)


def two_coin(v: dict[str, Any], k: int, c: int | None, d: float) -> tuple[float, float, float]:
    return two_coins(v["coin_first"][k], v["coin_second"][k], d)


def sharpness(v: dict[str, Any], k: int, c: int | None, d: float) -> tuple[float, float, float]:
    perceived = math.exp(v["log_discrimination"][k]) * d
    return s(perceived), s(-perceived), perceived


def sharpness_and_shift(v: dict[str, Any], k: int, c: int | None, d: float) -> tuple[float, float, float]:
    perceived, shift = math.exp(v["log_discrimination"][k]) * d, v["shift"][k]
    return s(perceived + shift), s(-perceived - shift), perceived


Judging = Callable[[dict[str, Any], int, int | None, float], tuple[float, float, float]]
# judge k's P(first | no tie), P(second | no tie), and the difference as the judge perceives it, which drives P(tie)
EQUATIONS: dict[str, Judging] = {
    "majority-vote": plain,
    "bradley-terry": plain,
    "bradley-terry-judge-ties": plain,
    "crowd-bt": one_coin,
    "crowd-bt-position": two_coin,
    "learned-crowd-bt-position": two_coin,
    "learned-maple-position": two_coin,
    "learned-bradley-terry": plain,
    "crowd-bt-contexts": two_coin,
    "maple-contexts": two_coin,
    "maple-tastes": two_coin,
    "learned-crowd-bt": one_coin,
    "unordered-crowd-bt-contexts": one_coin,
    "unordered-maple-contexts": one_coin,
    "unordered-maple-tastes": one_coin,
    "bt-sigma": sharpness,
    "bt-sigma-position": sharpness_and_shift,
    "learned-bt-sigma": sharpness,
    "learned-bt-sigma-position": sharpness_and_shift,
    "maple": one_coin,
    "maple-fixed-reliability": plain,
    "maple-fixed-weights": one_coin,
    "maple-position": two_coin,
    "maple-criterion-reliability": one_coin_by_criterion,
}
# --- labels: judge k's P(label l | class j), on top of the values of the parameters -----------------------------


def softmax(logs: Any) -> list[float]:
    return [math.exp(a) / sum(math.exp(b) for b in logs) for a in logs]


def one_matrix(v: dict[str, Any], prior: dict[str, float], k: int, j: int, labels: int) -> list[float]:
    return softmax([prior["lean"] * (named == j) + v["confusion"][j][named] for named in range(labels)])


def matrix_each(v: dict[str, Any], prior: dict[str, float], k: int, j: int, labels: int) -> list[float]:
    own = v["confusion_judge"][k][j]
    return softmax([prior["lean"] * (named == j) + v["confusion"][j][named] + own[named] for named in range(labels)])


def own_matrix(v: dict[str, Any], prior: dict[str, float], k: int, j: int, labels: int) -> list[float]:
    own = v["confusion_judge"][k][j]
    return softmax([prior["lean"] * (named == j) + own[named] for named in range(labels)])


def one_coin_label(v: dict[str, Any], prior: dict[str, float], k: int, j: int, labels: int) -> list[float]:
    eta = s(v["reliability"][k])
    return [eta if named == j else (1 - eta) / (labels - 1) for named in range(labels)]


LABEL_EQUATIONS: dict[str, Any] = {
    "majority-label": None,  # every item's own shares
    "dawid-skene": own_matrix,
    "hierarchical-dawid-skene": matrix_each,
    "dawid-skene-pooled": one_matrix,
    "one-coin-label": one_coin_label,
}


def hermite(nodes: int) -> list[tuple[float, float]]:
    x, weight = np.polynomial.hermite_e.hermegauss(nodes)
    return list(zip(x.tolist(), (weight / weight.sum()).tolist(), strict=True))


def shared_matrix(v: dict[str, Any], p: dict[str, float], k: int, j: int, e: float, labels: int) -> list[float]:
    lean = p["lean"] + math.exp(v["log_load"][k]) * e
    logits = [v["confusion"][j][named] + v["confusion_judge"][k][j][named] for named in range(labels)]
    return softmax([logit + lean * (named == j) for named, logit in enumerate(logits)])


def family_matrix(v: dict[str, Any], p: dict[str, float], k: int, j: int, m: int | None, labels: int) -> list[float]:
    logits = [
        p["lean"] * (named == j)
        + v["confusion"][j][named]
        + v["confusion_judge"][k][j][named]
        + math.exp(v["log_load"][k]) * (named == m)
        for named in range(labels)
    ]
    return softmax(logits)


def levels_of(v: dict[str, Any], p: dict[str, float], k: int, x: float, e: float, labels: int) -> list[float]:
    sharp = math.exp(v["log_sharpness"] + v["log_sharpness_judge"][k])
    gaps = [math.exp(a + b) for a, b in zip(v["log_gap"], v["log_gap_judge"][k], strict=True)]
    first = v["cut_location"] + v["shift"][k] - sum(gaps) / 2
    cuts = [-math.inf, *(first + sum(gaps[:number]) for number in range(len(gaps) + 1)), math.inf]
    eta = [sharp * (x - cut) + math.exp(v["log_load"][k]) * e for cut in cuts]
    # of the two tails the smaller, so that no difference of numbers near one is taken
    return [s(a) - s(b) if a < 0 else s(-b) - s(-a) for a, b in itertools.pairwise(eta)]


SHARED_EQUATIONS: dict[str, Any] = {
    "shared-dawid-skene": shared_matrix,
    "family-dawid-skene": family_matrix,
    "ordered-labels": levels_of,
}


def effects_of(case: Any, v: dict[str, Any], f: int | None, j: Any, labels: int) -> list[tuple[Any, float]]:
    """What a family sees in an item of a class, and how probable that is; f is None of a judge alone."""
    if case.name != "family-dawid-skene":
        return hermite(7)
    if f is None:
        return [(None, 1.0)]
    r, of_labels = s(v["common"][f]), softmax(v["common_label"][f][j])
    return [(None, 1.0 - r), *((m, r * share) for m, share in enumerate(of_labels))]


def shared_errors(case: Any, v: dict[str, Any]) -> float:
    """Families of judges, each summed over its effect given the item's class or value."""
    problem, rates = case.problem, SHARED_EQUATIONS[case.name]
    names, graded = list(problem.labels), case.name == "ordered-labels"
    prior = tomllib.loads((specification_folder("models") / f"{case.name}.toml").read_text())["reliability"]
    known = {(i, c): label for c, i, label in case.known.itertuples(index=False)} if case.ties else {}
    judges, total = problem.judges, 0.0
    states = hermite(17) if graded else [(j, 1.0) for j in range(problem.classes)]
    blocks = problem.density.blocks
    family_of = {k: next((f for f, b in enumerate(blocks) if k in b), None) for k in range(len(judges))}
    each = {
        (k, state): [
            (w, rates(v, prior, k, state, e, len(names)))
            for e, w in effects_of(case, v, family_of[k], state, len(names))
        ]
        for k in range(len(judges))
        for state, _ in states
    }

    def named(state: float, label: str) -> float:
        """Share of the classes that the panel gives to one."""
        said = [
            statistics.mean(sum(w * rate[c] for w, rate in each[k, state]) for k in range(len(judges)))
            for c in range(problem.classes)
        ]
        return said[names.index(label)] / sum(said)

    for (item, criterion), rows in case.labels.groupby(["item", "criterion"]):
        chance, klass = 0.0, known.get((item, criterion))
        share = None if graded else softmax(v["class_share"][problem.criteria.index(criterion)])
        for state, weight in states:
            prob = weight if share is None else share[state]
            if klass is not None:
                prob *= named(state, klass) if graded else float(names[state] == klass)
            for family in {case.families.get(judge, judge) for judge in judges}:
                members = [judge for judge in judges if case.families.get(judge, judge) == family]
                own, one = rows[rows["judge"].isin(members)], judges.index(members[0])
                prob *= sum(
                    each[one, state][q][0]
                    * math.prod(
                        each[judges.index(judge), state][q][1][names.index(label)]
                        for judge, label in zip(own["judge"], own["label"], strict=True)
                    )
                    for q in range(len(each[one, state]))
                )
            chance += prob
        total += math.log(chance)
    return total


def label_by_label(case: Any, v: dict[str, Any]) -> float:
    if case.name in SHARED_EQUATIONS:
        return shared_errors(case, v)
    problem, rates = case.problem, LABEL_EQUATIONS[case.name]
    names = list(problem.labels)
    prior = tomllib.loads((specification_folder("models") / f"{case.name}.toml").read_text())["reliability"]
    known = {(i, c): label for c, i, label in case.known.itertuples(index=False)} if case.ties else {}
    total = 0.0
    for (item, criterion), rows in case.labels.groupby(["item", "criterion"]):
        c = problem.criteria.index(criterion)
        if rates is None:
            units = zip(problem.unit_item, problem.unit_criterion, strict=True)
            here = [(problem.items[i], d) for i, d in units].index((item, c))
            share = softmax(v["tendency"][here])
            total += sum(math.log(share[names.index(label)]) for label in rows["label"])
            continue
        share, chance = softmax(v["class_share"][c]), 0.0
        for j in range(problem.classes):
            if known.get((item, criterion), names[j]) == names[j]:
                each = [
                    rates(v, prior, problem.judges.index(judge), j, len(names))[names.index(label)]
                    for judge, label in zip(rows["judge"], rows["label"], strict=True)
                ]
                chance += share[j] * math.prod(each)
        total += math.log(chance)
    return total


# --- scores: what judge k perceives of an item's strength, and the limits between the levels of its scale ---------


def as_it_is(v: dict[str, Any], k: int, theta: float) -> float:
    return theta


def shared_limits(v: dict[str, Any], k: int, c: int) -> list[float]:
    gaps = [math.exp(g) for g in v["log_gap"][c]]
    first = v["cut_location"][c] - sum(gaps) / 2
    return [first + sum(gaps[:number]) for number in range(len(gaps) + 1)]


def scaled(v: dict[str, Any], k: int, theta: float) -> float:
    return sharp(v, k) * theta


def sharp(v: dict[str, Any], k: int) -> float:
    raw = v["raw_discrimination"]
    return raw[k] * math.sqrt(1.01 / (statistics.mean(b * b for b in raw) + 0.01))


def own_limits(v: dict[str, Any], k: int, c: int) -> list[float]:
    gaps = [math.exp(g + own) for g, own in zip(v["log_gap"][c], v["log_gap_judge"][k][c], strict=True)]
    first = v["cut_location"][c] + v["shift"][k][c] - sum(gaps) / 2
    return [first + sum(gaps[:number]) for number in range(len(gaps) + 1)]


SCORE_EQUATIONS: dict[str, Any] = {
    "rating-severity": (as_it_is, shared_limits),
    "rating-learned": (as_it_is, shared_limits),
    "rating-halo": (as_it_is, shared_limits),
    "rating-contexts": (as_it_is, shared_limits),
    "rating-families": (as_it_is, shared_limits),
    "rating-cutpoints": (as_it_is, own_limits),
    "rating-discrimination": (scaled, own_limits),
    "rating-maple": (scaled, own_limits),
    "rating-continuous": (as_it_is, None),
    "rating-continuous-halo": (as_it_is, None),
    "rating-continuous-contexts": (as_it_is, None),
    "mean-score": statistics.mean,
    "median-score": statistics.median,
}


def score_by_score(case: Any, v: dict[str, Any]) -> float:
    """Every judge's scores of every item together, given what it makes of the item, or over all it may make of it."""
    if case.model.pool != "none":
        return centre_by_centre(case, v, SCORE_EQUATIONS[case.name])
    problem, (seen, limits) = case.problem, SCORE_EQUATIONS.get(case.name, (None, shared_limits))
    if case.model.data == "joint":
        seen = JOINT_EQUATIONS[case.name][1]
    total = 0.0
    told = ["context"] if case.model.context is not None else []
    for (judge, criterion, item, *where), rows in case.scores.groupby(["judge", "criterion", "item", *told]):
        k, c = problem.judges.index(judge), problem.criteria.index(criterion)
        i = problem.items.index(item)
        taste = v["taste"][k][i] if "taste" in v else 0.0
        taste += v["context_strength"][c][i][CONTEXTS.index(where[0])] if told else 0.0
        eta = seen(v, k, v["strength"][c][i] + taste) - v["severity"][k]
        own = v["judge_item_effect"][k][c][i] if "judge_item_effect" in v else 0.0
        eta += own[CONTEXTS.index(where[0])] if told and "judge_item_effect" in v else own
        if case.ties:
            eta -= v["severity_group"][["new", "old"].index(rows["group"].iloc[0])]
        if case.name == "joint-contexts":
            location = v["cut_location"][c]
            eta = consistently(v, k, eta - location) + location
        scores = rows["score"].tolist()
        if limits is None:
            noise = v["log_noise_criterion"][k][c] if "log_noise_criterion" in v else v["log_noise"][k]
            mu = eta - v["severity_criterion"][c][k] if "severity_criterion" in v else eta
            total += sum(one_tobit((y - 2.5) / 3, mu, math.exp(noise)) for y in scores)
            continue
        cut = [-math.inf, *limits(v, k, c), math.inf]

        def log_chance(shifted: float, scores: list[int] = scores, cut: list[float] = cut) -> float:
            return sum(log_between(cut[score - 1] - shifted, cut[score] - shifted) for score in scores)

        again = "log_judge_item" in v and "judge_item_effect" not in v
        sigma = math.exp(v["log_judge_item"][k]) if again else 0.0
        chance = lambda z: math.exp(log_chance(eta + sigma * z))  # noqa: B023, E731
        total += math.log(ruled(chance)) if again else log_chance(eta)
    if case.model.data == "scores":
        total += human_scores(case, v)
    if case.model.data == "scores" and "weight" in v:
        for judge, first, second, winner in case.on_criteria.itertuples(index=False, name=None):
            w, names = v["weight"], problem.criteria
            d = w[names.index(first)] - w[names.index(second)]
            if case.name == "rating-maple":
                d *= sharp(v, problem.judges.index(judge))
            total += math.log(s(d if winner == "first" else -d))
    return total


def human_scores(case: Any, v: dict[str, Any]) -> float:
    """People perceive exp(log_people) theta - severity_people on the panel's limits."""
    problem, total = case.problem, 0.0
    for row in case.people.itertuples(index=False):
        c, i, score = problem.criteria.index(row.criterion), problem.items.index(row.item), row.score
        sharpness = math.exp(float(v["log_people"])) if "log_people" in v else 1.0
        here = v["context_strength"][c][i][CONTEXTS.index(row.context)] if "context_strength" in v else 0.0
        eta = sharpness * (v["strength"][c][i] + here) - v["severity_people"][c]
        if "log_noise_people" in v:
            total += one_tobit((score - 2.5) / 3, eta, math.exp(float(v["log_noise_people"])))
            continue
        cut = [-math.inf, *shared_limits(v, 0, c), math.inf]
        low, high = cut[score - 1] - eta, cut[score] - eta
        total += math.log(s(-low) - s(-high) if high > 0 else s(high) - s(low))
    return total


# --- votes and scores: what judges make of a difference in votes, with the shift, and of a strength in scores -----


def one_ratio(v: dict[str, Any], k: int, d: float) -> tuple[float, float, float]:
    d = math.exp(float(v["log_vote_scale"])) * d
    return s(d), s(-d), d


def consistency(v: dict[str, Any], k: int, d: float) -> tuple[float, float, float]:
    return one_ratio(v, k, math.exp(v["log_discrimination"][k]) * d)


def consistency_and_shift(v: dict[str, Any], k: int, d: float) -> tuple[float, float, float]:
    d = consistency(v, k, d)[2]
    return s(d + v["shift"][k]), s(-d - v["shift"][k]), d


def consistently(v: dict[str, Any], k: int, theta: float) -> float:
    return math.exp(v["log_discrimination"][k]) * theta


JOINT_EQUATIONS: dict[str, Any] = {
    "joint-severity": (one_ratio, as_it_is),
    "joint-discrimination": (consistency, consistently),
    "joint-position": (consistency_and_shift, consistently),
    "joint-maple-position": (consistency_and_shift, consistently),
    "joint-contexts": (consistency_and_shift, as_it_is),
}


# --- rankings: what an item is worth where and to whom it is ranked -----------------------------------------------


def own_worth(v: dict[str, Any], k: int, c: int, x: int, i: int) -> float:
    return v["strength"][c][i]


def worth_in_context(v: dict[str, Any], k: int, c: int, x: int, i: int) -> float:
    return v["strength"][c][i] + v["context_strength"][c][i][x]


def worth_to_a_judge(v: dict[str, Any], k: int, c: int, x: int, i: int) -> float:
    return worth_in_context(v, k, c, x, i) + v["taste"][k][i]


RANKING_EQUATIONS = {
    "plackett-luce": own_worth,
    "plackett-luce-contexts": worth_in_context,
    "plackett-luce-tastes": worth_to_a_judge,
}


def ranking_by_ranking(case: Any, v: dict[str, Any]) -> float:
    """The chances of all orders of tied items together, each item chosen from those that are left."""
    problem, total = case.problem, 0.0
    for (judge, criterion, context, _), rows in case.rankings.groupby(["judge", "criterion", "context", "run"]):
        k, c = problem.judges.index(judge), problem.criteria.index(criterion)
        x = problem.table.contexts.index(context)
        worth = {i: exp(RANKING_EQUATIONS[case.name](v, k, c, x, problem.items.index(i))) for i in rows["item"]}
        tied = [list(group["item"]) for _, group in rows.groupby("rank")]
        chance = 0.0
        for parts in itertools.product(*map(itertools.permutations, tied)):
            order = [worth[i] for part in parts for i in part]
            chance += np.prod([w / sum(order[place:]) for place, w in enumerate(order)])
        total += float(np.log(chance))
    return total


def log_between(low: float, high: float) -> float:
    """log(s(high) - s(low)), of the two tails in the smaller, so that no difference of numbers near one is taken."""
    low, high = (-high, -low) if high > 0 else (low, high)
    log_s = [x - math.log1p(math.exp(x)) if x < 0 else -math.log1p(math.exp(-x)) for x in (low, high)]
    return log_s[1] + math.log1p(-math.exp(log_s[0] - log_s[1]))


def ruled(function: Callable[[float], float]) -> float:
    """Mean over a standard normal variable by the rule that the equations name."""
    points = [-5 + number / 4 for number in range(41)]
    weights = [math.exp(-z * z / 2) for z in points]
    return sum(w * function(z) for z, w in zip(points, weights, strict=True)) / sum(weights)


def one_tobit(y: float, mu: float, noise: float) -> float:
    """A score from -1/2 to 1/2: a normal density, at the ends what lies beyond."""
    below, above = (stats.norm.logcdf((sign * mu - 0.5) / noise) for sign in (-1, 1))
    return float(below if y == -0.5 else above if y == 0.5 else stats.norm.logpdf(y, mu, noise))


def centre_by_centre(case: Any, v: dict[str, Any], combine: Callable[[list[float]], float]) -> float:
    """The pooled score of each item with the error that the file states."""
    problem, table = case.problem, case.scores.assign(score=(case.scores["score"] - 2.5) / 3)
    if "group" not in table:
        table["group"] = "all"
    by_judge = table.groupby(["criterion", "item", "group", "judge"])["score"].apply(lambda x: combine(list(x)))
    panels = by_judge.groupby(["criterion", "item", "group"]).apply(list)
    total = 0.0
    for criterion, own in panels.groupby("criterion"):
        left = [
            (x - statistics.mean(scores)) * math.sqrt(len(scores) / (len(scores) - 1))
            for scores in own
            for x in scores
            if len(scores) > 1
        ]

        def error(n: int, left: list[float] = left) -> float:
            if combine is statistics.mean:
                return math.sqrt(statistics.mean(x * x for x in left) / n)
            return float(np.median(np.random.default_rng(0).choice(left, (2000, n)), axis=1).std())

        for item, groups in own.groupby("item"):
            theta = v["strength"][problem.criteria.index(criterion)][problem.items.index(item)]
            centre = statistics.mean(combine(scores) for scores in groups)
            spread = math.sqrt(sum(error(len(scores)) ** 2 for scores in groups)) / len(groups)
            total += float(stats.norm.logpdf(centre, theta, spread))
    return total


ONE_TIE_HABIT = {"majority-vote", "bradley-terry"}
IGNORE_CRITERIA_VOTES = {"maple-fixed-weights"}


def three_chances(
    name: str, v: dict[str, Any], k: int, c: int | None, d: float, ties: bool, habit: float = 0.0
) -> tuple[float, float, float]:
    """P(first), P(second), P(tie) as the model file writes them."""
    if name in JOINT_EQUATIONS:
        first, second, perceived = JOINT_EQUATIONS[name][0](v, k, d)
    else:
        first, second, perceived = EQUATIONS[name](v, k, c, d)
    tie, decided = 0.0, 1.0
    if ties:
        nu = math.exp(float(v["tie"]) + (0.0 if name in ONE_TIE_HABIT else v["tie_judge"][k]) + habit)
        half_both = (exp(perceived / 2) + exp(-perceived / 2)) / 2
        odds = nu / 2 * half_both ** -math.exp(v.get("log_tie_scale", 0.0))
        tie, decided = odds / (1 + odds), 1 / (1 + odds)
    return decided * first, decided * second, tie


def in_context(v: dict[str, Any], k: int, c: int, i: int, j: int, x: int | None) -> tuple[float, float]:
    """What context x, and judge k's taste, add to the difference of items i and j, and to log nu."""
    more, habit = 0.0, 0.0
    if "context_strength" in v:
        more += v["context_strength"][c][i][x] - v["context_strength"][c][j][x]
    if "taste" in v:
        more += v["taste"][k][i] - v["taste"][k][j]
    if "tie_context" in v:
        habit = v["tie_context"][x] + v["tie_judge_context"][k][x] + v["tie_item"][i] + v["tie_item"][j]
    return more, habit


def by_covariates(v: dict[str, Any], k: int, first: list[float], second: list[float]) -> float:
    """What covariates of both items, in standard deviations, add to the difference that judge k perceives."""
    return sum(
        (v[f"effect:{name}"] + v[f"judge:{name}"][k]) * (a - b)
        for name, a, b in zip(("length", "lists"), first, second, strict=True)
    )


def majority(rows: list[Row]) -> list[Row]:
    """One vote per unordered pair, for the item with more votes."""
    lead: Counter[tuple[str, str]] = Counter()
    for _, _, first, second, winner in rows:
        low, high = sorted((first, second))
        won = {"first": first, "second": second}.get(winner)
        lead[low, high] += 0 if won is None else 1 if won == low else -1
    return [
        ("ann", "clear", low, high, "tie" if net == 0 else "first" if net > 0 else "second")
        for (low, high), net in lead.items()
    ]


def row_by_row(case: Any, v: dict[str, Any]) -> float:
    if case.model.data == "labels":
        return label_by_label(case, v)
    if case.model.data == "scores":
        return score_by_score(case, v)
    if case.model.data == "rankings":
        return ranking_by_ranking(case, v)
    name, problem = case.name, case.problem
    columns = ["judge", "criterion", "first", "second", "winner"]
    rows: list[Row] = list(case.votes[columns].itertuples(index=False, name=None))
    contexts = list(case.votes.get("context", []))
    sides = standardised(case.votes) if case.covariates else []
    if name == "majority-vote":
        rows = majority(rows)
    separate = case.model.criteria == "separate"
    if separate and name not in IGNORE_CRITERIA_VOTES:
        rows += [(j, None, f, g, w) for j, f, g, w in case.on_criteria.itertuples(index=False, name=None)]
    total = score_by_score(case, v) if case.model.data == "joint" else 0.0
    for number, (judge, criterion, first, second, winner) in enumerate(rows):
        k = problem.judges.index(judge)
        if criterion is None:
            c, where, names = None, v["weight"], problem.criteria
        else:
            c = problem.criteria.index(criterion) if separate else 0
            where, names = v["strength"][c], problem.items
        d = where[names.index(first)] - where[names.index(second)]
        habit = 0.0
        if c is not None:
            i, j = names.index(first), names.index(second)
            x = sorted(set(contexts)).index(contexts[number]) if contexts else None
            more, habit = in_context(v, k, c, i, j, x)
            d += more
        if sides and c is not None:
            d += by_covariates(v, k, *sides[number])
        chances = three_chances(name, v, k, c, d, problem.part("votes").density.ties, habit)
        total += float(np.log(chances[["first", "second", "tie"].index(winner)]))
    return total


def standardised(table: Any) -> list[tuple[list[float], list[float]]]:
    """Covariates of both items of every vote, each from its mean over both columns in its standard deviation there."""
    found: list[tuple[list[float], list[float]]] = [([], []) for _ in range(len(table))]
    for name in COVARIATES:
        both = [*table[f"{name}_first"], *table[f"{name}_second"]]
        mean, sd = statistics.fmean(both), statistics.pstdev(both)
        for row, (a, b) in enumerate(zip(table[f"{name}_first"], table[f"{name}_second"], strict=True)):
            found[row][0].append((a - mean) / sd)
            found[row][1].append((b - mean) / sd)
    return found


def test_every_file_has_its_equation_here() -> None:
    files = {path.stem for path in specification_folder("models").glob("*.toml")}
    assert files == {
        *EQUATIONS,
        *LABEL_EQUATIONS,
        *SHARED_EQUATIONS,
        *SCORE_EQUATIONS,
        *JOINT_EQUATIONS,
        *RANKING_EQUATIONS,
    }
    assert all(load_model(name).name == name for name in files)


def test_the_likelihood_is_the_files_equation_row_by_row(case: Any) -> None:
    for x in case.points:
        values = case.values(x)
        assert case.log_likelihood(values) == pytest.approx(row_by_row(case, values), rel=1e-12)


def test_fields_of_latent_values_have_the_likelihood_of_the_density(case: Any) -> None:
    """Of models whose spreads are found by their marginal likelihood: written out as sums of latent values."""
    if not case.density.uses_marginal_likelihood:
        return
    model = case.density.latent_model(case.problem.data)
    for x in case.points:
        latent, hyper = model.latent(x)
        found = model.answers.value_gradient(model.predictors(latent, hyper))[0]
        assert float(found) == pytest.approx(float(case.log_likelihood(case.values(x))), rel=1e-9)
        np.testing.assert_allclose(model.flat(latent, hyper), x, atol=1e-9)


def test_the_prior_has_the_files_numbers(case: Any) -> None:
    file = tomllib.loads((specification_folder("models") / f"{case.name}.toml").read_text())
    strength, coin = file.get("strength", {}), file.get("reliability", {})
    level = strength.get("kind") == "level"

    def zero_sum(values: np.ndarray, sd: float) -> float:
        # the sum-to-zero plane keeps lengths, so its density is that of one coordinate fewer, at distance 0
        flat = values.reshape(-1, values.shape[-1])
        return float(stats.norm.logpdf(flat, 0, sd).sum() - len(flat) * stats.norm.logpdf(0, 0, sd))

    def exponential(log: Any, rate: float) -> float:
        return float((stats.expon.logpdf(np.exp(log), scale=1 / rate) + log).sum())

    def beta(logit: np.ndarray) -> float:
        p, part = stats.logistic.cdf(logit), coin["reversed"]
        straight, turned = stats.beta.pdf(p, coin["a"], coin["b"]), stats.beta.pdf(p, coin["b"], coin["a"])
        jacobian = stats.logistic.logpdf(logit)  # of the log-odds
        return float((np.log((1 - part) * straight + part * turned) + jacobian).sum())

    def normal(values: Any, mean: float, sd: float) -> float:
        return float(stats.norm.logpdf(values, mean, sd).sum())

    def two_sided(slopes: np.ndarray) -> float:
        part, sd = coin["reversed"], coin["sd"]
        straight, turned = (stats.norm.pdf(slopes, sign * coin["mean"], sd) for sign in (1, -1))
        return float(np.log((1 - part) * straight + part * turned).sum())

    density: dict[str, Callable[[Any], float]] = {
        "strength": lambda v: normal(v, 0.0, strength["sd"]) if level else zero_sum(v, strength["sd"]),
        "log_spread": lambda v: normal(v, strength["mean"], strength["sd"]),
        "level": lambda v: normal(v, 0.0, strength["level_sd"]),
        "log_noise": lambda v: normal(v, coin["mean"], coin["sd"]),
        "log_noise_criterion": lambda v: normal(v, coin["mean"], coin["sd"]),
        "weight": lambda v: zero_sum(v, file["weights"]["sd"]),
        "class_share": lambda v: zero_sum(v, file["classes"]["sd"]),
        "tendency": lambda v: zero_sum(v, file["classes"]["sd"]),
        "confusion": lambda v: zero_sum(v, coin["sd"]),
        "confusion_judge": lambda v: zero_sum(v, coin["judge_sd"]),
        "reliability": beta,
        "coin_first": beta,
        "coin_second": beta,
        "reliability_deviation": lambda v: normal(v, 0.0, coin["deviation_sd"]),
        "log_discrimination": lambda v: zero_sum(v, coin["sd"]),
        "log_vote_scale": lambda v: normal(v, 0.0, coin["scale_sd"]),
        "log_load": lambda v: exponential(v, coin["rate"]),
        "common": lambda v: normal(v, 0.0, coin["common_sd"]),
        "common_label": lambda v: zero_sum(v, coin["label_sd"]),
        "log_sharpness": lambda v: normal(v, coin["mean"], coin["sd"]),
        "log_sharpness_judge": lambda v: normal(v, 0.0, coin["judge_sd"]),
        "shift": lambda v: normal(v, 0.0, (coin if "shift_sd" in coin else file["cutpoints"])["shift_sd"]),
        "severity": lambda v: zero_sum(v, file["severity"]["sd"]),
        "severity_group": lambda v: zero_sum(v, file["severity"]["group_sd"]),
        "cut_location": lambda v: normal(v, 0.0, coin["cut_sd"] if "cut_sd" in coin else file["cutpoints"]["sd"]),
        "log_gap": lambda v: normal(v, *(file.get("cutpoints", coin)[key] for key in ("gap_mean", "gap_sd"))),
        "log_judge_item": lambda v: normal(v, file["repeats"]["mean"], file["repeats"]["sd"]),
        "log_gap_judge": lambda v: normal(v, 0.0, file.get("cutpoints", coin)["judge_gap_sd"]),
        "raw_discrimination": two_sided,
        "severity_people": lambda v: normal(v, 0.0, file["anchors"]["severity_sd"]),
        "log_people": lambda v: normal(v, file["anchors"]["mean"], file["anchors"]["sd"]),
        "log_noise_people": lambda v: normal(v, file["anchors"]["mean"], file["anchors"]["sd"]),
        "tie": lambda v: normal(v, file["ties"]["mean"], file["ties"]["sd"]),
        "tie_judge": lambda v: normal(v, 0.0, file["ties"]["judge_sd"]),
        "log_tie_scale": lambda v: normal(v, file["ties"]["scale_mean"], file["ties"]["scale_sd"]),
        **{f"effect:{name}": lambda v: normal(v, 0.0, 1.5) for name in ("length", "lists")},
        **{f"judge:{name}": lambda v: normal(v, 0.0, 0.3) for name in ("length", "lists")},
    }
    for x in case.points[:2]:
        values = case.values(x)
        repeated = case.model.data == "scores" and case.ties and strength["kind"] == "normal"
        if strength.get("kind") == "learned" or repeated:
            fixed = strength["sd"] if repeated else None
            density["strength"] = lambda v, x=values, sd=fixed: in_units(case, x, sd)  # type: ignore[misc]
        learned = ("learned-scale", "shared-scale", "shared-scale-level", "divided-scale")
        if "context" in file or "taste" in file or strength.get("kind") in learned:
            density |= of_structure(values, file, exponential)  # type: ignore[arg-type]
        if coin.get("kind") == "learned-linked-position":
            density["log_discrimination"] = lambda v: zero_sum(v, coin["sd"])
        expected = sum(density[name](value) for name, value in values.items())
        assert case.density.log_prior(x, np) == pytest.approx(expected, rel=1e-12)


def of_structure(v: dict[str, Any], file: dict[str, Any], exponential: Any) -> dict[str, Any]:
    """Densities of what has a learned spread, over that spread."""

    def over(of: str) -> Callable[[Any], float]:
        return lambda value: float(stats.norm.logpdf(np.asarray(value) / np.exp(v[of])).sum())

    def strengths(value: Any) -> float:
        level = np.reshape(v.get("level", 0.0), (-1, 1))
        standard = (np.asarray(value) - v.get("general", 0.0) - level) / np.exp(v["log_spread"])[:, None]
        return float(stats.norm.logpdf(standard).sum() - len(standard) * stats.norm.logpdf(0))

    def coins(value: Any) -> float:
        m, sd = math.exp(v["log_coin_mean"]), math.exp(v["log_coin_spread"])
        part = file["reliability"]["reversed"]

        def weight(x: Any) -> Any:
            return part + (1 - 2 * part) * stats.norm.cdf(x)

        skewed = stats.norm.pdf(value, m, sd) * weight(value) / weight(m / math.sqrt(1 + sd**2))
        return float(np.log(sd * skewed).sum())

    def general(value: Any) -> float:
        standard = np.asarray(value) / np.exp(v["log_general_spread"])
        return float(stats.norm.logpdf(standard).sum() - stats.norm.logpdf(0))

    def tastes(value: Any) -> float:
        return float(stats.norm.logpdf(np.asarray(value) / np.reshape(np.exp(v["log_taste_spread"]), (-1, 1))).sum())

    def by_criterion(value: Any) -> float:
        standard = np.asarray(value) / np.exp(v["log_severity_spread"])
        return float(stats.norm.logpdf(standard).sum() - len(standard) * stats.norm.logpdf(0))

    found = {
        "severity_criterion": by_criterion,
        "strength": strengths,
        "general": general,
        "coin_first": coins,
        "coin_second": coins,
        "reliability": coins,
        "tie_judge": over("log_tie_spread"),
        "log_discrimination": over("log_discrimination_spread"),
        "shift": over("log_shift_spread"),
        "judge_item_effect": lambda value: float(
            stats.norm.logpdf(np.moveaxis(value, 0, -1) / np.exp(v["log_judge_item"])).sum()
        ),
    }
    rates = {
        "log_spread": file["strength"]["rate"],
        "log_general_spread": file["strength"]["rate"],
        "log_severity_spread": file.get("severity", {}).get("rate"),
        "log_coin_mean": file.get("reliability", {}).get("mean_rate"),
        "log_coin_spread": file.get("reliability", {}).get("spread_rate"),
        "log_tie_spread": file.get("ties", {}).get("rate"),
        "log_discrimination_spread": file.get("reliability", {}).get("spread_rate"),
        "log_shift_spread": file.get("reliability", {}).get("shift_rate"),
    }
    for name in ("tie_context", "tie_judge_context", "tie_item"):
        found[name] = over(f"log_{name}_spread")
        rates[f"log_{name}_spread"] = file.get("ties", {}).get(f"{name.removeprefix('tie_')}_rate")
    for section, name in (("context", "context_strength"), ("taste", "taste")):
        found[name] = over(f"log_{section}_spread")
        rates[f"log_{section}_spread"] = file.get(section, {}).get("rate")
    found["taste"] = tastes
    for name in ("length", "lists"):
        found[f"judge:{name}"] = over(f"log_judge:{name}_spread")
        rates[f"log_judge:{name}_spread"] = 2.0
    found |= {name: lambda value, rate=rate: exponential(value, rate) for name, rate in rates.items()}
    if file["strength"]["kind"] == "divided-scale" and "general" in v:
        n = len(v["log_spread"]) + 1

        def divided(value: Any) -> float:
            """Of the mean of all spreads, times the square root of two, and of their uniform parts."""
            total = float(np.exp([*v["log_spread"], value]).sum())
            mean = stats.expon.logpdf(math.sqrt(2.0) * total / n, scale=1.0 / file["strength"]["rate"])
            parts = stats.dirichlet.logpdf(np.exp([*v["log_spread"], value]) / total, np.ones(n))
            to_spreads = math.log(math.sqrt(2.0) / n) - (n - 1) * math.log(total)
            return float(mean + parts + to_spreads + np.sum([*v["log_spread"], value]))

        found |= {"log_general_spread": divided, "log_spread": lambda value: 0.0}
    return found


def in_units(case: Any, v: dict[str, Any], fixed: float | None) -> float:
    """Density of strengths over the unit they are estimated in."""
    pairs = case.scores.groupby(["judge", "criterion", "item"]).ngroups
    answers = round(pairs / case.scores.groupby(["criterion", "item"]).ngroups, 1)
    runs = round(len(case.scores) / pairs, 1)
    own = [math.exp(2 * x) for x in v["log_judge_item"]] if case.ties else [0.0] * len(v["severity"])
    consistency = [math.exp(x) for x in v.get("log_discrimination", np.zeros(len(own)))]
    slopes = [sharp(v, k) if "raw_discrimination" in v else consistency[k] for k in range(len(own))]
    each = [a**2 / (math.pi**2 / 3 / runs + more) for a, more in zip(slopes, own, strict=True)]
    cells = np.zeros((len(v["strength"]), len(v["strength"][0])))
    people = case.people if case.model.data == "scores" else case.scores.iloc[:0]
    for criterion, item, _ in people[["criterion", "item", "score"]].itertuples(index=False, name=None):
        cells[case.problem.criteria.index(criterion), case.problem.items.index(item)] += 1
    person = 1.0 / (math.pi**2 / 3)
    if "log_people" in v:
        person *= math.exp(2 * v["log_people"])
    voted = 0.0
    if "log_vote_scale" in v:
        each_item = round(2 * len(case.votes) / (len(v["strength"]) * len(v["strength"][0])), 1)
        sharpness = statistics.mean(slope**2 for slope in slopes) * math.exp(2 * v["log_vote_scale"])
        voted = each_item * sharpness / (math.pi**2 / 3)
    total = 0.0
    for c, row in enumerate(v["strength"]):
        sd = fixed or math.exp(v["log_spread"][c])
        known = [answers * statistics.mean(each) + voted + count * person for count in cells.ravel()]
        log_unit = math.log(sd) - 0.5 * statistics.mean(math.log1p(known_of * sd**2) for known_of in known)
        around = list(row)
        assert sum(around) == pytest.approx(0.0, abs=1e-9 * sd * len(row))
        # on the plane of sum zero there is one coordinate fewer
        total += sum(float(stats.norm.logpdf(x, 0.0, sd)) for x in around) - float(stats.norm.logpdf(0, 0, sd))
        total += (len(row) - 1) * log_unit
    return total


def test_pymc_has_the_density(case: Any, as_written: Any) -> None:
    density = case.density
    model = pymc_model(case.problem)
    pymc = model.compile_logp(mode=as_written)
    assert len(model.value_vars) == len(density.parameters)
    for x in case.points:
        reference = float(density.log_density(x, case.problem.data, np))
        found = float(pymc(value_point(density, x)))
        if not np.isfinite(found):  # exp of more than 709, which rewriting, as PyMC does it, never takes
            found = float(model.compile_logp()(value_point(density, x)))
        # PyMC's own constants carry a few 1e-8
        assert found == pytest.approx(reference, rel=1e-12, abs=1e-6)


def test_the_generating_model_has_the_density(case: Any, as_written: Any) -> None:
    density, outcomes = case.density, kind_of(case.problem).outcomes(case.problem)
    values = [case.values(x) for x in case.points]
    for x, value in zip(case.points, values, strict=True):
        log = sum(float(np.sum(one.log(one.observed, value, np))) for one in outcomes)
        if outcomes:
            assert log == pytest.approx(case.log_likelihood(value), rel=1e-9, abs=1e-8), x
    if not outcomes:
        return
    pymc = pymc_model(case.problem, outcomes).compile_logp(mode=as_written)
    found = float(pymc(value_point(density, case.points[0])))
    assert found == pytest.approx(float(density.log_density(case.points[0], case.problem.data, np)), rel=1e-9, abs=1e-6)
    for one in outcomes:
        drawn = one.draw(values[0], np.random.default_rng(0))
        assert drawn.shape == one.observed.shape
        assert np.isfinite(np.sum(one.log(drawn, values[0], np)))


def test_numpy_and_jax_agree_and_derivatives_are_right(case: Any) -> None:
    density, data = case.density, case.problem.data
    rng, step, log_densities = np.random.default_rng(4), 1e-4, Derivatives(density, data).log_densities

    def taped_density(node: autodiff.Node) -> autodiff.Node:
        return density.log_density(node, data, autodiff.TAPE_NUMPY)

    for x in case.points:
        reference = float(density.log_density(x, data, np))
        with engine.double_precision():
            value, gradient = engine.value_and_gradient(density)(x, data)
            value, gradient = float(value), np.asarray(gradient)
        assert -value == pytest.approx(reference, rel=1e-12)
        taped, slope = autodiff.value_and_gradient(taped_density, x)
        assert taped == pytest.approx(reference, rel=1e-12)
        np.testing.assert_allclose(slope, -gradient, rtol=1e-9, atol=1e-10 * np.abs(gradient).max())
        taped_gradient = lambda y: autodiff.value_and_gradient(taped_density, y)[1]  # noqa: E731
        curvature = hessian_matrix(taped_density, x)
        np.testing.assert_allclose(curvature, curvature.T, rtol=1e-9, atol=1e-12 * np.abs(curvature).max())
        for u in rng.normal(size=(4, density.size)):
            one, two = (taped_gradient(x + h * u) - taped_gradient(x - h * u) for h in (1e-5, 2e-5))
            bent = (8.0 * one - two) / 12e-5  # wrong by the fourth power of the step
            np.testing.assert_allclose(curvature @ u, bent, rtol=1e-6, atol=1e-7 * np.abs(bent).max())
        along = np.concatenate([rng.normal(size=(4, density.size)), np.eye(density.size)])
        near, far = (log_densities(x + h * along) - log_densities(x - h * along) for h in (step, 2 * step))
        np.testing.assert_allclose(-along @ gradient, (8.0 * near - far) / (12 * step), rtol=1e-6, atol=1e-6)


def test_many_points_at_once_are_as_each_alone(case: Any) -> None:
    points = np.array(case.points)
    for symmetric in (False, True):
        derivatives = Derivatives(case.density, case.problem.data, symmetric)
        values, slopes = derivatives.many(points)
        for x, value, slope in zip(points, values, slopes, strict=True):
            alone, by_itself = derivatives.value_gradient(x)
            assert value == pytest.approx(alone, rel=1e-13)
            np.testing.assert_allclose(slope, by_itself, rtol=1e-12, atol=1e-13 * np.abs(by_itself).max())


def test_chances_are_the_equations_and_sum_to_one(case: Any) -> None:
    if case.model.data != "votes":
        return  # the rates of labels are tested with their terms
    known = {"judges": case.problem.judges, "criteria": case.problem.votes.criteria, "items": case.problem.items}
    votes = read_votes(case.new_votes, **known, keep=covariate_columns(COVARIATES))
    if case.covariates:
        votes, model, _ = with_terms(votes, case.model, Request(covariates=COVARIATES))
        votes = split_by_terms(votes, votes.row_context is not None, resolve_terms(model, VoteRows(votes), {}))
    votes = split_by_context(votes) if case.model.context is not None else votes
    separate = case.model.criteria == "separate"
    for one in case.points:
        values = case.values(one)
        got = cell_probabilities(case.model, case.density, [values], votes)
        assert (got >= 0).all()
        np.testing.assert_allclose(got.sum(axis=1), 1.0, rtol=1e-13)
        context, sides = cell_contexts(votes), getattr(votes, "numbers", None)
        cells = zip(votes.judge, votes.criterion, votes.first, votes.second, strict=True)
        for n, (row, (k, c, first, second)) in enumerate(zip(got, cells, strict=True)):
            theta, more, habit = values["strength"][c if separate else 0], 0.0, 0.0
            x = None if context is None else context[n]
            more, habit = in_context(values, k, c if separate else 0, first, second, x)
            d = theta[first] - theta[second] + more
            if sides is not None:
                d += by_covariates(values, k, *sides[n])
            expected = three_chances(case.name, values, k, c, d, case.problem.part("votes").density.ties, habit)
            np.testing.assert_allclose(row, np.asarray(expected, dtype=float), rtol=1e-11)
