"""The verb ``fit``."""

from __future__ import annotations

import math
import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from voirdire.errors import InputError, raise_problems
from voirdire.fit.answer_weight import maximise_likelihood, weigh_answers
from voirdire.fit.human import describe_anchors, infer_with_human, split_target_answers
from voirdire.fit.shared_covariates import covariate_sentences
from voirdire.infer.device.choice import find_gpu
from voirdire.infer.infer import infer_posterior
from voirdire.infer.method import DEFAULT_SECONDS, Method, Progress, check_size
from voirdire.kinds.fit import Fit
from voirdire.kinds.human import MODES
from voirdire.kinds.panel_gap import check_result_subject
from voirdire.kinds.registry import check_kind, find_kind, fit_class
from voirdire.kinds.request import Request
from voirdire.kinds.scores.weights import judges_on_criteria
from voirdire.model.priors import Priors
from voirdire.model.problem import Problem
from voirdire.model.specs import Model, load_model
from voirdire.model.term_rows import parse_terms
from voirdire.notices import give_notice, listen_for_notes
from voirdire.settings import PROB, is_number, min_draws_for_interval
from voirdire.tables.detect import read_table
from voirdire.tables.families import read_families
from voirdire.tables.formats.imported import Imported
from voirdire.tables.output_library import library_of
from voirdire.tables.people import as_anchors, join_people_answers, split_people
from voirdire.tables.repeats import notes_on_answers
from voirdire.tables.votes_and_scores import read_votes_and_scores

_MIN_TAIL_DRAWS = 5  # draws beyond each end of an interval below which a note warns


def fit(
    votes: object,
    criteria: object = None,
    *,
    model: str | Path | Model | None = None,
    terms: str | None = None,
    method: str = "auto",
    prob: float = PROB,
    seed: int = 0,
    priors: Priors | None = None,
    anchors: object = None,
    anchor_mode: str | None = None,
    people: Sequence[str] | str = (),
    families: object = None,
    levels: Sequence[object] | None = None,
    classes: Sequence[object] | None = None,
    over: str = "new",
    covariates: object = None,
    item_families: object = None,
    without_own_family: bool = False,
    by: str | None = None,
    order: str | None = None,
    positive: object = None,
    board: bool = False,
    about: str | None = None,
    judges: str | None = None,
    draws: int = 1000,
    warmup: int = 500,
    chains: int = 4,
    sampler: str = "numpyro",
    seconds: float = DEFAULT_SECONDS,
    device: str = "auto",
    progress: Progress | None = None,
    check: Callable[[Problem], None] | None = None,
) -> Fit:
    """Fit a model of a judge panel to a table of votes, labels, scores or rankings.

    Parameters
    ----------
    votes : path, pattern of paths, dataframe, result of read(), a table that was read, or a list of two of them
        One row per vote: judge, first, second, winner and optionally criterion, context, run; see
        :func:`voirdire.tables.votes.read_votes`. Or one row per label: judge, item, label and optionally criterion; see
        :func:`voirdire.tables.labels.read_labels`. Or one row per score: judge, item, score and optionally criterion,
        run, group; see :func:`voirdire.tables.scores.read_scores`. Or one row per item of a ranking: judge, item, rank
        and optionally criterion, context, run; see :func:`voirdire.tables.rankings.read_rankings`. The columns decide
        the kind. A list of a table of votes and one of scores of the same items is fitted together: items share their
        strengths and judges their consistency; see :mod:`voirdire.kinds.votes_and_scores.problem`.
    criteria : path, dataframe or Votes, optional
        Votes on the criteria themselves: the same columns, with criteria as items. With scores and rankings also the
        weights of criteria: columns criterion and weight.
    model : str, path or Model, optional
        A shipped model's name or a model file. The default depends on the table. Votes: ``maple-tastes`` with several
        criteria, else ``learned-crowd-bt-position``; ``maple-position`` and ``crowd-bt-position`` for large tables;
        ``maple-contexts`` and ``crowd-bt-contexts`` where items meet in several contexts. Votes with unknown order of
        the items: the same with one coin per judge (``learned-crowd-bt``, ``unordered-maple-tastes``,
        ``unordered-...-contexts``). Votes of a single judge with unknown or fixed order: ``bradley-terry``. Labels:
        ``hierarchical-dawid-skene``, or ``ordered-labels`` for ordered levels. Scores: ``rating-learned``;
        ``rating-contexts`` for items in several contexts, ``rating-halo`` with several criteria,
        ``rating-continuous``, ``rating-continuous-halo`` and ``rating-continuous-contexts`` for scores between levels,
        ``rating-families`` with ``families``. Votes and scores: ``joint-position``; ``joint-contexts`` with several
        contexts, several criteria or covariates. Rankings: ``plackett-luce-tastes``; ``plackett-luce-contexts`` where
        no judge ranks an item twice, ``plackett-luce`` without contexts.
    terms : str, optional
        For votes, scores (or both) and rankings, instead of a model: the sum that answers depend on, such as
        ``"item + item:context + judge:item + judge:length"``. Names are item, judge, context, criterion, run, time,
        group, family, covariates, and columns of the table. A column of numbers multiplies the values; a column of
        names indexes them. Each term has independent values for all combinations of its names, with a learned standard
        deviation; terms of time are random walks.
    method : "auto", "laplace", "nuts", "map" or "adam"
        "laplace" is the Laplace approximation, "nuts" samples the posterior, "map" gives the mode only. "adam" is the
        estimator of MAPLE's paper (likelihood only, 5,000 epochs, no intervals), for votes without ties and models with
        at most one coin per judge. "auto" tests the Laplace approximation; where it fails, "auto" moves its draws by
        Hamiltonian Monte Carlo until they have converged, or uses NUTS. The result's method is the one that was used
        ("laplace", "hmc" or "nuts"); a note gives its cost. Above 23,170 parameters (a Hessian of 4 GiB), models
        without learned standard deviations allow "map" only; :meth:`Fit.bootstrap` then gives intervals for votes.
    prob : float
        Probability of the intervals, between 0 and 1. At least one draw must be expected beyond each end: up to
        0.9995 by Laplace (4,000 draws).
    seed : int
        Seed of the draws.
    priors : mapping, optional
        Changes to the model file's numbers: ``{"reliability.a": 8}`` or ``{"reliability": {"a": 8}}``; recorded in the
        result.
    anchors : path or dataframe, or a list of them, optional
        People's answers. For votes: first, second, winner and optionally criterion, without a judge. For labels, items
        with known class: item, label and optionally criterion. For scores, people's scores of some items: item, score
        and, with several criteria, criterion. For rankings, people's rankings: item, rank and optionally person,
        criterion, context, run; see :mod:`voirdire.kinds.rankings.human`.
    anchor_mode : "joint" or "cut", optional
        "joint": anchors enter the likelihood together with the judges' answers. "cut": the anchors alone determine the
        judges' reliability, so that a wrong consensus cannot outweigh them (not for rankings, nor for votes and scores
        together). By default the mode that best predicts left-out anchors; the result names it.
    people : sequence of str, optional
        Judges of the table who are people; their answers are anchors, too.
    families : mapping, path or dataframe, optional
        Judges that share a base model (judge to family, or columns judge and family): they learn from each other's
        anchors. The default model has terms of families. With a named model, with votes and ``item_families``, or with
        unconnected pairs and anchors, answers of a family instead get lower weights, by their agreement beyond the
        model. By default duplicate judges are detected and get lower weights, with a note; ``{}`` takes every judge as
        independent.
    levels : sequence, optional
        For labels: all possible labels; others are an error. For scores: the levels of the scale (its two ends, if
        continuous), by default the whole numbers from the lowest score to the highest.
    classes : sequence, optional
        For labels: possible true classes of an item, by default all labels. Other labels ("unsure") are answers only.
    over : "new" or "these"
        For answers in several contexts (prompts): "new" for scores over a population of contexts, so that intervals
        hold for new contexts; "these" for scores over the contexts of the table.
    covariates : path, dataframe, or names, optional
        For votes, scores (or both) and rankings: quantities to hold fixed when items are compared, such as length. A
        table with columns ``item``, optionally ``context``, and numbers; or names of columns, ``NAME_first`` and
        ``NAME_second`` of votes, ``NAME`` of scores and rankings. :func:`voirdire.covariates.text` computes them from
        texts.
    item_families : mapping, path or dataframe, optional
        For votes, scores (or both) and rankings: the family of items (item to family, or columns item and family), such
        as the lab that made them. The preference of judges for items of their own family (``families``) is estimated
        and held fixed; a judge without a family there favours none.
    without_own_family : bool
        True to leave out answers of judges about items of their own family instead of the estimate; a note counts them.
    by : str, optional
        A column that groups contexts (such as category): results within each group, in addition to overall results.
        For scores and rankings any column of names.
    order : "shown" or "unknown", optional
        For votes: "shown" if ``first`` was shown first; "unknown" leaves positions out of the default model. By
        default the value of a column ``order``.
    positive : str, optional
        For labels: the class that counts as a success, such as "right". Systems are ranked by it, and sensitivity
        refers to it. By default that of :func:`voirdire.read`, or a class with a known word (right, correct, pass, yes,
        true, 1, ...), with a note.
    board : bool
        True to refuse, before the fit, a request without a possible board: labels without columns of systems over
        contexts or without a class of success, or a method without draws.
    about : "target" or "panel", optional
        Subject of results: "target" for what the panel represents (the truth, experts, people), with priors from panels
        in public tables, or "panel" for the panel itself. For labels the target by default, informed by ``anchors``;
        see :mod:`voirdire.kinds.labels.target`. For votes, scores and rankings the panel by default, or the target if
        ``judges`` are models or people's rankings are given; see :mod:`voirdire.kinds.panel_gap`. Then ``anchors``
        (votes; scores on any scale) estimate the gap between panel and people and people's view of items, unless
        ``anchor_mode`` is given.
    judges : "models" or "people", optional
        For votes, scores and rankings: "models" for language models that represent people, or "people".
    draws, warmup, chains : int
        Settings of NUTS; draws and warmup per chain.
    sampler : "numpyro", "nutpie" or "pymc"
        Sampler of NUTS: the Laplace-whitened sampler ("numpyro"), or another one on :attr:`Fit.pymc_model`.
    seconds : float
        Approximate time for the chains of "auto" where the approximation fails, estimated from the size of the table,
        not measured; for votes at least twice as long. A check reports chains that have not converged by then.
    device : "auto", "cpu", "gpu" or "jax"
        Device of these chains: a graphics processor by JAX ("gpu", needs the extra ``cuda``; "auto" uses one if
        available and the table is large), the processor, or the default device of JAX. The same seed gives the same
        result up to Monte Carlo error, not the same draws.
    progress : callable, optional
        Called with (transitions done, transitions expected in total, a description of the state: R-hat, effective
        sample size, the leading item) while chains run. Ctrl-C then stops the chains, and the fit uses their draws so
        far; a second Ctrl-C stops the fit.
    check : callable, optional
        Called with the problem before the fit; it raises to prevent a useless fit.

    Returns
    -------
    Fit
        The fit, of the class of its kind of table.

    Raises
    ------
    InputError
        If the table, the model or the request is not valid, or the method cannot handle so many parameters.

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
    method_settings = Method(method, seed, sampler, chains, warmup, draws, progress, seconds, device)
    _check_request(method_settings, prob, over)
    if by is not None and not isinstance(by, str):
        raise InputError(f"by={by!r} is no name of a column; give one")
    notes: list[str] = []
    if positive is None and isinstance(votes, Imported):
        positive = votes.positive
    with listen_for_notes(notes.append):
        votes, answers, levels = split_people(votes, people, levels)
        anchors = join_people_answers(anchors, answers)
        _check_anchor_request(anchors, anchor_mode)
        anchor_table = as_anchors(anchors)
    rows = () if terms is None else parse_terms(terms)
    answers_of = (criteria, anchor_table, anchor_mode, families, levels, classes, over)
    effects = (covariates, item_families, without_own_family, by)
    request = Request(*answers_of, *effects, order, positive, board, about, judges, rows)
    with listen_for_notes(notes.append):
        with_terms = request if model is None else replace(request, terms=load_model(model).terms)
        table = read_answers(votes, levels, keep=with_terms.columns)
        for note in notes_on_answers(votes, table):
            give_notice(note)
    if families is not None and criteria is not None:  # some judges may vote on criteria only
        all_families = read_families(families, sorted({*table.judges, *judges_on_criteria(criteria)}))
        request = replace(request, families={judge: all_families[judge] for judge in table.judges})
    kind = find_kind(table.data)
    if answers and levels is None and about is None and (scale := kind.levels_with_people(table, anchor_table)):
        request = replace(request, levels=scale)
        notes.append(f"The scale is from {scale[0]:g} to {scale[-1]:g}, as judges and people of the table gave scores.")
    if board:
        if not method_settings.size:
            raise InputError(f"a board needs draws, and method {method!r} has none; take another")
        kind.check_board(table, request)
    if terms is not None:
        if model is not None:
            raise InputError("terms= replaces a model; give one of the two (a model file takes [[term]])")
        model = kind.model_of_terms(table, request)
    with listen_for_notes(notes.append):
        answers_of_target, anchors, target_notes = split_target_answers(kind, table, request)
    notes, request = notes + target_notes, replace(request, anchors=anchors)
    named_model = model is not None
    if model is None:
        model, reason = kind.default_model(table, request)
        notes.append(f"No model was named: {load_model(model).name}, because {reason}.")
    spec = load_model(model).with_priors(priors)
    check_kind(spec, table)
    notes += [f"Prior changed: {section}.{key} = {value:g}." for section, key, value in spec.overrides]
    kind.check_request(request)
    check_result_subject(about, judges)
    with listen_for_notes(notes.append):
        encoded, further_notes = kind.encode_table(spec, table, request)
    further_notes += kind.note_unused_columns(encoded) if named_model else []
    check_size(encoded, method_settings)
    if check is not None:
        check(encoded)
    if method == "adam":
        panel = maximise_likelihood(encoded, seed, families, anchors)
    else:
        chained = method_settings.chain_seconds if anchors is None else 0.0
        for_items = item_families is not None and not kind.can_weigh_answers(encoded)
        weighed_families = None if for_items and not kind.uses_families(encoded) else families
        panel = weigh_answers(encoded, weighed_families, chains=chained)
    problem = panel.problem
    notes += [*further_notes, *panel.notes]
    anchored = None
    if anchors is None:
        inferred = infer_posterior(problem, panel.mode, method_settings)
    else:
        human = kind.human(problem, panel.families)
        inferred, anchored = infer_with_human(human, panel.mode, anchor_mode, method_settings)
        problem = human.answered(anchored.chosen)
        notes.append(describe_anchors(anchored, anchor_mode, human, kind.words.replace(" and ", ", ")))
    problem = replace(problem, about=kind.result_subject(problem, request), target_answers=answers_of_target)
    notes += [*kind.outcome(problem, inferred.posterior), *inferred.notes]
    if covariates is None and kind.has_scores(problem):
        notes += covariate_sentences(problem, inferred.posterior, votes)
    drawn = 0 if inferred.posterior.draws is None else math.prod(inferred.posterior.draws.shape[:2])
    if drawn and drawn < min_draws_for_interval(prob, _MIN_TAIL_DRAWS):
        tail_draws = f"{drawn * (1 - prob) / 2:.2g}"
        notes.append(f"About {tail_draws} of {drawn:,} draws lie beyond each end of the intervals: the ends are rough.")
    return fit_class(kind.name)(
        problem,
        kind.evened(problem, inferred.posterior),
        inferred.method,
        method_settings.sampler_of(inferred.method),
        seed,
        prob,
        time.perf_counter() - start,
        _package_versions(inferred.method, sampler),
        inferred.checks,
        tuple(notes),
        inferred.sample_stats,
        anchored,
        panel.families,
        method,
        library_of(votes),
    )


def read_answers(
    table: object, levels: Sequence[object] | None = None, *, rows: bool = False, keep: Sequence[str] = ()
) -> Any:
    """Read a table of any kind, or a list of a table of votes and one of scores; see :func:`.detect.read_table`."""
    if isinstance(table, list | tuple):
        return read_votes_and_scores(table, rows=rows, keep=keep)
    answers = read_table(table, levels=levels, votes=True, rows=rows, keep=keep, rankings=True)
    return find_kind(answers.data).answers_to_fit(answers)


def _check_request(method: Method, prob: float, over: str) -> None:
    problems = method.problems()
    if over not in ("new", "these"):
        problems.append(f"over {over!r} is none of new, these")
    if not (is_number(prob) and 0.0 < prob < 1.0):
        problems.append(f"prob {prob!r} is not between 0 and 1; 0.9 gives 90% intervals")
    elif not problems and method.size and method.size < (needed := min_draws_for_interval(prob)):
        hint = "" if method.name == "nuts" else "method='nuts' with "
        problems.append(
            f"prob {prob}: {method.size:,} draws are too few for its intervals; take a smaller one, or "
            f"{hint}{needed:,} draws in all at the least"
        )
    raise_problems(problems)
    if method.device == "gpu":
        find_gpu()  # before a mode is searched for in vain


def _check_anchor_request(anchors: object, mode: str | None) -> None:
    if mode is not None and mode not in MODES:
        raise InputError(f"anchor_mode {mode!r} is none of {', '.join(MODES)}")
    if mode is not None and anchors is None:
        raise InputError(f"anchor_mode {mode!r} is for anchors; pass anchors=... with it")


def _package_versions(method: str, sampler: str) -> dict[str, str]:
    names = ["voirdire", "numpy", "jax"]
    if method == "nuts":
        names.append("numpyro" if sampler == "numpyro" else "pymc")
        names += ["nutpie"] if sampler == "nutpie" else []
    return {"python": platform.python_version()} | {name: _package_version(name) for name in names}


@cache
def _package_version(name: str) -> str:
    return metadata.version(name)
