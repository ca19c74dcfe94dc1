"""The verb ``fit`` and what it returns."""

from __future__ import annotations

import platform
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from voirdire import checks as check
from voirdire import kinds, summaries
from voirdire.anchors.result import MODES, Anchored
from voirdire.anchors.table import read_anchors
from voirdire.checks import Check
from voirdire.errors import InputError
from voirdire.posterior import Posterior
from voirdire.problem import Posed, Problem, pose
from voirdire.specs import Model, Priors, load_model
from voirdire.tables.detect import read_table
from voirdire.tables.votes import Votes, read_votes

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from voirdire.infer.mode import Mode
    from voirdire.report.observed import Observed

Floats = npt.NDArray[np.float64]
Progress = Callable[[int, int], None]

METHODS = ("laplace", "nuts", "map")
SAMPLERS = ("numpyro", "nutpie", "pymc")
LAPLACE_DRAWS = 4000


@dataclass(frozen=True, eq=False)
class Fit:
    """A fitted model.

    Attributes
    ----------
    problem : Posed
        The model and the counted table.
    posterior : Posterior
        Centre and draws.
    method, sampler : str
    seed : int
    prob : float
        Probability of every interval in the tables.
    seconds : float
        Time the fit took.
    versions : dict
    sample_stats : dict of array
        What the sampler recorded, shape (chains, draws) each; empty unless NUTS ran.
    notes : tuple of str
        Choices made on the user's behalf, in words.
    anchored : Anchored or None
        How human answers were used.
    """

    problem: Posed
    posterior: Posterior
    method: str
    sampler: str
    seed: int
    prob: float
    seconds: float
    versions: dict[str, str]
    method_checks: tuple[Check, ...]
    notes: tuple[str, ...] = ()
    sample_stats: dict[str, npt.NDArray[Any]] = field(default_factory=dict)
    anchored: Anchored | None = None

    @property
    def model(self) -> Model:
        """The model that was fitted."""
        return self.problem.model

    def ranking(self) -> pd.DataFrame:
        """Items, best first: item, score, sd, low, high, rank, rank_low, rank_high, p_best.

        The score is in log-odds: the strength, or its average over criteria by their weights. ``low`` and ``high``
        bound the equal-tailed interval of probability ``prob``; all but score and rank are missing under ``map``.
        """
        kinds.require(self.problem, "votes", "ranking")
        return summaries.frame(self._results["items"])

    def classes(self) -> pd.DataFrame:
        """Items of a fit of labels: class, probability of every class; see :func:`.labels.results.items`."""
        kinds.require(self.problem, "labels", "classes")
        return summaries.frame(self._results["items"])

    def confusion(self) -> pd.DataFrame:
        """Judges' confusion matrices: judge, class, label, probability, low, high; for fits of labels."""
        kinds.require(self.problem, "labels", "confusion")
        return summaries.frame(self._results["confusion"])

    def shares(self) -> pd.DataFrame:
        """Shares of the classes: criterion, class, share, low, high; for fits of labels."""
        kinds.require(self.problem, "labels", "shares")
        return summaries.frame(self._results["shares"])

    def judges(self) -> pd.DataFrame:
        """Judges: votes, reliability, position bias, behaviour on a typical pair; see :func:`.summaries.judges`.

        For labels: reliability, accuracy, sensitivity and specificity; see :func:`.labels.results.judges`.
        """
        return summaries.frame(self._results["judges"])

    def judges_by_criterion(self) -> pd.DataFrame:
        """Reliability per judge and criterion, for ``maple-criterion-reliability``."""
        return summaries.frame(
            summaries.judges_by_criterion(self._votes("judges_by_criterion"), self.posterior, self.prob)
        )

    def criteria(self) -> pd.DataFrame:
        """Criteria: weight (they sum to one) with interval."""
        kinds.require(self.problem, "votes", "criteria")
        return summaries.frame(self._results["criteria"])

    def strengths(self) -> pd.DataFrame:
        """Strength of every item under every criterion (log-odds): criterion, item, strength, sd, low, high."""
        return summaries.frame(summaries.strengths(self._votes("strengths"), self.posterior, self.prob))

    def pairs(self) -> pd.DataFrame:
        """Probability that the first item is better (that people prefer it), for unconnected pairs with anchors.

        Columns: criterion (where there are several), first, second, p_first.

        Raises
        ------
        InputError
            The fit has no anchors, or its items are linked: use :meth:`ranking`.
        """
        if self.anchored is None or not self.anchored.pairs:
            raise InputError(
                "pairs() is for tables of unconnected pairs that were fitted with anchors; use ranking()"
            )
        return self._table(self.anchored.pairs)

    def anchor_methods(self) -> pd.DataFrame:
        """How well each way to use the anchors predicts anchors left out: method, log_loss, log_loss_se, accuracy,
        chosen.

        Raises
        ------
        InputError
            The fit has no anchors.
        """
        if self.anchored is None:
            raise InputError("anchor_methods() needs anchors; pass fit(..., anchors=...)")
        return self._table(self.anchored.methods)

    @staticmethod
    def _table(rows: tuple[dict[str, Any], ...]) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame(list(rows))

    @cached_property
    def _checks(self) -> tuple[Check, ...]:
        chosen = None if self.anchored is None else self.anchored.chosen
        found, judges = list(self.method_checks), self._results["judges"]
        return tuple(kinds.all_checks(self.problem, self.posterior, judges, found, self.seed, chosen))

    def checks(self) -> pd.DataFrame:
        """What may be wrong: check, level (ok, warn, fail), value, message."""
        found = [entry.as_dict() for entry in self._checks]
        return summaries.frame({key: [entry[key] for entry in found] for key in found[0]})

    @property
    def level(self) -> str:
        """The worst level among the checks."""
        return check.worst(self._checks)

    def predict(self, votes: object) -> pd.DataFrame:
        """Probability of each answer to each comparison; see :func:`voirdire.predict.predict`."""
        from voirdire.predict import predict

        return predict(self, votes)

    def next_comparisons(self, count: int = 10, **settings: Any) -> pd.DataFrame:
        """Comparisons to send to a person or a judge next; see :func:`voirdire.elicit.suggest.next_comparisons`.

        ``who`` is "person" or "judge", ``about`` what is to become surer: "ranking" or "judges"; also
        ``repeats`` and ``seed``.
        """
        from voirdire.elicit.suggest import next_comparisons

        return next_comparisons(self, count, **settings)

    @property
    def idata(self) -> Any:
        """Draws as an ArviZ container: named, with coordinates and, after NUTS, sample statistics.

        Raises
        ------
        InputError
            The fit has no draws (method "map").
        """
        from voirdire.infer.diagnose import to_arviz

        if self.posterior.draws is None:
            raise InputError("method 'map' has no draws; fit with method='laplace' or 'nuts'")
        program = self.problem.program
        values = {k: v for k, v in program.values(self.posterior.draws, np).items() if v.size}
        coords = self.problem.coords
        dims = {p.name: list(p.dims) for p in program.parameters}
        return to_arviz(values, self.sample_stats, coords, dims)

    @property
    def pymc_model(self) -> Any:
        """The same model and table as a ``pymc.Model``."""
        from voirdire.infer.pymc_model import pymc_model

        return pymc_model(self.problem)

    def plot(self, kind: str, ax: Axes | None = None) -> Axes:
        """Draw a figure ("ranking", "judges", "position", "agreement", ...); see :func:`.figures.plot`."""
        from voirdire.report.figures import plot

        return plot(self, kind, ax)

    def report(self, output: str | Path, *, overwrite: bool = False) -> Path:
        """Write a report: HTML, Markdown or LaTeX by the file's ending; see :func:`voirdire.report.verb.report`."""
        from voirdire.report.verb import report

        return report(self, output, overwrite=overwrite)

    def save(self, folder: str | Path, *, overwrite: bool = False) -> Path:
        """Write the fit to a folder, whole or not at all; see :func:`voirdire.store.save`."""
        from voirdire.store import save

        return save(self, folder, overwrite=overwrite)

    def as_dict(self) -> dict[str, Any]:
        """Return the result as plain Python, in the shape of ``voirdire fit --json``."""
        return {
            "model": self.model.name,
            "method": self.method,
            "seed": self.seed,
            "prob": self.prob,
            "votes": int(self.problem.judge_votes.sum()),
            "seconds": round(self.seconds, 3),
            "versions": self.versions,
            "notes": list(self.notes),
            **{name: summaries.records(columns) for name, columns in self._results.items()},
            **({} if self.anchored is None else self._anchored_dict(self.anchored)),
            "checks": [entry.as_dict() for entry in self._checks],
        }

    @staticmethod
    def _anchored_dict(anchored: Anchored) -> dict[str, Any]:
        how = {"mode": anchored.mode, "chosen": anchored.chosen, "methods": list(anchored.methods)}
        return {"anchors": how} | ({"pairs": list(anchored.pairs)} if anchored.pairs else {})

    @cached_property
    def _observed(self) -> Observed:
        from voirdire.report.observed import measure

        return measure(self)

    @cached_property
    def _results(self) -> dict[str, summaries.Columns]:
        found = kinds.results(self.problem)
        return {name: make(self.problem, self.posterior, self.prob) for name, make in found.items()}

    def _votes(self, what: str) -> Problem:
        kinds.require(self.problem, "votes", what)
        assert isinstance(self.problem, Problem)
        return self.problem

    def __repr__(self) -> str:
        problem = self.problem
        return (
            f"<Fit of {self.model.name} by {self.method}: {int(problem.judge_votes.sum())} {self.model.data}, "
            f"{len(problem.items)} items, {len(problem.judges)} judges, checks {self.level}>"
        )


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
    """Fit a model of a judge panel to a table of votes or labels.

    Parameters
    ----------
    votes : path, dataframe, Votes or Labels
        One row per vote: judge, first, second, winner and optionally criterion, context, run; see
        :func:`voirdire.tables.votes.read_votes`. Or one row per label: judge, item, label and optionally criterion; see
        :func:`voirdire.tables.labels.read_labels`. Which it is, is told by the columns.
    criteria : path, dataframe or Votes, optional
        Votes on the criteria themselves: the same columns, the items are criteria.
    model : str, path or Model, optional
        A shipped model's name or a model file. By default the position-aware model that the table's columns call for:
        ``maple-position`` with a criterion column, else ``crowd-bt-position``; for labels ``dawid-skene``.
    method : "laplace", "nuts" or "map"
        Laplace gives intervals at once; NUTS samples the posterior; map gives the mode alone.
    prob : float
        Probability of the intervals, between 0 and 1.
    seed : int
        Seed of the draws.
    priors : mapping, optional
        Changes to the model file's numbers, e.g. ``{"reliability": {"a": 8}}``; recorded in the result.
    anchors : path or dataframe, optional
        People's answers to some comparisons: first, second, winner and optionally criterion, without a judge. For
        labels, items whose class is known: item, label and optionally criterion; they inform the judges' matrices and
        the shares jointly with the rest.
    anchor_mode : "joint" or "cut", optional
        joint: anchors enter the likelihood beside the votes. cut: judges are known by the anchors alone, so that a
        wrong consensus cannot talk them down. By default what predicts left-out anchors best, which the result says.
    families : mapping, path or dataframe, optional
        Judges that share a base model (judge to family, or columns judge and family): they learn from each other's
        anchors, and their votes are discounted as far as they agree beyond the model. By default near-copies are found
        and discounted, which the result says; ``{}`` takes every judge as independent.
    levels : sequence, optional
        For labels: all labels there may be; one outside is an error.
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
        The table, the model or the request is wrong.

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
    _check_request(method, prob, sampler, seed, draws, warmup, chains)
    _check_anchor_request(anchors, anchor_mode)
    table = read_table(votes, levels=levels, votes=True)
    notes: list[str] = []
    if model is None:
        model, why = kinds.default_model(table)
        notes.append(f"No model was named: {model}, because {why}.")
    spec = load_model(model).with_priors(priors)
    kinds.check_kind(spec, table)
    notes += [f"Prior changed: {section}.{key} = {value:g}." for section, key, value in spec.overrides]
    how = (method, seed, sampler, (chains, warmup, draws), progress)
    problem: Posed
    anchored: Anchored | None = None
    if isinstance(table, Votes):
        _not_for("votes", {"levels": levels, "classes": classes})
        people = None if anchors is None else read_anchors(anchors, table)
        on_criteria = None if criteria is None else read_votes(criteria, name="votes on criteria")
        posed = pose(spec, table, on_criteria, anchors=people)
        notes += () if people is None else people.notes
        mode, posed, grouped = _in_families(posed, families, notes)
        if on_criteria is not None and posed.criteria_votes is None:
            notes.append(
                f"The votes on criteria are not used: {spec.name} takes all criteria as equally important."
            )
        problem = posed
        if people is None:
            posterior, found, stats = _infer(posed, mode, *how)
        else:
            posterior, found, stats, anchored = _infer_anchored(posed, mode, grouped, anchor_mode, how)
            notes.append(_how(anchored, anchor_mode))
    else:
        cut = anchor_mode if anchor_mode == "cut" else None
        _not_for(spec.data, {"criteria": criteria, "families": families, "anchor_mode='cut'": cut})
        from voirdire.infer.mode import find_mode

        problem = kinds.pose_rated(spec, table, classes=classes, anchors=anchors)
        posterior, found, stats = _infer(problem, find_mode(problem), *how)
    return Fit(
        problem,
        posterior,
        method,
        sampler if method == "nuts" else "",
        seed,
        prob,
        time.perf_counter() - start,
        _versions(method, sampler),
        tuple(found),
        tuple(notes),
        stats,
        anchored,
    )


def _not_for(data: str, given: dict[str, object]) -> None:
    problems = [
        f"{name if '=' in name else name + '='} is not for tables of {data}; leave it out"
        for name, value in given.items()
        if value is not None
    ]
    if problems:
        raise InputError(problems)


def _infer_anchored(
    problem: Problem, mode: Mode, grouped: dict[str, str] | None, anchor_mode: str | None, how: Any
) -> tuple[Posterior, list[Check], dict[str, npt.NDArray[Any]], Anchored]:
    from voirdire.anchors import use

    method, seed = how[:2]
    alone = np.ones(len(problem.judges))
    discount = alone if problem.discount is None else problem.discount
    plan = use.plan(problem, grouped, discount, anchor_mode, method)
    if plan.mode == "cut":
        posterior, found, stats = _infer_cut(problem, plan.evidence, method, seed)
    else:
        posterior, found, stats = _infer(problem, mode, *how)
    return posterior, found, stats, use.result(problem, plan, posterior)


def _in_families(
    problem: Problem, families: object, notes: list[str]
) -> tuple[Mode, Problem, dict[str, str] | None]:
    """The mode, the problem with the votes of families discounted, and the family of each judge."""
    from voirdire.anchors.families import read_families
    from voirdire.infer.mode import find_mode
    from voirdire.trust.copies import near_copies
    from voirdire.trust.discount import family_discount

    grouped = None if families is None else read_families(families, problem.judges)
    mode = find_mode(problem)
    copies = near_copies(problem, mode.x) if grouped is None else {}
    if not (grouped or copies):
        return mode, problem, grouped
    discount = family_discount(problem, grouped or copies, mode.x)
    least = int(np.argmin(discount))
    if grouped is not None:
        notes.append(
            f"Families: an answer counts for {discount[least]:.2f} of an independent one in the closest family "
            f"({grouped[problem.judges[least]]!r})."
        )
    else:
        groups = [judge for judge in problem.judges if list(copies.values()).count(copies[judge]) > 1]
        notes.append(
            f"Near-copies: {check.listed(groups)} answering alike far beyond the model, so their answers "
            f"are discounted "
            f"(to {discount[least]:.2f} of one at least). Name families to say which judges belong together."
        )
    again = pose(
        problem.model, problem.votes, problem.criteria_votes, anchors=problem.anchors, discount=discount
    )
    return find_mode(again), again, grouped


def _how(anchored: Anchored, asked: str | None) -> str:
    """What was done with the anchors, in words."""
    from voirdire.anchors.choose import DEFAULT

    if asked is not None and not anchored.methods:
        return f"Anchors are used as asked: {asked}."
    if not anchored.methods:
        why = "nothing else was possible"
    elif anchored.chosen in DEFAULT.values():
        why = "no other way predicts left-out anchors clearly better"
    else:
        why = "it predicts left-out anchors clearly better than the default"
    judges = "the anchors alone" if anchored.mode == "cut" else "votes and anchors together"
    return f"Anchors: {anchored.chosen}, because {why}; items and judges are shown as {judges} have them."


def _infer_cut(
    problem: Problem, evidence: Any, method: str, seed: int
) -> tuple[Posterior, list[Check], dict[str, npt.NDArray[Any]]]:
    from voirdire.anchors.candidates import coin_means
    from voirdire.anchors.cut import cut_draws, cut_mode

    if method == "map":
        return Posterior(problem.program, cut_mode(problem, *coin_means(evidence)), None), [], {}
    draws, modes = cut_draws(problem, evidence, LAPLACE_DRAWS, np.random.default_rng(seed))
    worst = max(modes, key=lambda mode: mode.gradient)
    found = [check.convergence(worst.gradient, all(mode.converged for mode in modes))]
    return Posterior(problem.program, draws.mean(axis=0), draws[None]), found, {}


def _infer(
    problem: Posed,
    mode: Mode,
    method: str,
    seed: int,
    sampler: str,
    sizes: tuple[int, int, int],
    progress: Progress | None,
) -> tuple[Posterior, list[Check], dict[str, npt.NDArray[Any]]]:
    from voirdire.infer import mirror
    from voirdire.infer.laplace import laplace
    from voirdire.infer.refine import laplace_draws

    program = problem.program
    found = [check.convergence(mode.gradient, mode.converged)]
    if method == "map":
        if program.has_mirror:
            _, ratio, _ = mirror.fold(program, mode.x, problem.data)
            found.append(kinds.mirror_check(problem, mirror.mass_from_oriented(ratio), at_mode=True))
        return Posterior(program, mode.x, None), found, {}
    approximation = laplace(problem, mode)
    if method == "laplace":
        found.append(check.curvature(approximation.smallest_curvature))
        draws, k = laplace_draws(problem, approximation, LAPLACE_DRAWS, np.random.default_rng(seed))
        draws = draws[None]
        found += check.importance(k)
        if program.has_mirror:
            draws, ratio, turned = mirror.fold(program, draws, problem.data)
            # weighted draws are those of the folded posterior, as a sampler's that targets both orientations alike
            unweighted = k is None
            mass = (
                mirror.mass_from_unweighed(ratio, turned) if unweighted else mirror.mass_from_symmetric(ratio)
            )
            found.append(kinds.mirror_check(problem, mass))
        return Posterior(program, approximation.mean, draws), found, {}
    run, symmetric = _nuts(problem, approximation, seed, sampler, sizes, progress)
    draws = run.x
    if program.has_mirror:
        draws, ratio, turned = mirror.fold(program, draws, problem.data)
        mass = mirror.mass_from_symmetric(ratio) if symmetric else mirror.mass_from_unweighed(ratio, turned)
        found.append(kinds.mirror_check(problem, mass))
        if not symmetric and turned.any():
            found.append(check.both_modes(float(turned.mean())))
    from voirdire.infer.diagnose import diagnose

    found += check.sampling(diagnose(program, draws, run.diverging, run.energy))
    stats = {"diverging": run.diverging, "energy": run.energy, "n_steps": run.steps}
    return Posterior(program, draws.mean(axis=(0, 1)), draws), found, stats


def _nuts(
    problem: Posed,
    approximation: Any,
    seed: int,
    sampler: str,
    sizes: tuple[int, int, int],
    progress: Progress | None,
) -> tuple[Any, bool]:
    """Draws, and whether the sampler targeted both orientations alike."""
    chains, warmup, draws = sizes
    if sampler != "numpyro":
        from voirdire.infer.pymc_samplers import sample_pymc

        return sample_pymc(problem, sampler, seed, chains, warmup, draws), False
    from voirdire.infer.nuts import sample

    done, lock, total = 0, threading.Lock(), chains * (warmup + draws)

    def tell(count: int) -> None:
        nonlocal done
        with lock:
            done = min(done + count, total)
            if progress is not None:
                progress(done, total)

    run = sample(problem, approximation, seed=seed, chains=chains, warmup=warmup, draws=draws, progress=tell)
    return run, True


def _check_request(
    method: str, prob: float, sampler: str, seed: int, draws: int, warmup: int, chains: int
) -> None:
    problems = []
    if method not in METHODS:
        problems.append(f"method {method!r} is none of {', '.join(METHODS)}")
    if sampler not in SAMPLERS:
        problems.append(f"sampler {sampler!r} is none of {', '.join(SAMPLERS)}")
    if not 0.0 < prob < 1.0:
        problems.append(f"prob {prob} is not between 0 and 1; 0.9 gives 90% intervals")
    if seed < 0:
        problems.append(f"seed {seed} is negative; use a whole number from 0")
    for name, value, least in (("draws", draws, 4), ("warmup", warmup, 20), ("chains", chains, 1)):
        if value < least:
            problems.append(f"{name} {value} is too few; at least {least}")
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
    return {"python": platform.python_version()} | {name: metadata.version(name) for name in names}
