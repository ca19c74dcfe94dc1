"""Scores with and without covariates, and checks of the effects of covariates and of own families."""

from __future__ import annotations

from typing import Any

import numpy as np

from voirdire.infer.posterior import Posterior, integrated_scores
from voirdire.kinds.columns import Columns
from voirdire.kinds.quantities import effect_tables, own_family_rows
from voirdire.kinds.results import ranking_table
from voirdire.kinds.votes.contexts import ContextVotes
from voirdire.kinds.votes.problem import VotesProblem
from voirdire.model.problem import Check, list_names
from voirdire.model.terms.reliability import Values
from voirdire.tables.covariates import OWN_FAMILY
from voirdire.typing import Floats

ALPHA = 0.05  # chance that any judge is said to favour its family where none does
FLAT = 1e-9  # variance of a covariate within an item below which it is the item's alone


def adjusted_ranking(problem: VotesProblem, posterior: Posterior, prob: float) -> Columns:
    """As :func:`.results.ranking_table`; with covariates also ``unadjusted``, the score that lets them count.

    That is the score plus what the covariates of an item's answers add on average: what would be said of it did one not
    ask where its wins come from.
    """
    found = ranking_table(problem, posterior, prob)
    if not problem.covariates:
        return found
    shown = posterior.shown(lambda values: {"score": unadjusted_scores(problem, values)}, prob)["score"].point
    code = {item: at for at, item in enumerate(problem.items)}
    return found | {"unadjusted": shown[[code[item] for item in found["item"]]]}


def unadjusted_scores(problem: VotesProblem, values: Values) -> Floats:
    """Scores with what covariates add on average, sum zero, shape (..., items)."""
    more = np.einsum("...ck,cki->...i", judge_slopes(problem, values), covariate_means(problem))
    return np.asarray(integrated_scores(problem.density, values) + more - more.mean(axis=-1, keepdims=True))


def judge_slopes(problem: VotesProblem, values: Values) -> Floats:
    """Every judge's slopes, shape (..., covariates, judges)."""
    found = []
    for c in range(len(problem.covariates)):
        terms = [
            term for term in problem.added.terms if term.covariate == c and set(term.factors) <= {"judge"}
        ]
        each = [values[term.name] if term.factors else values[term.name][..., None] for term in terms]
        found.append(sum(each, np.zeros(len(problem.judges))))
    return np.stack(found, axis=-2)


def covariate_means(problem: VotesProblem) -> Floats:
    """Mean of covariates over an item's votes by each judge, times the judge's share: (covariates, judges, items)."""
    votes, sides = problem.coded_votes, pair_covariates(problem)
    total = votes.counts.sum(axis=1).astype(float)
    judges, items = len(problem.judges), len(problem.items)
    item = np.concatenate([votes.first, votes.second])
    place = np.tile(votes.judge, 2) * items + item
    weight = np.tile(total, 2)
    z = sides.transpose(2, 1, 0).reshape(sides.shape[-1], -1)
    found = np.stack([np.bincount(place, weight * one, judges * items) for one in z]).reshape(
        -1, judges, items
    )
    return np.asarray(found / np.maximum(np.bincount(item, weight, items), 1.0))


def covariate_checks(problem: VotesProblem, posterior: Posterior, prob: float = 0.9) -> list[Check]:
    """Check what covariates decide, and which cannot be told from the items themselves."""
    if not problem.covariates:
        return []
    told = effect_tables(problem, posterior, prob).get("covariates", [])
    found = {row["name"]: row for row in told}
    plain = [c for c, name in enumerate(problem.covariates) if name in found and name != OWN_FAMILY]
    out = [] if OWN_FAMILY not in found else [_own_family_check(problem, posterior, prob)]
    if not plain:
        return out
    fixed = [problem.covariates[c] for c in plain if _is_constant_per_item(problem, c)]
    sure = separating_covariates(problem, plain)
    said = [
        f"{name} {row['effect']:+.2f}{_interval_text(row)} log-odds for each {row['unit']:.3g}"
        for name, row in found.items()
        if name != OWN_FAMILY
    ]
    message = f"Scores hold covariates fixed: {'; '.join(said)}."
    if posterior.draws is not None:
        count = [name for name, row in found.items() if row["clear"] and name != OWN_FAMILY]
        message += f" Clear of 0 with 99%: {', '.join(count) or 'none'}."
    if sure:
        message += f" {list_names(sure)} deciding every vote: the effect's size is set by the prior, not by the votes."
    if fixed:
        message += (
            f" {list_names(fixed)} the same wherever an item is asked about: how much of its score that is, only the "
            "prior says; give covariates by context."
        )
    return [*out, Check("covariates", "warn" if fixed or sure else "ok", float(len(plain)), message)]


def _interval_text(row: dict[str, Any]) -> str:
    """The interval of an effect; empty at the mode alone."""
    return "" if row["low"] is None else f" [{row['low']:.2f}, {row['high']:.2f}]"


def pair_covariates(problem: VotesProblem) -> Floats:
    """Covariates of both items of each cell, shape (cells, 2, covariates)."""
    votes = problem.votes
    assert isinstance(votes, ContextVotes)
    assert votes.numbers is not None  # there are covariates
    return votes.numbers[..., : len(problem.covariates)]


def separating_covariates(problem: VotesProblem, among: list[int]) -> list[str]:
    """Covariates whose difference alone tells who won each vote."""
    votes, sides = problem.votes, pair_covariates(problem)
    found = []
    for c in among:
        d = sides[:, 0, c] - sides[:, 1, c]
        with_it = votes.counts[:, 0][d > 0].sum() + votes.counts[:, 1][d < 0].sum()
        against = votes.counts[:, 1][d > 0].sum() + votes.counts[:, 0][d < 0].sum()
        if not min(with_it, against) and max(with_it, against):
            found.append(problem.covariates[c])
    return found


def _is_constant_per_item(problem: VotesProblem, c: int) -> bool:
    votes = problem.votes
    item = np.concatenate([votes.first, votes.second])
    z = pair_covariates(problem)[:, :, c].T.ravel()
    size = np.maximum(np.bincount(item, minlength=len(problem.items)), 1)
    mean = np.bincount(item, z, len(problem.items)) / size
    return bool(((z - mean[item]) ** 2).max() < FLAT)


def _own_family_check(problem: VotesProblem, posterior: Posterior, prob: float) -> Check:
    """Judges that favour their own family, or count it down."""
    found = own_family_rows(problem, posterior, prob)
    # all judges together are silent where there is nothing, but for one table in twenty
    wide = own_family_rows(problem, posterior, 1.0 - ALPHA / max(len(found["judge"]) - 1, 1))
    clear = [k for k in range(1, len(found["judge"])) if wide["low"][k] > 0 or wide["high"][k] < 0]
    whole = (
        f"over all judges {found['effect'][0]:+.2f} [{found['low'][0]:.2f}, {found['high'][0]:.2f}] log-odds"
    )
    if not clear:
        message = f"No judge clearly favours its own family: {whole}. Scores hold it fixed."
        return Check("own-family", "ok", 0.0, message)
    said = [
        f"{found['judge'][k]} {found['effect'][k]:+.2f} [{found['low'][k]:.2f}, {found['high'][k]:.2f}]"
        for k in clear
    ]
    message = (
        f"Judges clearly answer otherwise where their own family is asked about: {'; '.join(said)}; {whole}. Scores "
        "hold it fixed; to leave such votes out, --without-own-family."
    )
    return Check("own-family", "warn", float(len(clear)), message)
