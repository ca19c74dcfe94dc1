"""BERTScore as a protocol: what is asked of the library, what comes back, and what is refused before."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pandas as pd
import pytest

from voirdire.collect import Item, Setting
from voirdire.collect.options import build_options
from voirdire.tables import read_scores
from voirdire_protocols.metrics import MODEL_VARIABLE, BertScore, BertScoreOptions

ITEMS = (
    Item("same", "the cat sat", context="c", reference="the cat sat"),
    Item("half", "the cat", context="c", reference="the cat sat down"),
)


def rows(**options):
    return asyncio.run(BertScore().run(Setting((), ITEMS, BertScoreOptions(**options)), None))


def test_scores_of_the_three_measures_by_item(bert_score, tmp_path: Path) -> None:
    for measure, half in (("precision", 1.0), ("recall", 0.5), ("f1", 2 / 3)):
        found = rows(model=str(tmp_path), measure=measure)
        assert [row.values["item"] for row in found] == ["same", "half"]
        assert [row.values["score"] for row in found] == pytest.approx([1.0, half])
    assert read_scores(pd.DataFrame([row.values for row in found])).judges == ("bert-score",)
    made = bert_score.made[-1]
    assert (made["model_type"], made["num_layers"], made["idf"]) == (str(tmp_path), 17, False)
    rows(model=str(tmp_path), idf=True, layers=9)
    made = bert_score.made[-1]
    assert made["num_layers"] == 9
    assert made["idf_sents"] == ["the cat sat", "the cat sat down"]


def test_the_model_is_the_users_own(bert_score, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(MODEL_VARIABLE, raising=False)
    (problem,) = BertScore().problems(Setting((), ITEMS, BertScoreOptions()))
    assert problem == f"option model: name the folder of a model, here or in the environment variable {MODEL_VARIABLE}"
    (problem,) = BertScore().problems(Setting((), ITEMS, BertScoreOptions(model=str(tmp_path / "none"))))
    assert "there is no folder" in problem
    monkeypatch.setenv(MODEL_VARIABLE, str(tmp_path))
    assert BertScore().problems(Setting((), ITEMS, BertScoreOptions())) == []
    rows()
    assert bert_score.made[-1]["model_type"] == str(tmp_path)


def test_layers_are_counted_from_one() -> None:
    _, problems = build_options(BertScoreOptions, {"layers": 0})
    assert problems == ["option layers is 0; give a whole number of at least 1"]


def test_without_the_package_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    (problem,) = BertScore().problems(Setting((), ITEMS, BertScoreOptions(model=str(tmp_path))))
    assert "pip install 'voirdire[bert-score]'" in problem


@pytest.mark.slow
def test_the_library_itself_on_a_tiny_model(tmp_path: Path) -> None:
    """Random embeddings: a text is its own best match, and another one is not."""
    pytest.importorskip("bert_score", reason="the extra 'bert-score' is not installed")
    from transformers import BertConfig, BertModel, BertTokenizer

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "cat", "sat", "down"]
    (tmp_path / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    BertTokenizer(str(tmp_path / "vocab.txt")).save_pretrained(tmp_path)
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16}
    BertModel(BertConfig(vocab_size=len(words), **sizes)).save_pretrained(tmp_path)
    found = [row.values["score"] for row in rows(model=str(tmp_path), layers=2)]
    assert found[0] == pytest.approx(1.0, abs=1e-3)
    assert found[1] < 0.999
