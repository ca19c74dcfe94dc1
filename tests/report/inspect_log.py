"""Run by a Python that has inspect_ai.

``make FOLDER`` evaluates and prints where the log is; ``score LOG SCORES`` adds the scores that ``voirdire export``
wrote, and prints what Inspect then has of each sample as JSON.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from inspect_ai import Task, eval, score
from inspect_ai.dataset import Sample
from inspect_ai.log import read_eval_log
from inspect_ai.scorer import Score, accuracy, precomputed_scores, scorer
from inspect_ai.solver import solver


@scorer(metrics=[accuracy()])
def grade(wrong: str) -> Any:
    """Right, but for the samples that are named."""

    async def run(state: Any, target: Any) -> Score:
        right = int(str(state.sample_id)[1:]) % 3 > 0
        return Score(value="C" if right != (state.sample_id in wrong.split(",")) else "I")

    return run


@solver
def nothing() -> Any:
    """No answer is made: that would count tokens by a table from the network."""

    async def solve(state: Any, generate: Any) -> Any:
        return state

    return solve


def main() -> None:
    if sys.argv[1] == "make":
        samples = [Sample(input=f"q{at}", target="x", id=f"s{at}") for at in range(12)]
        task = Task(dataset=samples, solver=nothing(), scorer=[grade("s1"), grade("s2"), grade("")])
        (log,) = eval(task, model="mockllm/model", log_dir=sys.argv[2], log_format="eval", display="none")
        print(log.location)
        return
    log = read_eval_log(sys.argv[2])
    scored = score(log, precomputed_scores(sys.argv[3]), action="append", display="none")
    found = {
        sample.id: {key: [one.value, one.metadata or {}] for key, one in (sample.scores or {}).items()}
        for sample in scored.samples or []
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
