"""What may be wrong with a fit, each as a level, a number and a plain sentence that says what to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from voirdire.model.problem import Problem
from voirdire.typing import Floats, Ints

Level = Literal["ok", "warn", "fail"]

RHAT = 1.01
ESS = 400.0
MIRROR_WARN = 0.05
MIRROR_FAIL = 0.30
REVERSED_WARN = 0.1  # share of a panel's information that is used reversed
EBFMI = 0.3
LARGEST_K = 0.7  # of importance weights (Vehtari et al. 2024)
REVERSED = (
    "answers are used reversed. Look at their prompts and answers; if they are many, check the panel's orientation "
    "with human answers."
)
_NAMED = 5  # names listed in a sentence before it only counts


@dataclass(frozen=True)
class Check:
    """One check.

    Parameters
    ----------
    check : str
        Its name, e.g. "mirror" or "rhat".
    level : "ok", "warn" or "fail"
    value : float or None
    message : str
        One sentence, with what to do where the level is not "ok".
    """

    check: str
    level: Level
    value: float | None
    message: str

    def as_dict(self) -> dict[str, Any]:
        """Return the check as a plain dictionary."""
        return asdict(self)


def worst(checks: Sequence[Check]) -> Level:
    """Return the worst level among the checks.

    Examples
    --------
    >>> worst([Check("a", "ok", 1.0, ""), Check("b", "warn", 2.0, "")])
    'warn'
    """
    order: list[Level] = ["ok", "warn", "fail"]
    return order[max((order.index(check.level) for check in checks), default=0)]


def convergence(gradient: float, converged: bool) -> Check:
    """Whether the search for the mode arrived."""
    if converged:
        return Check(
            "convergence", "ok", gradient, f"The mode was found (largest gradient component {gradient:.1e})."
        )
    return Check(
        "convergence",
        "fail",
        gradient,
        f"The search for the mode stopped with a gradient of {gradient:.1e}; the numbers below are not the "
        "mode's. Use tighter priors or report the table.",
    )


def curvature(smallest: float) -> Check:
    """Whether the posterior is curved in every direction at the mode."""
    if smallest > 0:
        return Check(
            "curvature", "ok", smallest, "The posterior falls off in every direction around the mode."
        )
    return Check(
        "curvature",
        "fail",
        smallest,
        "The mode is no proper maximum (a direction of the posterior is flat or rises), so Laplace intervals are "
        "not to be trusted; use method='nuts' or tighter priors.",
    )


def mirror(mass: float, at_mode: bool = False, anchored: bool = False, data: str = "votes") -> Check:
    """How much posterior mass the opposite orientation has."""
    level: Level = "fail" if mass > MIRROR_FAIL else "warn" if mass > MIRROR_WARN else "ok"
    where = " (at the mode alone)" if at_mode else ""
    message = f"{mass:.2g} posterior probability{where} that this panel is wrong as a whole: every strength reversed."
    if anchored:
        message += " Human answers and the prior tell the two orientations apart."
    else:
        message += (
            f" The {data} cannot settle it (their likelihood is exactly symmetric: 0.5 under a flat prior), so the "
            "orientation rests on the prior alone."
        )
    if level != "ok":
        answers = "scores of some of these items" if data == "scores" else "answers to some of these pairs"
        message += f" Collect human {answers} and pass them as anchors."
    return Check("mirror", level, mass, message)


def turned_judges(entry: Check, worse: list[str], share: float) -> Check:
    """The mirror check with the judges that the chosen orientation makes worse than chance.

    Parameters
    ----------
    worse : list of str
    share : float
        Share of the panel's information that is used reversed; much of it is a sign of the wrong orientation.
    """
    if not worse or share <= REVERSED_WARN:
        return entry  # a few judges that say little are the check below-chance's matter
    level: Level = "warn" if entry.level == "ok" else entry.level
    message = (
        f"{entry.message} This orientation makes {listed(worse, verb=False)} worse than chance: a warning "
        "sign that only human answers (anchors) can settle."
    )
    return Check(entry.check, level, entry.value, message)


def importance(k: float | None) -> list[Check]:
    """Whether importance weights could correct the Laplace draws, by the tail shape of the weights; nothing if so."""
    if k is None or k <= LARGEST_K:
        return []
    message = (
        f"The posterior is far from the normal approximation (Pareto k {k:.2f}, above {LARGEST_K}): intervals may be "
        "too narrow; use method='nuts'."
    )
    return [Check("approximation", "warn", k, message)]


def both_modes(share: float) -> Check:
    """Whether chains of a sampler that sees one orientation's prior sat in the other."""
    message = (
        f"{share:.0%} of the draws lay in the mirrored mode and were folded back: this sampler cannot weigh the two "
        "modes. Use sampler='numpyro', which targets both alike."
    )
    return Check("both-modes", "warn", share, message)


def below_chance(
    problem: Problem, summary: dict[str, Any], chance: float = 0.5, instead: str = REVERSED
) -> list[Check]:
    """Judges whose reliability is below that of guessing with the interval's probability.

    ``instead`` says what their answers are used for, and what to do.
    """
    high = np.asarray(summary["reliability_high"], dtype=float)
    if np.isnan(high).all():
        return []
    names = [problem.judges[index] for index in np.flatnonzero(high < chance)]
    if not names:
        return [Check("below-chance", "ok", 0.0, "No judge is clearly worse than chance.")]
    message = f"{listed(names)} clearly worse than chance: their {instead}"
    return [Check("below-chance", "warn", float(len(names)), message)]


def constant_judges(
    judges: tuple[str, ...], judge: Ints, answer: Ints | Floats, kind: str, so: str
) -> list[Check]:
    """Judges that gave one answer to everything.

    Parameters
    ----------
    judge, answer : array, shape (answers,)
        Who gave what.
    kind, so : str
        What the answers are, and what follows, in words.

    Examples
    --------
    >>> constant_judges(("ann", "bob"), np.array([0, 0, 1, 1]), np.array([2, 2, 2, 3]), "score", "...")[0].message
    'ann is giving one score to everything: such answers say nothing about the items, ...'
    """
    size = len(judges)
    who = np.unique(np.stack([judge, answer]), axis=1)[0].astype(np.int64)  # once for each of its answers
    once = (np.bincount(judge, minlength=size) > 1) & (np.bincount(who, minlength=size) == 1)
    names = [judges[index] for index in np.flatnonzero(once)]
    if not names:
        return [Check("constant-judges", "ok", 0.0, f"No judge gives the same {kind} to everything.")]
    message = (
        f"{listed(names)} giving one {kind} to everything: such answers say nothing about the items, {so}"
    )
    return [Check("constant-judges", "warn", float(len(names)), message)]


def sampling(diagnostics: dict[str, float | str]) -> list[Check]:
    """R-hat, bulk and tail effective sample size, divergences and E-BFMI of a NUTS run."""
    rhat, bulk, tail = (float(diagnostics[key]) for key in ("rhat", "ess_bulk", "ess_tail"))
    worst_rhat, worst_bulk = diagnostics["rhat_of"], diagnostics["ess_bulk_of"]
    divergences, ebfmi = float(diagnostics["divergences"]), float(diagnostics["ebfmi"])
    more = "draw more (draws=, warmup=)"
    checks = [
        _threshold(
            "rhat",
            rhat,
            rhat <= RHAT,
            f"Largest R-hat {rhat:.4f} ({worst_rhat})",
            f"chains disagree; {more}",
        ),
        _threshold(
            "ess_bulk",
            bulk,
            bulk >= ESS,
            f"Smallest bulk effective sample size {bulk:.0f} ({worst_bulk})",
            f"means are noisy; {more}",
        ),
        _threshold(
            "ess_tail",
            tail,
            tail >= ESS,
            f"Smallest tail effective sample size {tail:.0f} ({diagnostics['ess_tail_of']})",
            f"interval ends are noisy; {more}",
        ),
        _threshold(
            "divergences",
            divergences,
            divergences == 0,
            f"{divergences:.0f} divergent transitions",
            "the sampler missed a narrow region; use tighter priors",
        ),
        _threshold(
            "ebfmi",
            ebfmi,
            ebfmi >= EBFMI,
            f"Smallest E-BFMI {ebfmi:.2f}",
            f"the energy is explored slowly; {more}",
        ),
    ]
    return checks


def _threshold(name: str, value: float, fine: bool, fact: str, otherwise: str) -> Check:
    if fine:
        return Check(name, "ok", value, f"{fact}.")
    level: Level = "fail" if name in ("rhat", "divergences") else "warn"
    return Check(name, level, value if np.isfinite(value) else None, f"{fact}: {otherwise}.")


def listed(names: list[str], verb: bool = True) -> str:
    """Return the first few names and how many more there are, with the verb that fits."""
    shown = ", ".join(names[:_NAMED])
    rest = len(names) - _NAMED
    text = f"{shown} and {rest} more" if rest > 0 else shown
    return f"{text} {'is' if len(names) == 1 else 'are'}" if verb else text


def with_turned_judges(entry: Check, problem: Problem, summary: dict[str, Any]) -> Check:
    """The mirror check with the judges that are worse than chance; other checks, and where people answered, as is."""
    reliability = np.asarray(summary["reliability"], dtype=float)
    anchored = getattr(problem, "anchors", None) is not None
    if entry.check != "mirror" or anchored or np.isnan(reliability).any():
        return entry
    information = problem.judge_votes * np.abs(2.0 * reliability - 1.0)
    worse = reliability < 0.5
    share = float(information[worse].sum() / max(information.sum(), 1e-300))
    return turned_judges(entry, [problem.judges[k] for k in np.flatnonzero(worse)], share)
