"""Scores with and without covariates, and the effects of covariates and of own families."""

from __future__ import annotations

import numpy as np

from voirdire.errors import InputError
from voirdire.infer.posterior import Posterior, scores
from voirdire.kinds.columns import Columns
from voirdire.kinds.votes import results
from voirdire.kinds.votes.contexts import ContextVotes
from voirdire.kinds.votes.problem import VotesProblem
from voirdire.model.check import Check, listed
from voirdire.model.terms.reliability import Values
from voirdire.tables.covariates import OWN_FAMILY
from voirdire.typing import Floats, Ints

ALPHA = 0.05  # chance that any judge is said to favour its family where none does
CLEAR = 0.99  # an interval clear of 0 says that a covariate counts
FLAT = 1e-9  # variance of a covariate within an item below which it is the item's alone


def ranking(problem: VotesProblem, posterior: Posterior, prob: float) -> Columns:
    """As :func:`.votes.results.ranking`; with covariates also ``unadjusted``, the score that lets them count.

    That is the score plus what the covariates of an item's answers add on average: what would be said of it did one not
    ask where its wins come from.
    """
    found = results.ranking(problem, posterior, prob)
    if not problem.density.covariates:
        return found
    shown = posterior.shown(lambda values: {"score": unadjusted(problem, values)}, prob)["score"].point
    code = {item: at for at, item in enumerate(problem.items)}
    return found | {"unadjusted": shown[[code[item] for item in found["item"]]]}


def unadjusted(problem: VotesProblem, values: Values) -> Floats:
    """Scores with what covariates add on average, sum zero, shape (..., items)."""
    more = np.einsum("...ck,cki->...i", slopes(problem, values), means(problem))
    return np.asarray(scores(problem.density, values) + more - more.mean(axis=-1, keepdims=True))


def slopes(problem: VotesProblem, values: Values) -> Floats:
    """Every judge's slopes, shape (..., covariates, judges)."""
    own = values.get("judge_slope", np.zeros((problem.density.covariates, problem.density.judges)))
    return np.asarray(values["slope"][..., None] + own)


def means(problem: VotesProblem) -> Floats:
    """Mean of covariates over an item's votes by each judge, times the judge's share: (covariates, judges, items)."""
    votes = problem.coded_votes
    assert isinstance(votes, ContextVotes)
    assert votes.sides is not None  # there are covariates
    total = votes.counts.sum(axis=1).astype(float)
    judges, items = len(problem.judges), len(problem.items)
    item = np.concatenate([votes.first, votes.second])
    place = np.tile(votes.judge, 2) * items + item
    weight = np.tile(total, 2)
    z = votes.sides.transpose(2, 1, 0).reshape(problem.density.covariates, -1)
    found = np.stack([np.bincount(place, weight * one, judges * items) for one in z]).reshape(
        -1, judges, items
    )
    return np.asarray(found / np.maximum(np.bincount(item, weight, items), 1.0))


def covariates(problem: VotesProblem, posterior: Posterior, prob: float) -> Columns:
    """Effects of covariates over all judges: name, effect (log-odds for each unit), low, high, unit, clear.

    ``clear`` says whether the 99% interval is clear of 0, all covariates together: at the mode alone, never.

    Raises
    ------
    InputError
        The fit has none.
    """
    if not problem.density.covariates:
        raise InputError("the fit has no covariates; pass covariates= or item_families=")
    assert problem.votes.details is not None
    shown, wide = (
        posterior.shown(lambda values: {"slope": values["slope"]}, level)["slope"]
        for level in (prob, 1.0 - (1.0 - CLEAR) / problem.density.covariates)
    )
    columns: Columns = {"name": np.array(problem.covariates, dtype=object)}
    columns |= {"effect": shown.point, "low": shown.low, "high": shown.high}
    return columns | {"unit": problem.votes.details.units, "clear": (wide.low > 0) | (wide.high < 0)}


def by_judge(problem: VotesProblem, posterior: Posterior, prob: float, name: str) -> Columns:
    """The effect of one covariate: judge (None: over all), effect, low, high.

    Of own families only for judges that compared an item of theirs with one of another.
    """
    c = problem.covariates.index(name)
    shown = posterior.shown(
        lambda values: {
            "all": values["slope"][..., c],
            "each": slopes(problem, values)[..., c, :],
        },
        prob,
    )
    some = _concerned(problem, c)
    columns: Columns = {"judge": np.array([None, *(problem.judges[k] for k in some)], dtype=object)}
    for key, part in (("effect", "point"), ("low", "low"), ("high", "high")):
        each = getattr(shown["each"], part)[some]
        columns[key] = np.append(getattr(shown["all"], part), each)
    return columns


def _concerned(problem: VotesProblem, c: int) -> Ints:
    """Judges that saw items which differ in a covariate."""
    votes = problem.coded_votes
    assert isinstance(votes, ContextVotes)
    assert votes.sides is not None
    differs = (votes.sides[:, 0, c] != votes.sides[:, 1, c]) & (votes.counts.sum(axis=1) > 0)
    return np.unique(votes.judge[differs])


def checks(problem: VotesProblem, posterior: Posterior, prob: float = 0.9) -> list[Check]:
    """Check what covariates decide, and which cannot be told from the items themselves."""
    if not problem.density.covariates:
        return []
    found = covariates(problem, posterior, prob)
    plain = [c for c, name in enumerate(problem.covariates) if name != OWN_FAMILY]
    out = [] if OWN_FAMILY not in problem.covariates else [_own_family(problem, posterior, prob)]
    if not plain:
        return out
    fixed = [problem.covariates[c] for c in plain if _is_of_items(problem, c)]
    sure = separating(problem, plain)
    said = [
        f"{found['name'][c]} {found['effect'][c]:+.2f} [{found['low'][c]:.2f}, {found['high'][c]:.2f}] log-odds "
        f"for each {found['unit'][c]:.3g}"
        for c in plain
    ]
    message = f"Scores hold covariates fixed: {'; '.join(said)}."
    if posterior.draws is not None:
        count = [found["name"][c] for c in plain if found["clear"][c]]
        message += f" Clear of 0 with 99%: {', '.join(count) or 'none'}."
    if sure:
        message += f" {listed(sure)} deciding every vote: the effect's size is bounded by the prior, not by the votes."
    if fixed:
        message += (
            f" {listed(fixed)} the same wherever an item is asked about: how much of its score that is, only the prior "
            "says; give covariates by context."
        )
    return [*out, Check("covariates", "warn" if fixed or sure else "ok", float(len(plain)), message)]


def separating(problem: VotesProblem, among: list[int]) -> list[str]:
    """Covariates whose difference alone tells who won each vote."""
    votes = problem.coded_votes
    assert isinstance(votes, ContextVotes)
    assert votes.sides is not None
    found = []
    for c in among:
        d = votes.sides[:, 0, c] - votes.sides[:, 1, c]
        with_it = votes.counts[:, 0][d > 0].sum() + votes.counts[:, 1][d < 0].sum()
        against = votes.counts[:, 1][d > 0].sum() + votes.counts[:, 0][d < 0].sum()
        if not min(with_it, against) and max(with_it, against):
            found.append(problem.covariates[c])
    return found


def _is_of_items(problem: VotesProblem, c: int) -> bool:
    votes = problem.coded_votes
    assert isinstance(votes, ContextVotes)
    assert votes.sides is not None
    item = np.concatenate([votes.first, votes.second])
    z = np.concatenate([votes.sides[:, 0, c], votes.sides[:, 1, c]])
    size = np.maximum(np.bincount(item, minlength=len(problem.items)), 1)
    mean = np.bincount(item, z, len(problem.items)) / size
    return bool(((z - mean[item]) ** 2).max() < FLAT)


def _own_family(problem: VotesProblem, posterior: Posterior, prob: float) -> Check:
    """Judges that favour their own family, or count it down."""
    found = by_judge(problem, posterior, prob, OWN_FAMILY)
    # all judges together are silent where there is nothing, but for one table in twenty
    wide = by_judge(problem, posterior, 1.0 - ALPHA / max(len(found["judge"]) - 1, 1), OWN_FAMILY)
    clear = [k for k in range(1, len(found["judge"])) if wide["low"][k] > 0 or wide["high"][k] < 0]
    whole = (
        f"over all judges {found['effect'][0]:+.2f} [{found['low'][0]:.2f}, {found['high'][0]:.2f}] log-odds"
    )
    if not clear:
        return Check(
            "own-family",
            "ok",
            0.0,
            f"No judge clearly favours its own family: {whole}. Scores hold it fixed.",
        )
    said = [
        f"{found['judge'][k]} {found['effect'][k]:+.2f} [{found['low'][k]:.2f}, {found['high'][k]:.2f}]"
        for k in clear
    ]
    message = (
        f"Judges clearly answer otherwise where their own family is asked about: {'; '.join(said)}; {whole}. Scores "
        "hold it fixed; to leave such votes out, --without-own-family."
    )
    return Check("own-family", "warn", float(len(clear)), message)
