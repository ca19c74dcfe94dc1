"""Run by a Python that has mlflow and voirdire: evaluates by a panel of three scorers; prints the traces' table."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import mlflow
from mlflow.entities import Feedback
from mlflow.genai.scorers import scorer

from voirdire.errors import InputError
from voirdire.integrations.mlflow import panel_scorer


@scorer
def ann(outputs: str) -> str:
    return "yes" if "good" in outputs else "no"


@scorer
def bob(outputs: str) -> Feedback:
    return Feedback(value="yes" if outputs != "bad 3" and "bad" not in outputs else "no", rationale="so")


@scorer
def cem(outputs: str) -> bool:
    raise RuntimeError("no model")


def refusal(judges: list) -> str:
    try:
        panel_scorer(judges)
    except InputError as error:
        return str(error)
    return ""


def main() -> None:
    folder = Path(sys.argv[1])
    mlflow.set_tracking_uri(f"sqlite:///{folder / 'mlflow.db'}")
    mlflow.set_experiment("panel")
    data = [{"inputs": {"q": f"q{at}"}, "outputs": f"{'good' if at % 2 else 'bad'} {at}"} for at in range(4)]
    found = mlflow.genai.evaluate(data=data, scorers=[panel_scorer([ann, bob, cem], name="correct")])
    table = found.result_df
    table.to_json(folder / "table.json", orient="records", default_handler=str)
    panel = {}
    for trace in mlflow.search_traces(return_type="list"):
        one = next(each for each in trace.info.assessments if each.name == "correct_panel")
        outputs = json.loads(trace.data.response)
        panel[outputs] = [one.feedback.value, one.metadata, one.rationale]
    traces = [json.loads(trace.to_json()) for trace in mlflow.search_traces(return_type="list")]
    (folder / "traces.json").write_text(json.dumps({"traces": traces}))
    print(json.dumps({"panel": panel, "refused": [refusal([]), refusal([ann, ann]), refusal([print])]}))


if __name__ == "__main__":
    main()
