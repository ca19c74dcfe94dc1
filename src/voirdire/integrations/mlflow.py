"""Panel of judges as one scorer of MLflow.

::

    from voirdire.integrations.mlflow import panel_scorer

    mlflow.genai.evaluate(data=..., scorers=[panel_scorer([one_judge, another_judge], name="correct")])

Each judge's feedback is logged, too, so that ``voirdire.read`` finds the panel in the traces.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mlflow.entities import AssessmentSource, Feedback
from mlflow.genai.scorers import Scorer, scorer

from voirdire.errors import InputError
from voirdire.integrations.panel import verdict
from voirdire.kinds.fit import Fit


def panel_scorer(
    judges: Sequence[Scorer],
    *,
    name: str = "panel",
    levels: Sequence[object] | None = None,
    positive: object = None,
    scale: Sequence[float] | None = None,
    fit: Fit | str | Path | None = None,
) -> Scorer:
    """Make a scorer that asks several judges, and returns the panel's verdict and their answers.

    Parameters
    ----------
    judges : sequence of Scorer
        Judges made by ``make_judge`` or ``@scorer``, with different names; each returns one feedback or value.
    name : str
        Name of the judges' feedback, with the judge as source; the panel's feedback is ``NAME_panel``.
    levels, positive, scale, fit
        See :func:`.panel.verdict`.

    Returns
    -------
    Scorer
        Scorer that returns a list of feedback, the panel's first: value is the probability (or score), metadata have
        low, high and the number of judges. A judge that fails is left out of the panel, and its error is logged.

    Raises
    ------
    InputError
        There are no judges, one is no scorer, or two have the same name. The scorer raises it for an invalid answer.
    """
    names = [getattr(entry, "name", None) for entry in judges]
    if not judges or not all(isinstance(entry, Scorer) for entry in judges) or len({*names}) < len(names):
        raise InputError(
            f"the judges {names} are no panel; give scorers of different names (made by make_judge or @scorer)"
        )

    @scorer(name=f"{name}_panel")
    def score_panel(
        inputs: Any = None, outputs: Any = None, expectations: Any = None, trace: Any = None
    ) -> list[Feedback]:
        feedbacks = []
        for judge in judges:
            source = AssessmentSource(source_type="LLM_JUDGE", source_id=judge.name)
            try:
                result = judge.run(inputs=inputs, outputs=outputs, expectations=expectations, trace=trace)
            except Exception as error:  # a failing judge counts as without an answer
                result = Feedback(error=error)
            if isinstance(result, list) or result is None:
                raise InputError(f"the judge {judge.name!r} gave {result!r}; give one feedback or value")
            if not isinstance(result, Feedback):
                result = Feedback(value=result)
            result.name, result.source = name, source
            feedbacks.append(result)
        valid = [entry for entry in feedbacks if entry.error is None]
        source = AssessmentSource(source_type="CODE", source_id="voirdire")
        common: dict[str, Any] = {"name": f"{name}_panel", "source": source}
        if not valid:
            return [Feedback(**common, error="no judge of the panel gave an answer"), *feedbacks]
        answers = [getattr(entry.value, "value", entry.value) for entry in valid]  # a rating is an enumeration
        judge_names = [str(entry.source.source_id) for entry in valid]
        result = verdict(answers, judge_names, levels=levels, positive=positive, scale=scale, fit=fit)
        value = result.pop("value")
        rationale = ", ".join(f"{judge}: {answer}" for judge, answer in zip(judge_names, answers, strict=True))
        metadata = {key: str(entry) for key, entry in result.items()}
        return [Feedback(**common, value=value, rationale=rationale, metadata=metadata), *feedbacks]

    return score_panel
