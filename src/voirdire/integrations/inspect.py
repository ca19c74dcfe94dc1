"""Panels of graders in Inspect: a score reducer, a metric, and a scorer with several models.

::

    from voirdire.integrations.inspect import committee

    Task(dataset=..., solver=..., scorer=committee(["openai/gpt-4o", "google/gemini-2.5-pro"]))

Each grader's answer is in the score's metadata, ``panel``; ``voirdire.read`` reads it from the log.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from inspect_ai.model import Model
from inspect_ai.scorer import (
    Metric,
    SampleScore,
    Score,
    Scorer,
    ScoreReducer,
    metric,
    model_graded_fact,
    model_graded_qa,
    multi_scorer,
    score_reducer,
    scorer,
)

from voirdire.errors import InputError
from voirdire.integrations.panel import fit_quality, verdict

REDUCER_NAME = "voirdire_panel"


@score_reducer(name=REDUCER_NAME)
def panel(
    judges: Sequence[str] | None = None,
    levels: Sequence[str] | None = None,
    positive: str | None = None,
    fit: str | None = None,
) -> ScoreReducer:
    """Reduce several graders' scores of a sample to the probability that it is good.

    The score's value is the probability. Its metadata have ``probability``, the result of :func:`.panel.verdict`, and
    ``panel``: judges, votes (None for graders that failed), size and failures.

    Parameters
    ----------
    judges : sequence of str, optional
        Names of the graders, in the order of the scores; by default their models.
    levels, positive : optional
        Possible grades, and the good one; see :func:`.panel.verdict`. Only labels are supported; for other scales fit
        the log (``voirdire fit LOG``).
    fit : path, optional
        A saved fit of the same graders, used for the probability.

    Returns
    -------
    ScoreReducer
        Reducer; it raises InputError if a grade is none of the levels.
    """

    def reduce_scores(scores: list[Score]) -> Score:
        if judges is not None and len(judges) != len(scores):
            raise InputError(f"{len(scores)} scores and the judges {list(judges)}; name as many as there are")
        names = [_grader_model(score, index) for index, score in enumerate(scores)] if judges is None else list(judges)
        failed = [isinstance(score.value, float) and score.value != score.value for score in scores]
        votes = [None if is_failed else score.value for score, is_failed in zip(scores, failed, strict=True)]
        failures = [
            {"index": index, "reason": scores[index].reason, "explanation": scores[index].explanation}
            for index, is_failed in enumerate(failed)
            if is_failed
        ]
        metadata = {"panel": {"judges": names, "votes": votes, "size": len(scores), "failures": failures}}
        answer = scores[0].answer if len({score.answer for score in scores}) == 1 else None
        answered = [(name, vote) for name, vote in zip(names, votes, strict=True) if vote is not None]
        if not answered:
            return Score.unscored(reason="grader_failed", answer=answer, metadata=metadata)
        panel_verdict = verdict(
            [v for _, v in answered], [n for n, _ in answered], levels=levels, positive=positive, fit=fit
        )
        explanation = ", ".join(f"{name}: {vote}" for name, vote in answered)
        return Score(
            value=panel_verdict["value"],
            answer=answer,
            explanation=explanation,
            metadata=metadata | {"probability": panel_verdict},
        )

    return reduce_scores


@metric
def panel_quality(levels: Sequence[str] | None = None, positive: str | None = None) -> Metric:
    """Fit all samples of the panel: share of good samples, effective number of judges, reliability of each.

    For scores by :func:`panel` or :func:`committee`; of several epochs Inspect passes only the first. For the values
    see :func:`.panel.fit_quality`.
    """

    def compute_quality(scores: list[SampleScore]) -> dict[str, float]:
        rows = []
        for index, sample in enumerate(scores):
            panel_data = (sample.score.metadata or {}).get("panel") or {}
            votes = zip(panel_data.get("judges", ()), panel_data.get("votes", ()), strict=True)
            rows += [(judge, str(sample.sample_id or index), vote) for judge, vote in votes if vote is not None]
        return fit_quality(rows, levels=levels, positive=positive)

    return compute_quality


@scorer(metrics=[panel_quality()])
def committee(
    models: Sequence[str | Model],
    template: str | None = None,
    instructions: str | None = None,
    grade_pattern: str | None = None,
    partial_credit: bool = False,
    fact: bool = False,
    fit: str | None = None,
) -> Scorer:
    """Ask several models to grade each sample, and give the probability that it is good.

    Parameters
    ----------
    models : sequence of str or Model
        At least two graders, resolved by Inspect's ``get_model``.
    template, instructions, grade_pattern, partial_credit
        See Inspect's ``model_graded_qa``, which asks and reads the answers: grades are C and I (and P).
    fact : bool
        True uses the template of ``model_graded_fact``.
    fit : path, optional
        See :func:`panel`.

    Raises
    ------
    InputError
        There are fewer than two models.
    """
    if isinstance(models, str) or len(models) < 2:
        raise InputError(f"models {models!r} are no committee; give a list of two at least")
    ask = model_graded_fact if fact else model_graded_qa
    levels = ["C", "P", "I"] if partial_credit else ["C", "I"]
    graders = [
        ask(template, instructions, grade_pattern, partial_credit=partial_credit, model=model) for model in models
    ]
    return multi_scorer(graders, panel([str(model) for model in models], levels, "C", fit))


def _grader_model(score: Score, index: int) -> str:
    """Return the grader's model from Inspect's metadata, else a name by its position."""
    grading: Any = (score.metadata or {}).get("grading")
    last = grading[-1] if isinstance(grading, list) and grading else None
    return str(getattr(last, "model", None) or f"grader {index + 1}")
