"""Figures of public data from local copies: fetched as registered, correlated, ROUGE-L computed here."""

from __future__ import annotations

import hashlib
import http.server
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import kendalltau, spearmanr

from voirdire import datasets
from voirdire.datasets import registry
from voirdire.datasets.cache import RemoteFile, fetch_files
from voirdire.datasets.convert import convert_mslr_cochrane
from voirdire.errors import InputError
from voirdire_repro import judge_claims, load_system
from voirdire_repro.checks import public
from voirdire_repro.rouge import rouge_l

WORDS = ["the", "cat", "sat", "on", "a", "mat", "and", "dog", "ran", "over", "hill"]


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, Path, list[str]]]:
    """A server of a folder's files, its address and what was asked of it."""
    folder, asked = tmp_path / "upstream", []
    folder.mkdir()

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given, directory=str(folder))

        def log_message(self, *_: object) -> None:
            asked.append(self.path)

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv("VOIRDIRE_CACHE", str(tmp_path / "cache"))
    yield f"http://127.0.0.1:{server.server_port}", folder, asked
    server.shutdown()
    thread.join()
    server.server_close()


def summaries(rng: np.random.Generator) -> list[dict[str, Any]]:
    """Invented summaries in the form of UniEval's result file: 6 articles, 5 systems."""
    aspects = ("coherence", "consistency", "fluency", "relevance", "overall")
    return [
        {
            "doc_id": f"d{article}",
            "system_id": f"M{system}",
            "source": "An article.",
            "reference": " ".join(rng.choice(WORDS, 12)),
            "system_output": " ".join(rng.choice(WORDS, 9)),
            "scores": {name: float(rng.integers(3, 16)) / 3 for name in aspects},
            "predict_scores": {name: float(rng.random()) for name in aspects},
        }
        for article in range(6)
        for system in range(5)
    ]


def test_rows_of_summeval_by_download_and_by_hand(
    served: tuple[str, Path, list[str]], fresh: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """UniEval's and ROUGE-L's coefficients are means over articles; the file is downloaded once."""
    address, folder, asked = served
    data = summaries(np.random.default_rng(4))
    (folder / "summeval_result.json").write_text(json.dumps(data), encoding="utf-8")
    entry = registry.REGISTRY["summeval-unieval"]
    (file,) = entry.files
    assert "d33e7b6cfebe97b2bafe435adbd818230d5a416a" in file.url
    assert file.filename == "summeval_result.json"
    from dataclasses import replace

    here = replace(entry, files=(RemoteFile(f"{address}/{file.filename}"),))
    monkeypatch.setitem(registry.REGISTRY, "summeval-unieval", here)
    rows = {row.id: row.ours for row in judge_claims(load_system("debate")) if "SummEval" in row.id}
    assert asked == ["/summeval_result.json"]

    def by_hand(metric: Any, aspect: str, coefficient: Any) -> float:
        values = []
        for article in dict.fromkeys(one["doc_id"] for one in data):
            own = [one for one in data if one["doc_id"] == article]
            values.append(coefficient([metric(one) for one in own], [one["scores"][aspect] for one in own])[0])
        return float(np.mean(values))

    for method, claim, metric in (
        ("UniEval", "unieval-summeval", lambda one: one["predict_scores"]["fluency"]),
        ("ROUGE-L", "rouge", lambda one: rouge_l(one["system_output"], one["reference"])),
    ):
        for name, coefficient in (("spearman", spearmanr), ("kendall", kendalltau)):
            found = rows[f"{claim}/SummEval, none, {method}, fluency, {name}"]
            assert found == pytest.approx(by_hand(metric, "fluency", coefficient), abs=1e-9)
        four = [rows[f"{claim}/SummEval, none, {method}, {a}, kendall"] for a in
                ("coherence", "consistency", "fluency", "relevance")]  # fmt: skip
        assert rows[f"{claim}/SummEval, none, {method}, average, kendall"] == pytest.approx(np.mean(four))


def test_bytes_of_a_commit_are_noted_and_must_stay(served: tuple[str, Path, list[str]], tmp_path: Path) -> None:
    address, folder, asked = served
    (folder / "data.json").write_text("[1]", encoding="utf-8")
    file = RemoteFile(f"{address}/data.json")
    (path,) = fetch_files("own", [file])
    note = path.with_name("data.json.sha256")
    assert note.read_text().strip() == hashlib.sha256(b"[1]").hexdigest()
    assert fetch_files("own", [file]) == [path]
    assert len(asked) == 1
    path.write_text("[2]", encoding="utf-8")  # changed here: fetched again
    assert fetch_files("own", [file])[0].read_text() == "[1]"
    path.unlink()
    (folder / "data.json").write_text("[3]", encoding="utf-8")  # changed there: refused
    with pytest.raises(InputError, match="has changed upstream"):
        fetch_files("own", [file])


def test_annotated_summaries_of_medical_studies(tmp_path: Path) -> None:
    marks = {"fluency": 2, "population": 2, "intervention": 1, "outcome": 0, "ed_agree": True, "strength_agree": False}
    scores = {"bertscore_f": 0.9, "rougeL_f": 0.25}
    reviews = [
        {"subtask": "Cochrane", "review_id": "r1", "predictions": [
            {"exp_short": "A", "annotations": [marks, {**marks, "fluency": 0}], "scores": scores},
            {"exp_short": "B", "annotations": [], "scores": scores},
        ]},
        {"subtask": "MS2", "review_id": "r2", "predictions": [
            {"exp_short": "A", "annotations": [marks], "scores": scores},
        ]},
    ]  # fmt: skip
    path = tmp_path / "data.json"
    path.write_text("\n".join(map(json.dumps, reviews)) + "\n", encoding="utf-8")
    table = convert_mslr_cochrane(path)
    assert set(table["context"]) == {"r1"}
    assert set(table["system"]) == {"A"}
    found = table.set_index(["judge", "criterion"])["score"]
    assert found["human", "fluency"] == 1.0
    assert found["human", "PIO consistency"] == 1.0
    assert found["human", "overall"] == pytest.approx((0.5 + 0.5 + 1.0 + 0.0) / 4)
    assert set(found["bertscore"]) == {0.9}
    assert set(found["rouge-l"]) == {0.25}


def test_rouge_l_of_topical_chat(public_data: Path) -> None:
    """The row taken over comes back, with the original reply as reference: nine of ten figures within 0.02."""
    rows = [row for row in judge_claims(load_system("debate")) if row.claim == "rouge-topical-chat"]
    assert len(rows) == 10
    assert sorted(row.verdict for row in rows) == ["failed", *["reproduced"] * 9]
    assert all(abs(row.ours - row.published) < 0.035 for row in rows)


def test_rouge_l_is_the_librarys() -> None:
    scorer = pytest.importorskip("rouge_score.rouge_scorer").RougeScorer(["rougeL"])
    rng = np.random.default_rng(2)
    for _ in range(200):
        one, other = (" ".join(rng.choice(WORDS, rng.integers(1, 90))) for _ in range(2))
        assert rouge_l(one, other) == pytest.approx(scorer.score(other, one)["rougeL"].fmeasure)
    assert rouge_l("?!", "the cat") == 0.0
    assert rouge_l("Don't panic, it's 42!", "don t panic") == pytest.approx(2 * 3 / (6 + 3))


def test_every_data_set_of_a_claim_is_registered() -> None:
    for name in ("debate", "maj_eval", "mareval"):
        for claim in load_system(name).claims:
            if claim.kind == "public-data":
                dataset = claim.check["dataset"]
                assert dataset in datasets.available() or public.DATASETS[dataset] in datasets.available()
