"""A panel of judges as one scorer of MLflow.

::

    from voirdire.integrations.mlflow import panel_scorer

    mlflow.genai.evaluate(data=..., scorers=[panel_scorer([one_judge, another_judge], name="correct")])

Each judge's feedback is logged beside the panel's, so that ``voirdire.read`` finds the panel in the traces.
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
    """Make a scorer that asks several judges, and gives the panel's verdict with theirs.

    Parameters
    ----------
    judges : sequence of Scorer
        Judges that ``make_judge`` or ``@scorer`` made, of different names; each gives one feedback or value.
    name : str
        Of the judges' feedback, whose sources are the judges; the panel's own is ``NAME_panel``.
    levels, positive, scale, fit
        As of :func:`.panel.verdict`.

    Returns
    -------
    Scorer
        Its list of feedback begins with the panel's: value is the probability (or score), metadata have low, high and
        the number of judges. A judge that fails is left out of it, and its error is logged.

    Raises
    ------
    InputError
        There are no judges, one is no scorer, or two have one name; when it is asked, an answer is wrong.
    """
    names = [getattr(one, "name", None) for one in judges]
    if not judges or not all(isinstance(one, Scorer) for one in judges) or len({*names}) < len(names):
        raise InputError(
            f"the judges {names} are no panel; give scorers of different names (made by make_judge or @scorer)"
        )

    @scorer(name=f"{name}_panel")
    def score_panel(
        inputs: Any = None, outputs: Any = None, expectations: Any = None, trace: Any = None
    ) -> list[Feedback]:
        said = []
        for judge in judges:
            source = AssessmentSource(source_type="LLM_JUDGE", source_id=judge.name)
            try:
                found = judge.run(inputs=inputs, outputs=outputs, expectations=expectations, trace=trace)
            except Exception as error:  # a judge that fails is one that says nothing
                found = Feedback(error=error)
            if isinstance(found, list) or found is None:
                raise InputError(f"the judge {judge.name!r} gave {found!r}; give one feedback or value")
            if not isinstance(found, Feedback):
                found = Feedback(value=found)
            found.name, found.source = name, source
            said.append(found)
        given = [one for one in said if one.error is None]
        source = AssessmentSource(source_type="CODE", source_id="voirdire")
        about: dict[str, Any] = {"name": f"{name}_panel", "source": source}
        if not given:
            return [Feedback(**about, error="no judge of the panel gave an answer"), *said]
        answers = [getattr(one.value, "value", one.value) for one in given]  # a rating is an enumeration
        who = [str(one.source.source_id) for one in given]
        found = verdict(answers, who, levels=levels, positive=positive, scale=scale, fit=fit)
        value = found.pop("value")
        why = ", ".join(f"{judge}: {answer}" for judge, answer in zip(who, answers, strict=True))
        metadata = {key: str(one) for key, one in found.items()}
        return [Feedback(**about, value=value, rationale=why, metadata=metadata), *said]

    return score_panel
