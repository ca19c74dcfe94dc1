"""Tables of every verb keep their names at 60, 80, 100 and 160 columns and in a pipe."""

from __future__ import annotations

import re
from itertools import permutations, product

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from voirdire.cli import app

JUDGES = ["meta-llama/Llama-3.1-70B-Instruct-Turbo", "Qwen/Qwen2.5-72B-Instruct-Turbo-fp8", "anna"]
ITEMS = ["mistralai/Mixtral-8x7B-Instruct-v0.1", "google/gemma-2-27b-it-quantized", "claude", "gpt-4o-mini"]
CRITERIA = ["factual-consistency-with-source", "fluency"]


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Small tables with long names, by kind."""
    folder, rng = tmp_path_factory.mktemp("widths"), np.random.default_rng(0)
    rows = []
    for judge, criterion, prompt in product(JUDGES, CRITERIA, range(3)):
        for first, second in permutations(ITEMS, 2):
            winner = "first" if rng.random() < 0.6 + 0.1 * (first < second) else "second"
            rows.append((judge, first, second, criterion, f"prompt-{prompt}", winner))
    votes = pd.DataFrame(rows, columns=["judge", "first", "second", "criterion", "context", "winner"])
    cells = [(j, i, c, int(rng.integers(1, 6))) for j in JUDGES for i in ITEMS for c in CRITERIA]
    scores = pd.DataFrame(cells, columns=["judge", "item", "criterion", "score"])
    labels = scores.assign(label=np.where(scores["score"] > 3, "acceptable-answer", "unacceptable-answer"))
    made = {"votes": votes, "scores": scores, "labels": labels.drop(columns="score")}
    made["plain"] = votes[votes["criterion"] == "fluency"].drop(columns=["criterion", "context"])
    made["prices"] = pd.DataFrame({"item": ITEMS, "price": [4.0, 3.0, 2.0, 1.0]})
    for name, table in made.items():
        table.to_csv(folder / f"{name}.csv", index=False)
    return {name: str(folder / f"{name}.csv") for name in made} | {"out": str(folder)}


VERBS = {
    "fit votes": (["fit", "{plain}", "--quick"], [*JUDGES, *ITEMS]),
    "fit scores": (["fit", "{scores}", "--quick"], [*JUDGES, *ITEMS, *CRITERIA]),
    "fit labels": (["fit", "{labels}", "--quick"], [*JUDGES, *ITEMS, "acceptable-answer"]),
    "board": (["board", "{plain}", "--method", "laplace"], ITEMS),
    "next": (["next", "{plain}", "--who", "judge", "--count", "3", "--repeats"], []),
    "agree": (["agree", "{plain}", "--resamples", "200"], JUDGES),
    "agree scores": (["agree", "{scores}", "--resamples", "200"], JUDGES),
    "metaeval": (["metaeval", "{scores}", "--human", "anna", "--resamples", "200"], [*JUDGES[:2], *CRITERIA]),
    "plan": (["plan", "{plain}", "--apart", "top"], []),
    "doctor": (["doctor", "{votes}"], []),
    "audit": (["audit", "{plain}"], JUDGES),
    "rate": (["rate", "{labels}", "--people", "anna", "--positive", "acceptable-answer"], []),
}


QUICK = ("agree", "agree scores", "metaeval", "doctor", "audit", "rate")
MARKS = {verb: [pytest.mark.slow] for verb in VERBS if verb not in QUICK}
MARKS["next"].append(pytest.mark.long)


@pytest.mark.parametrize("verb", [pytest.param(verb, marks=MARKS.get(verb, [])) for verb in VERBS])
def test_names_are_whole_at_any_width(verb: str, tables: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    arguments, names = VERBS[verb]
    shown = {}
    for width in ("60", "80", "100", "160", None):
        monkeypatch.delenv("COLUMNS", raising=False)
        if width is not None:
            monkeypatch.setenv("COLUMNS", width)
        done = CliRunner().invoke(app, [part.format(**tables) for part in arguments])
        assert done.exit_code == 0, done.output
        shown[width] = done.stdout
    known = {*JUDGES, *ITEMS, *CRITERIA, "acceptable-answer"}
    wide = {name for name in known if name in shown["160"]}
    assert set(names) <= wide
    for width, text in shown.items():
        assert {name for name in known if name in text} == wide, width
        assert "…" not in re.sub(r", …|\.\.\.", "", text), width


def test_help_names_models_in_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    shown = CliRunner().invoke(app, ["fit", "--help"]).stdout
    assert "--model" in shown
    assert "…" not in shown


@pytest.mark.parametrize("width", [60, 100])
def test_sentences_are_broken_between_words_and_keep_their_indent(
    width: int, tables: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    for verb in ("audit", "plan"):
        lines = CliRunner().invoke(app, [part.format(**tables) for part in VERBS[verb][0]]).stdout.splitlines()
        assert max(map(len, lines)) <= width, verb
        if verb == "audit":
            inside = [line for line in lines if line.startswith("    ")]
            assert sum("n = " in line for line in inside) >= len(JUDGES)
            assert any(not re.search(r"n = |: ", line) for line in inside)  # a sentence that goes on
