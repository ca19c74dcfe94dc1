"""Scores about the target: the scores that people would give items, given a panel's scores.

The panel's score of an item is s = theta + b: theta is people's score, and b an error that all judges of the panel
share. The judges' answers say nothing about b, however many there are. With gap = sd(b) / sd(theta), sd(s) the spread
of the items, and both theta and b normal,

    theta = kept s + sd(s) (kept (1 - kept))^(1/2) z,   kept = 1 / (1 + gap^2),   z ~ Normal(0, 1),

for deviations of s and theta from their means, in every draw. The prior is log gap ~ Normal(mean, sd). People's answers
about some items inform the gap further (:mod:`voirdire.kinds.gap_posterior`).

The prior is learned across public tables by ``benchmarks/panel_gaps.py`` (results in benchmarks/README.md): mean and
standard deviation, over the tables, of the logarithm of the gap.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from voirdire.errors import InputError
from voirdire.infer.posterior import Posterior, integrated_scores
from voirdire.kinds.columns import Columns
from voirdire.kinds.gap_posterior import GapPosterior, moments_over_items
from voirdire.model.problem import PANEL, TARGET, Problem
from voirdire.model.target_answers import TargetAnswers
from voirdire.model.terms.term import Values
from voirdire.typing import Floats

LOG_GAP_MEAN = 0.01
LOG_GAP_SD = 0.64


SUBJECTS = TARGET, PANEL
JUDGE_KINDS = "models", "people"
INTERVAL_PROBABILITY = 0.9  # probability of the interval in sentences
MIN_PANEL_PROBABILITY = 0.95  # probability above which a panel is sure of the order of a pair
MAX_ITEMS = 60  # largest number of items in the sentence about pairs
GAP_SEED = 4501  # seed of random numbers that are independent of all others
# a posterior takes a second
_GAP_CACHE: WeakKeyDictionary[TargetAnswers, dict[int, GapPosterior]] = WeakKeyDictionary()


@dataclass(frozen=True)
class Gap:
    """Distribution of the gap, with a normal logarithm.

    Attributes
    ----------
    mean, sd : float
        Mean and standard deviation of log gap.
    """

    mean: float = LOG_GAP_MEAN
    sd: float = LOG_GAP_SD

    def to_target(self, drawn: Floats, spread: Floats | None = None) -> Floats:
        """Draw scores about the target from draws about the panel, shape (draws, items).

        Parameters
        ----------
        drawn : array, shape (draws, items)
            Scores, in any unit.
        spread : array, shape (draws,), optional
            Standard deviation of the items; by default that of each draw.

        Examples
        --------
        >>> drawn = np.array([[1.0, -1.0]]) + np.zeros((4000, 1))
        >>> found = Gap(0.0, 1e-6).to_target(drawn)
        >>> found.mean(axis=0).round(1).tolist(), found.std(axis=0).round(1).tolist()
        ([0.5, -0.5], [0.7, 0.7])
        """
        rng = np.random.default_rng(GAP_SEED)
        kept = self._shared_variance_draws(rng, len(drawn))
        centre, size = moments_over_items(drawn)
        size = size if spread is None else spread[:, None]
        noise = size * np.sqrt(kept * (1.0 - kept)) * rng.standard_normal(drawn.shape)
        return np.asarray(centre + kept * (drawn - centre) + noise)

    def expected_scores(self, score: Floats) -> Floats:
        """Compute expected scores of people, in the order of the panel's scores, shape (items,)."""
        centre, kept = score.mean(), self._shared_variance_draws(np.random.default_rng(GAP_SEED), 4000).mean()
        return np.asarray(centre + kept * (score - centre))

    def _shared_variance_draws(self, rng: np.random.Generator, draws: int) -> Floats:
        gap = np.exp(self.mean + self.sd * rng.standard_normal((draws, 1)))
        return np.asarray(1.0 / (1.0 + gap**2))


def check_result_subject(about: str | None, judges: str | None) -> None:
    """Raise if the subject of results or the kind of judges is unknown, or if the two contradict each other.

    Raises
    ------
    InputError
    """
    problems = [
        f"{name} {value!r} is none of {', '.join(words)}"
        for name, value, words in (("about", about, SUBJECTS), ("judges", judges, JUDGE_KINDS))
        if value is not None and value not in words
    ]
    if judges == "people" and about == TARGET:
        problems.append(
            "judges='people' (--judges people) has results about the panel, and about='target' (--about target) about "
            "what it stands in for; leave one of both out"
        )
    if problems:
        raise InputError(problems)


def find_gap(problem: Problem, drawn: Floats, places: Mapping[str, int] | None = None) -> Gap | GapPosterior:
    """Find the gap of a problem's panel: its prior from public tables, or its posterior given people's answers.

    Parameters
    ----------
    drawn : array, shape (draws, items)
        Scores about the panel; one row if there are no draws.
    places : mapping, optional
        Column of the draws for each name, if the columns are not the items of the problem.
    """
    if problem.target_answers is None:
        return Gap()
    if places is None:
        places = {name: index for index, name in enumerate(problem.items)}
    cached = _GAP_CACHE.setdefault(problem.target_answers, {})
    key = hash((drawn.shape, drawn.tobytes()))
    if key not in cached:
        cached[key] = GapPosterior(problem.target_answers, places, drawn, LOG_GAP_MEAN, LOG_GAP_SD)
    return cached[key]


def learned_gap(problem: Problem, values: Values | None, prob: float) -> dict[str, Any] | None:
    """Compute the correlation of the panel's and people's scores, given people's answers; None without these."""
    answers = problem.target_answers
    if answers is None or values is None:
        return None
    gap = find_gap(problem, integrated_scores(problem.density, values))
    assert isinstance(gap, GapPosterior)
    correlation, low, high = gap.panel_people_correlation(prob)
    interval = {"correlation": correlation, "low": low, "high": high}
    return {"answers": answers.answers, "items": len(answers.items), **interval}


def describe_gap(problem: Problem, posterior: Posterior) -> list[str]:
    """Write a sentence on the gap, given people's answers; none without these."""
    gap = learned_gap(problem, posterior.values, INTERVAL_PROBABILITY)
    if gap is None:
        return []
    times = "once" if gap["answers"] == 1 else f"{gap['answers']:,} times"
    item_words = "one item" if gap["items"] == 1 else f"{gap['items']:,} items"
    return [
        f"People answered {times} about {item_words}: the panel's and people's scores of "
        f"items correlate by {gap['correlation']:.2f} ({gap['low']:.2f} to {gap['high']:.2f}, "
        f"{INTERVAL_PROBABILITY:.0%} interval; judges are estimated from the panel's answers alone)."
    ]


def target_and_panel_scores(problem: Problem, values: Values) -> tuple[Floats, Floats]:
    """Draw scores about the target and about the panel, shape (draws, items) each."""
    scores = integrated_scores(problem.density, values)
    error = values.get("panel_error")
    if error is None:
        return find_gap(problem, scores).to_target(scores), scores
    # people ranked some items: strengths are about people, and the panel's error was fitted
    return scores, integrated_scores(problem.density, {**values, "strength": values["strength"] + error[..., 0, :, :]})


def shown_draws(problem: Problem, values: Values) -> Floats:
    """Draw the scores that a fit shows, shape (draws, items)."""
    if problem.about is None:
        return integrated_scores(problem.density, values)
    return target_and_panel_scores(problem, values)[problem.about == PANEL]


def with_other_score(about: str, target: Columns, panel: Columns) -> Columns:
    """Add to the table about one subject the score and interval about the other (``score_panel``, ...).

    Examples
    --------
    >>> columns = dict.fromkeys(("score", "low", "high"), 1.0)
    >>> list(with_other_score("target", columns, columns))
    ['score', 'low', 'high', 'score_panel', 'low_panel', 'high_panel']
    """
    main, other, name = (target, panel, PANEL) if about == TARGET else (panel, target, TARGET)
    return main | {f"{key}_{name}": other[key] for key in ("score", "low", "high")}


def describe_agreement(
    problem: Problem, posterior: Posterior, called: str = "items", anchored: bool = False
) -> list[str]:
    """Write a sentence on the pairs of which the panel is sure: its mean probability, and people's agreement.

    Parameters
    ----------
    called : str
        Plural noun for the items.
    anchored : bool
        Whether people's answers are part of the density.
    """
    values = posterior.values
    if values is None or len(problem.items) < 2:
        return []
    # a quarter of the draws is enough, and saves memory
    thinned = {name: value[::4] for name, value in values.items()}
    target, panel = (part[:, :MAX_ITEMS] for part in target_and_panel_scores(problem, thinned))
    first, second = np.triu_indices(panel.shape[1], 1)
    probability = (panel[:, first] > panel[:, second]).mean(axis=0)
    is_reversed = probability < 0.5
    probability = np.where(is_reversed, 1.0 - probability, probability)
    is_sure = probability > MIN_PANEL_PROBABILITY
    if not is_sure.any():
        return []
    agreement = (target[:, first[is_sure]] > target[:, second[is_sure]]).mean(axis=0)
    agreement = float(np.where(is_reversed[is_sure], 1.0 - agreement, agreement).mean())
    count = int(is_sure.sum())
    among = f" among the first {MAX_ITEMS} {called}" if len(problem.items) > MAX_ITEMS else f" of {called}"
    pairs = f"{count:,} {'pair' if count == 1 else 'pairs'}{among}"
    reason = "if it differs from people as panels in public tables do"
    if "panel_error" in values:
        reason = "judging by their rankings"
    elif problem.target_answers is not None:
        reason = "judging by their answers"
    elif anchored:
        reason = (
            "if it differs from people as panels in public tables do (the anchors inform items and judges, but not "
            "this difference)"
        )
    subject_note = (
        "If these judges are models that stand in for people, say judges='models' (--judges models)"
        if problem.about is None
        else f"Scores and ranks are about the {problem.about}"
    )
    return [
        f"The panel is more than {MIN_PANEL_PROBABILITY:.0%} sure of the order of {pairs} "
        f"({probability[is_sure].mean():.0%} on average); people would agree with {agreement:.0%} of these, "
        f"{reason}. {subject_note}."
    ]
