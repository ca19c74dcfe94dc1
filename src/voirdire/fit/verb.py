"""The verb ``fit``."""

from __future__ import annotations

import platform
import time
from collections.abc import Sequence
from functools import cache
from importlib import metadata
from pathlib import Path

from voirdire.errors import InputError
from voirdire.fit.anchored import MODES, Anchored
from voirdire.fit.result import Fit
from voirdire.infer.method import Inferred, Method, Progress, check_size, infer
from voirdire.kinds import kind as kinds
from voirdire.kinds.joint.tables import read_votes_and_scores
from voirdire.kinds.labels.problem import LabelsProblem
from voirdire.kinds.scores.problem import ScoresProblem
from voirdire.kinds.votes.human.table import read_anchors
from voirdire.kinds.votes.problem import VotesProblem, pose
from voirdire.model.problem import Problem
from voirdire.model.specs import Model, Priors, load_model
from voirdire.settings import least_draws
from voirdire.tables.counted import CountedVotes
from voirdire.tables.detect import read_table
from voirdire.tables.votes import Votes, read_votes

# the problem, its posterior, how anchors were used, the families named, and the choices made, in words
_Done = tuple[Problem, Inferred, Anchored | None, dict[str, str] | None, list[str]]

_ENOUGH = 5  # draws beyond each end of an interval from which nothing is said


def fit(
    votes: object,
    criteria: object = None,
    *,
    model: str | Path | Model | None = None,
    method: str = "laplace",
    prob: float = 0.9,
    seed: int = 0,
    priors: Priors | None = None,
    anchors: object = None,
    anchor_mode: str | None = None,
    families: object = None,
    levels: Sequence[object] | None = None,
    classes: Sequence[object] | None = None,
    draws: int = 1000,
    warmup: int = 500,
    chains: int = 4,
    sampler: str = "numpyro",
    progress: Progress | None = None,
) -> Fit:
    """Fit a model of a judge panel to a table of votes, labels or scores.

    Parameters
    ----------
    votes : path, pattern of paths, dataframe, Votes, Labels, Scores, or a list of two of them
        One row per vote: judge, first, second, winner and optionally criterion, context, run; see
        :func:`voirdire.tables.votes.read_votes`. Or one row per label: judge, item, label and optionally criterion; see
        :func:`voirdire.tables.labels.read_labels`. Or one row per score: judge, item, score and optionally criterion,
        run, group; see :func:`voirdire.tables.scores.read_scores`. Which it is, is told by the columns. A list of a
        table of votes and one of scores of the same items is fitted together: items share their strengths and judges
        their consistency; see :mod:`voirdire.kinds.joint.density`.
    criteria : path, dataframe or Votes, optional
        Votes on the criteria themselves: the same columns, the items are criteria. With scores also their weights:
        columns criterion and weight.
    model : str, path or Model, optional
        A shipped model's name or a model file. By default the position-aware model that the table's columns call for:
        ``maple-position`` with a criterion column, else ``crowd-bt-position``; for labels ``dawid-skene``; for
        scores ``rating-severity`` (``rating-maple`` with ``criteria``), for votes and scores ``mixed-position``
        (``mixed-maple-position`` with ``criteria``).
    method : "laplace", "nuts" or "map"
        Laplace gives intervals at once; NUTS samples the posterior; map gives the mode alone. Above 23,170 parameters
        (a Hessian of 4 GiB) only map can be used; :meth:`Fit.bootstrap` then gives intervals of votes.
    prob : float
        Probability of the intervals, between 0 and 1. At least one draw must be expected beyond each end: up to
        0.9995 by Laplace (4,000 draws).
    seed : int
        Seed of the draws.
    priors : mapping, optional
        Changes to the model file's numbers, e.g. ``{"reliability": {"a": 8}}``; recorded in the result.
    anchors : path or dataframe, optional
        People's answers to some comparisons: first, second, winner and optionally criterion, without a judge. For
        labels, items whose class is known: item, label and optionally criterion. For scores, people's scores of some
        items: item, score and, where there are several, criterion.
    anchor_mode : "joint" or "cut", optional
        joint: anchors enter the likelihood beside the votes or labels. cut: judges are known by the anchors alone, so
        that a wrong consensus cannot talk them down (not with votes and scores together). By default what predicts
        left-out anchors best, which the result says.
    families : mapping, path or dataframe, optional
        Judges that share a base model (judge to family, or columns judge and family): they learn from each other's
        anchors, and their votes or scores are discounted as far as they agree beyond the model. By default near-copies
        are found and discounted, which the result says; ``{}`` takes every judge as independent.
    levels : sequence, optional
        For labels: all labels there may be; one outside is an error. For scores: the levels of the scale (the two ends,
        where it is continuous), by default the whole numbers from the lowest score to the highest.
    classes : sequence, optional
        For labels: those that an item may truly be of, by default all. Others ("unsure") are answers only.
    draws, warmup, chains : int
        Of NUTS; draws and warmup per chain.
    sampler : "numpyro", "nutpie" or "pymc"
        What runs NUTS: the Laplace-whitened sampler, or another one on :attr:`Fit.pymc_model`.
    progress : callable, optional
        Called with (transitions made, transitions in all) while NUTS runs.

    Returns
    -------
    Fit

    Raises
    ------
    InputError
        The table, the model or the request is wrong, or the method cannot take so many parameters.

    Examples
    --------
    >>> import pandas as pd
    >>> votes = pd.DataFrame(
    ...     {"judge": ["ann", "bob"] * 3, "first": "x", "second": "y", "winner": ["x", "x", "x", "x", "x", "y"]}
    ... )
    >>> fit(votes, model="crowd-bt", method="map").ranking()["item"].tolist()
    ['x', 'y']
    """
    start = time.perf_counter()
    how = Method(method, seed, sampler, chains, warmup, draws, progress)
    _check_request(how, prob)
    _check_anchor_request(anchors, anchor_mode)
    table: kinds.Table
    if isinstance(votes, list | tuple):
        table = read_votes_and_scores(votes)
    else:
        table = read_table(votes, levels=levels, votes=True, rows=False)
    notes: list[str] = []
    if model is None:
        model, why = kinds.default_model(table, criteria)
        notes.append(f"No model was named: {model}, because {why}.")
    spec = load_model(model).with_priors(priors)
    kinds.check_kind(spec, table)
    notes += [f"Prior changed: {section}.{key} = {value:g}." for section, key, value in spec.overrides]
    if isinstance(table, Votes):
        _not_for("votes", {"levels": levels, "classes": classes})
        done = _fit_votes(spec, table, criteria, anchors, anchor_mode, families, how)
    else:
        done = _fit_rated(spec, table, criteria, anchors, anchor_mode, families, levels, classes, how)
    problem, found, anchored, grouped, more = done
    notes += more
    if how.size and how.size < least_draws(prob, _ENOUGH):
        few = f"{how.size * (1 - prob) / 2:.2g}"
        notes.append(
            f"About {few} of {how.size:,} draws lie beyond each end of the intervals: the ends are rough."
        )
    return Fit(
        problem,
        found.posterior,
        method,
        sampler if method == "nuts" else "",
        seed,
        prob,
        time.perf_counter() - start,
        _versions(method, sampler),
        found.checks,
        tuple(notes),
        found.sample_stats,
        anchored,
        grouped,
    )


def _fit_rated(
    spec: Model,
    table: kinds.Rated,
    criteria: object,
    anchors: object,
    anchor_mode: str | None,
    families: object,
    levels: Sequence[object] | None,
    classes: Sequence[object] | None,
    how: Method,
) -> _Done:
    from voirdire.infer.mode import find_mode
    from voirdire.kinds.votes.human.infer import in_words
    from voirdire.trust.alike import discounted

    unused: dict[str, dict[str, object]] = {
        "scores": {"classes": classes},
        "labels": {"criteria": criteria, "families": families},
        "mixed": {"classes": classes, "anchor_mode='cut'": anchor_mode if anchor_mode == "cut" else None},
    }
    _not_for(kinds.NAMES.get(spec.data, spec.data), unused[spec.data])
    posed = kinds.pose_rated(spec, table, criteria=criteria, levels=levels, classes=classes, anchors=anchors)
    notes = [*kinds.notes(posed)]
    check_size(posed, how)
    if isinstance(posed, LabelsProblem):
        if anchors is None:
            return posed, infer(posed, find_mode(posed), how), None, None, notes
        from voirdire.kinds.labels.anchored import infer_anchored as infer_labelled

        found, anchored = infer_labelled(posed, anchor_mode, how)
        return posed, found, anchored, None, [*notes, in_words(anchored, anchor_mode, "labels")]
    panel = discounted(posed, families)
    notes += panel.notes
    if isinstance(panel.problem, ScoresProblem) and anchors is not None:
        from voirdire.kinds.scores.anchored import infer_anchored as infer_scored

        found, anchored = infer_scored(panel.problem, panel.mode, anchor_mode, how)
        return (
            panel.problem,
            found,
            anchored,
            panel.families,
            [*notes, in_words(anchored, anchor_mode, "scores")],
        )
    jointly = None
    if anchors is not None:
        jointly = Anchored("joint", "joint", ())
        notes.append(in_words(jointly, anchor_mode, "votes, scores"))
    return panel.problem, infer(panel.problem, panel.mode, how), jointly, panel.families, notes


def _fit_votes(
    spec: Model,
    votes: Votes,
    criteria: object,
    anchors: object,
    anchor_mode: str | None,
    families: object,
    how: Method,
) -> _Done:
    from voirdire.trust.alike import discounted

    notes: list[str] = []
    if isinstance(votes, CountedVotes):
        notes.append("The table was counted where it is: the order of votes and their contexts are not kept.")
    people = None if anchors is None else read_anchors(anchors, votes)
    on_criteria = None if criteria is None else read_votes(criteria, name="votes on criteria")
    posed = pose(spec, votes, on_criteria, anchors=people)
    check_size(posed, how)
    notes += () if people is None else people.notes
    panel = discounted(posed, families)
    notes += panel.notes
    if on_criteria is not None and posed.criteria_votes is None:
        notes.append(
            f"The votes on criteria are not used: {spec.name} takes all criteria as equally important."
        )
    if people is None:
        return panel.problem, infer(panel.problem, panel.mode, how), None, panel.families, notes
    from voirdire.kinds.votes.human.infer import in_words, infer_anchored

    assert isinstance(panel.problem, VotesProblem)  # as posed
    found, anchored = infer_anchored(panel.problem, panel.mode, panel.families, anchor_mode, how)
    return panel.problem, found, anchored, panel.families, [*notes, in_words(anchored, anchor_mode)]


def _not_for(data: str, given: dict[str, object]) -> None:
    problems = [
        f"{name if '=' in name else name + '='} is not for tables of {data}; leave it out"
        for name, value in given.items()
        if value is not None
    ]
    if problems:
        raise InputError(problems)


def _check_request(how: Method, prob: float) -> None:
    problems = how.problems()
    if not 0.0 < prob < 1.0:
        problems.append(f"prob {prob} is not between 0 and 1; 0.9 gives 90% intervals")
    elif not problems and how.size and how.size < (least := least_draws(prob)):
        more = "" if how.name == "nuts" else "method='nuts' with "
        problems.append(
            f"prob {prob}: {how.size:,} draws do not tell where its intervals end; take a smaller one, or "
            f"{more}{least:,} draws in all at the least"
        )
    if problems:
        raise InputError(problems)


def _check_anchor_request(anchors: object, mode: str | None) -> None:
    if mode is not None and mode not in MODES:
        raise InputError(f"anchor_mode {mode!r} is none of {', '.join(MODES)}")
    if mode is not None and anchors is None:
        raise InputError(f"anchor_mode {mode!r} is for anchors; pass anchors=... with it")


def _versions(method: str, sampler: str) -> dict[str, str]:
    names = ["voirdire", "numpy", "jax"]
    if method == "nuts":
        names += ["numpyro", "arviz"] if sampler == "numpyro" else ["pymc", "arviz"]
        names += ["nutpie"] if sampler == "nutpie" else []
    return {"python": platform.python_version()} | {name: _version(name) for name in names}


@cache
def _version(name: str) -> str:
    return metadata.version(name)
