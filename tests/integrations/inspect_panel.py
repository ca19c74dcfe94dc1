"""Run by a Python that has inspect_ai and voirdire: a committee of mock models.

Prints as JSON where the log is, what the metrics are, what each sample has, and what Inspect's own panel is read as.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Score, model_graded_qa
from inspect_ai.solver import solver

from voirdire.errors import InputError
from voirdire.integrations.inspect import committee, panel

SAMPLES = 24


def grader(name: str, wrong: int) -> Any:
    """A model that grades right but for every ``wrong``th question, and the last, of which it says nothing."""

    def answer(messages: Any, *_: Any) -> ModelOutput:
        at = int(messages[-1].text.split("question-")[1].split()[0])
        right = at % 3 > 0
        said = "GRADE: " + ("C" if right != (at % wrong == 0) else "I")
        output = ModelOutput.from_content(name, "no idea" if at == SAMPLES - 1 and wrong == 5 else said)
        output.usage = ModelUsage()  # tokens would be counted by a table from the network
        return output

    return get_model(f"mockllm/{name}", custom_outputs=answer)


@solver
def nothing() -> Any:
    """No answer is made: that would count tokens by a table from the network."""

    async def solve(state: Any, generate: Any) -> Any:
        return state

    return solve


def refusal(call: Any) -> str:
    try:
        call()
    except InputError as error:
        return str(error)
    return ""


def main() -> None:
    models = [grader("ann", 5), grader("bob", 7), grader("cem", 11)]
    samples = [Sample(input=f"question-{at} ?", target="x", id=f"s{at}") for at in range(SAMPLES)]
    # Inspect's own panel, whose votes are in the log without names
    own = model_graded_qa(model=models)
    task = Task(dataset=samples, solver=nothing(), scorer=[committee(models), own])
    (log,) = eval(task, model="mockllm/model", log_dir=sys.argv[1], log_format="eval", display="none")
    assert log.status == "success", log.error and log.error.message
    scores = {sample.id: (sample.scores or {})["committee"] for sample in log.samples or []}
    metrics = {one.scorer: one.metrics for one in log.results.scores}["committee"]
    reduce = panel()
    found = {
        "log": log.location,
        "metrics": {name: one.value for name, one in metrics.items()},
        "scores": {key: [one.value, one.metadata] for key, one in scores.items()},
        "unnamed": reduce([Score(value=one) for one in "CCI"]).metadata,
        "nobody": str(reduce([Score.unscored()]).value),
        "refused": [
            refusal(lambda: committee(models[:1])),
            refusal(lambda: reduce([Score(value={"a": 1})])),
            refusal(lambda: reduce([Score(value=0.7)])),
            refusal(lambda: panel(judges=["a"])([Score(value="C"), Score(value="I")])),
        ],
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
