from __future__ import annotations

import dataclasses
import hashlib
import json
import runpy
import shutil
import threading
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire import InputError, datasets
from voirdire.datasets import convert, gold, mtrepro
from voirdire.datasets.cache import RemoteFile, fetch_files, find_files, is_cached
from voirdire.datasets.registry import REGISTRY

# Where the local copy of each upstream file is, in the order of the registry's files.
COPIES = {
    "llmfao": [
        "llmfao-crowd-comparisons.csv",
        "llmfao-gpt3-crowd-comparisons.csv",
        "llmfao-gpt4-crowd-comparisons.csv",
    ],
    "topical-chat-unieval": ["unieval-topical_chat_result.json"],
}

# Data sets without a local copy: invented files of their form are below, or in test_repro_public.py.
ELSEWHERE = (
    *("dices-350", "llmbar", "llmbar-judges", "llmjudge", "llmjudge-half", "mslr-cochrane", "mslr-pairwise"),
    *("mtrepro", "mtrepro-scores", "newsroom"),
    "summeval-unieval",
)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("VOIRDIRE_CACHE", str(folder))
    return folder


@pytest.fixture
def filled(cache: Path, shared: Path, closed_proxy: Server) -> Path:
    """A cache that holds every upstream file, on a machine whose network refuses every connection."""
    for name, copies in COPIES.items():
        for file, copy in zip(REGISTRY[name].files, copies, strict=True):
            (cache / name).mkdir(parents=True, exist_ok=True)
            shutil.copyfile(shared / "upstream" / copy, cache / name / file.filename)
    return cache


class Server:
    """Answers GET with ``body``, refuses to be a proxy, keeps what was asked for."""

    def __init__(self) -> None:
        self.body = b""
        self.declared: int | None = None
        self.requests: list[str] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.requests.append(self.path)
                self.send_response(200)
                self.send_header("Content-Length", str(server.declared or len(server.body)))
                self.end_headers()
                self.wfile.write(server.body)

            def do_CONNECT(self) -> None:
                server.requests.append(self.path)
                self.send_error(502)

            def log_message(self, *args: object) -> None:
                pass

        self.http = HTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.http.server_port}"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    running = Server()
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    thread = threading.Thread(target=running.http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield running
    running.http.shutdown()
    thread.join()
    running.http.server_close()


@pytest.fixture
def closed_proxy(server: Server, monkeypatch: pytest.MonkeyPatch) -> Server:
    """Every HTTPS request goes to a proxy that refuses it, as on a machine without a network."""
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, server.address)
    return server


def same_rows(ours: pd.DataFrame, theirs: pd.DataFrame) -> None:
    columns = list(theirs.columns)
    pd.testing.assert_frame_equal(
        ours.sort_values(columns, ignore_index=True), theirs.sort_values(columns, ignore_index=True)
    )


def test_available_lists_the_registry() -> None:
    assert datasets.available() == sorted(["demo", *COPIES, *ELSEWHERE])


def test_the_demo_is_a_whole_panel_and_needs_no_network(cache: Path, closed_proxy: Server) -> None:
    data = datasets.load("demo")
    assert closed_proxy.requests == []
    assert not cache.exists()
    assert data.gold is not None
    assert data.items is not None
    # every judge has every pair of the 16 texts once
    pairs = data.table[["first", "second"]].apply(frozenset, axis=1)
    assert len(data.table) == 8 * 16 * 15 / 2
    assert not pd.DataFrame({"judge": data.table["judge"], "pair": pairs}).duplicated().any()
    assert set(data.table["first"]) | set(data.table["second"]) == set(data.items["item"])
    assert data.items["text"].str.split().str.len().tolist() == data.items["words"].tolist()
    assert len(data.gold) == 20


def test_the_demo_is_what_its_script_makes(project: Path) -> None:
    made = runpy.run_path(str(project / "docs" / "demo_data.py"))
    votes, people = made["panel"]()
    data = datasets.load("demo")
    assert data.gold is not None
    assert [tuple(row) for row in data.table.to_numpy()] == votes
    assert [tuple(row) for row in data.gold.to_numpy()] == people
    assert made["panel"](1) != (votes, people)


def test_llmfao_equals_the_published_votes(filled: Path, shared: Path) -> None:
    data = datasets.load("llmfao")
    assert data.kind == "votes"
    same_rows(data.table, pd.read_csv(shared / "data" / "llmfao_votes.csv"))


def test_llmfao_first_pick_rates_of_the_two_language_models(filled: Path) -> None:
    # Published: GPT-3.5 picks the first answer in 63.2 % and the second in 27.7 %, GPT-4 44.1 % and 52.8 %.
    table = datasets.load("llmfao").table
    rates = table.groupby("judge")["winner"].value_counts(normalize=True).round(3)
    assert rates["gpt-3.5"]["first"] == 0.632
    assert rates["gpt-3.5"]["second"] == 0.277
    assert rates["gpt-4"]["first"] == 0.441
    assert rates["gpt-4"]["second"] == 0.528
    assert table["judge"].nunique() == 126
    assert pd.concat([table["first"], table["second"]]).nunique() == 59


def test_topical_chat_equals_the_published_scores(filled: Path, shared: Path) -> None:
    data = datasets.load("topical-chat-unieval")
    assert data.kind == "scores"
    # The comparison table has six decimals; ours keeps the digits of the upstream file.
    same_rows(
        data.table.round({"score": 6}), pd.read_csv(shared / "data" / "topicalchat_scores.csv").round({"score": 6})
    )


@pytest.mark.parametrize(
    ("criterion", "pearson", "spearman"),
    [
        ("naturalness", 0.444, 0.514),
        ("coherence", 0.595, 0.613),
        ("engagingness", 0.557, 0.605),
        ("groundedness", 0.536, 0.575),
    ],
)
def test_topical_chat_gives_the_correlations_of_the_unieval_paper(
    filled: Path, criterion: str, pearson: float, spearman: float
) -> None:
    table = datasets.load("topical-chat-unieval").table
    pairs = table[table["criterion"] == criterion].pivot(index=["context", "system"], columns="judge", values="score")
    assert len(pairs) == 360
    assert round(pairs["human"].corr(pairs["unieval"]), 3) == pearson
    assert round(pairs["human"].corr(pairs["unieval"], method="spearman"), 3) == spearman


@pytest.mark.parametrize("name", ["demo", *COPIES])
def test_printing_shows_licence_and_citation(filled: Path, name: str) -> None:
    data = datasets.load(name)
    for text in (str(data), repr(data)):
        assert f"licence: {REGISTRY[name].licence}" in text
        assert f"cite: {REGISTRY[name].citation}" in text
    with pytest.raises(dataclasses.FrozenInstanceError):
        data.licence = "none"  # type: ignore[misc]


def test_a_full_cache_is_read_without_a_request(filled: Path, closed_proxy: Server) -> None:
    datasets.load("llmfao")
    assert closed_proxy.requests == []


@pytest.mark.parametrize("name", sorted(COPIES))
def test_without_a_network_the_download_is_tried_and_each_file_named(
    cache: Path, closed_proxy: Server, name: str
) -> None:
    with pytest.raises(InputError) as caught:
        datasets.load(name)
    files = REGISTRY[name].files
    assert closed_proxy.requests == ["raw.githubusercontent.com:443"] * len(files)
    assert len(caught.value.problems) == len(files)
    for problem, file in zip(caught.value.problems, files, strict=True):
        assert problem.startswith(f"data set '{name}': could not download {file.url}")
        assert str(cache / name / file.filename) in problem
    assert [path for path in cache.rglob("*") if path.is_file()] == []


def test_a_corrupted_file_in_the_cache_is_refused(filled: Path, closed_proxy: Server) -> None:
    path = filled / "llmfao" / "gpt4-crowd-comparisons.csv"
    content = bytearray(path.read_bytes())
    content[-5] ^= 1
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"could not download .*/gpt4-crowd-comparisons\.csv") as caught:
        datasets.load("llmfao")
    assert len(caught.value.problems) == 1
    assert closed_proxy.requests == ["raw.githubusercontent.com:443"]


def remote(server: Server, content: bytes) -> RemoteFile:
    return RemoteFile(f"{server.address}/votes.csv", hashlib.sha256(content).hexdigest())


def test_a_download_is_kept_and_not_repeated(cache: Path, server: Server) -> None:
    server.body = b"judge,first,second,winner\n"
    for _ in range(2):
        (path,) = fetch_files("tiny", [remote(server, server.body)])
    assert path == cache / "tiny" / "votes.csv"
    assert path.read_bytes() == server.body
    assert server.requests == ["/votes.csv"]


def test_a_changed_download_replaces_a_corrupted_file(cache: Path, server: Server) -> None:
    server.body = b"judge,first,second,winner\n"
    (cache / "tiny").mkdir(parents=True)
    (cache / "tiny" / "votes.csv").write_bytes(b"judge,fi")
    (path,) = fetch_files("tiny", [remote(server, server.body)])
    assert path.read_bytes() == server.body


def test_a_download_with_other_bytes_is_refused_and_leaves_nothing(cache: Path, server: Server) -> None:
    server.body = b"judge,first,second,winner\n"
    file = remote(server, b"judge,first,second,winner,\n")
    with pytest.raises(InputError, match=rf"{file.url} sent was refused, its SHA-256 is not {file.sha256}"):
        fetch_files("tiny", [file])
    assert list((cache / "tiny").iterdir()) == []


def test_a_download_cut_short_leaves_nothing(cache: Path, server: Server) -> None:
    server.body = b"judge,first"
    server.declared = 26
    with pytest.raises(InputError, match="tiny"):
        fetch_files("tiny", [remote(server, b"judge,first,second,winner\n")])
    assert list((cache / "tiny").iterdir()) == []


@pytest.mark.parametrize("held", [b"", b"judge,fi", b"judge,first,second,loser\n"])
@pytest.mark.parametrize("noted", [None, "", "0123", "g" * 64])
def test_a_kept_file_of_unknown_bytes_is_fetched_anew(
    cache: Path, server: Server, held: bytes, noted: str | None
) -> None:
    """Neither registered nor noted: it may be half of a file, or somebody's own."""
    server.body = b"judge,first,second,winner\n"
    file = RemoteFile(f"{server.address}/votes.csv")
    (cache / "tiny").mkdir(parents=True)
    (cache / "tiny" / "votes.csv").write_bytes(held)
    if noted is not None:
        (cache / "tiny" / "votes.csv.sha256").write_text(noted)
    assert not is_cached("tiny", [file])
    for _ in range(2):
        (path,) = fetch_files("tiny", [file])
    assert path.read_bytes() == server.body
    assert is_cached("tiny", [file])
    assert server.requests == ["/votes.csv"]
    path.write_bytes(held)  # what the download had is noted: other bytes are replaced
    assert fetch_files("tiny", [file])[0].read_bytes() == server.body


def test_an_empty_download_of_unknown_bytes_is_refused(cache: Path, server: Server) -> None:
    with pytest.raises(InputError, match=r"votes\.csv sent was refused, it is empty"):
        fetch_files("tiny", [RemoteFile(f"{server.address}/votes.csv")])
    assert list((cache / "tiny").iterdir()) == []


def test_an_empty_file_of_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "votes.csv").write_bytes(b"")
    with pytest.raises(InputError, match=r"votes\.csv was refused, it is empty"):
        find_files("tiny", [RemoteFile("https://example.org/votes.csv")], tmp_path)


def test_a_cache_that_is_no_folder_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: Server) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("VOIRDIRE_CACHE", str(tmp_path / "file"))
    with pytest.raises(InputError, match="name another folder in VOIRDIRE_CACHE"):
        fetch_files("tiny", [remote(server, b"")])


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("lmfao", "did you mean 'llmfao'"),
        ("dices350", "did you mean 'dices-350'"),
        ("zzz", "available are demo, dices-350, llmbar, "),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest(cache: Path, name: str, hint: str) -> None:
    with pytest.raises(InputError, match=hint):
        datasets.load(name)
    assert not cache.exists()


def test_files_are_registered_as_they_are_listed(shared: Path) -> None:
    """Every file of the published list that a data set uses has its bytes: repository, commit, path, SHA-256, size."""
    listed = pd.read_csv(shared / "upstream" / "files.csv", dtype=str)
    address = (
        "https://raw.githubusercontent.com/" + listed["repository"] + "/" + listed["commit"] + "/" + listed["path"]
    )
    wanted = dict(zip(address, zip(listed["sha256"], listed["bytes"].astype(int), strict=True), strict=True))
    ours = {file.url: (file.sha256, file.size) for entry in REGISTRY.values() for file in entry.files}
    found = {url: known for url, known in ours.items() if url in wanted}
    assert found == {url: wanted[url] for url in found}
    assert set(wanted) == set(found)
    for name in REGISTRY:
        names = [file.filename for file in REGISTRY[name].files]
        assert len(set(names)) == len(names)


def test_a_folder_is_read_without_a_request(shared: Path, cache: Path, closed_proxy: Server) -> None:
    """Copies whose names end as the files' do are found; nothing is asked for, nothing kept."""
    data = datasets.load("llmfao", folder=shared / "upstream")
    same_rows(data.table, pd.read_csv(shared / "data" / "llmfao_votes.csv"))
    assert closed_proxy.requests == []
    assert not cache.exists()


def test_a_clone_of_the_repository_is_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two files of one name are told apart by their bytes, whatever lies beside them."""
    files = []
    for n, subset in enumerate(("Natural", "GPTOut")):
        path = tmp_path / "clone" / "Dataset" / subset / "dataset.json"
        path.parent.mkdir(parents=True)
        path.write_text(f'[{{"label": {n + 1}}}]')
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        relative = path.relative_to(tmp_path / "clone").as_posix()
        files.append(RemoteFile(f"https://example.org/{relative}", digest, relative))
    entry = dataclasses.replace(
        REGISTRY["llmbar"], files=tuple(files), convert=partial(gold.convert_llmbar, subsets=["Natural", "GPTOut"])
    )
    monkeypatch.setitem(REGISTRY, "llmbar", entry)
    table = datasets.load("llmbar", folder=tmp_path).table
    assert table[["first", "winner"]].values.tolist() == [["Natural-000/1", "first"], ["GPTOut-000/1", "second"]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, r"has no file topical_chat_result\.json: put there what https://raw.*/topical_chat_result\.json sends"),
        ("[]", r"topical_chat_result\.json was refused, its SHA-256 is not e1c28f.*: take the file as https"),
    ],
)
def test_a_folder_without_the_file_or_with_another(
    tmp_path: Path, closed_proxy: Server, content: str | None, message: str
) -> None:
    if content is not None:
        (tmp_path / "topical_chat_result.json").write_text(content)
    with pytest.raises(InputError, match=message):
        datasets.load("topical-chat-unieval", folder=tmp_path)
    with pytest.raises(InputError, match="is no folder"):
        datasets.load("topical-chat-unieval", folder=tmp_path / "none")
    assert closed_proxy.requests == []


def test_a_file_is_kept_under_its_path_where_names_are_shared(cache: Path, server: Server) -> None:
    server.body = b"[]"
    file = dataclasses.replace(remote(server, server.body), path="Dataset/Natural/dataset.json")
    (path,) = fetch_files("tiny", [file])
    assert path == cache / "tiny" / "Dataset" / "Natural" / "dataset.json"
    assert path.read_bytes() == server.body


def written(folder: Path, tables: dict[str, object]) -> list[Path]:
    for name, content in tables.items():
        (folder / name).write_text(content if isinstance(content, str) else json.dumps(content))
    return [folder / name for name in tables]


def test_labels_of_dices_have_the_published_names(tmp_path: Path, shared: Path) -> None:
    """The published labels of some conversations, put into the form of the upstream files, come back row by row."""
    labels = pd.read_csv(shared / "data" / "dices350_labels.csv")
    experts = pd.read_csv(shared / "data" / "dices350_expert.csv")
    some = labels["item"].unique()[:5]
    labels, experts = labels[labels["item"].isin(some)], experts[experts["item"].isin(some)]

    def upstream(table: pd.DataFrame) -> dict[str, object]:
        said = table.groupby("item", sort=False)["label"].agg(list)
        return {
            "instances": [
                {"id": int(item[-3:]), "annotations": {"safety": {"individual_human_scores": list(all_of_it)}}}
                for item, all_of_it in said.items()
            ]
        }

    paths = written(tmp_path, {"crowd.json": upstream(labels), "expert.json": upstream(experts)})
    found, known = gold.convert_dices(*paths)
    same_rows(found, labels)
    same_rows(known, experts)


def test_scores_of_newsroom_have_the_published_names(tmp_path: Path, shared: Path) -> None:
    scores = pd.read_csv(shared / "data" / "newsroom_scores.csv")
    scores = scores[scores["item"].isin(["summary-000", "summary-001"])]
    instances = [
        {
            "annotations": {
                criterion.capitalize(): {"individual_human_scores": rows["score"].tolist(), "mean_human": 3}
                for criterion, rows in one.groupby("criterion", sort=False)
            }
        }
        for _, one in scores.groupby("item", sort=False)
    ]
    (path,) = written(tmp_path, {"newsroom.json": {"instances": instances}})
    found, _, items = gold.convert_newsroom(path)
    same_rows(found, scores)
    same_rows(items, pd.read_csv(shared / "data" / "newsroom_items.csv").head(2))


def test_grades_of_llmjudge_have_the_published_names(tmp_path: Path, shared: Path) -> None:
    labels = pd.read_csv(shared / "data" / "llmjudge_dev_labels.csv")
    known = pd.read_csv(shared / "data" / "llmjudge_dev_gold.csv")
    labels = labels[labels["judge"].isin(["Olz-exp", "RMITIR-llama70B"])]

    def upstream(table: pd.DataFrame) -> str:
        pairs = table["item"].str.split("|", expand=True)
        return "".join(pairs[0] + " 0 " + pairs[1] + " " + table["label"].astype(str) + "\n")

    files = {str(judge): upstream(rows) for judge, rows in labels.groupby("judge")}
    files["RMITIR-llama70B"] += "q0 0 p3021 7\n"  # no grade: left out
    paths = written(tmp_path, {**files, "people": upstream(known)})
    found, people = gold.convert_llmjudge(*paths, judges=list(files))
    same_rows(found, labels)
    same_rows(people, known)
    half, people = gold.convert_llmjudge(*paths, judges=list(files), queries=["q22", "q9"])
    assert set(half["context"]) == {"q22", "q9"}
    assert people["item"].str.split("|").str[0].isin(["q22", "q9"]).all()
    assert len(REGISTRY["llmjudge"].files) == 34
    assert REGISTRY["llmjudge"].files[-1].filename == "llmjudge_test_qrel_idx.txt"  # people's


def test_votes_of_the_judges_of_llmbar_have_the_published_names(tmp_path: Path, shared: Path) -> None:
    votes = pd.read_csv(shared / "data" / "llmbar_votes.csv")
    known = pd.read_csv(shared / "data" / "llmbar_gold.csv")
    judges = ["GPT-4/CoT", "ChatGPT/Metrics"]  # the second was asked for metrics first
    votes = votes[votes["judge"].isin(judges) & votes["subset"].eq("Natural")]
    known = known[known["subset"] == "Natural"]
    said = dict(zip(zip(votes["judge"], votes["first"], strict=True), votes["winner"], strict=True))
    paths = []
    for judge in judges:
        pairs = []
        for one, two, winner, _ in known.itertuples(index=False):
            number = {"first": ("1", "2"), "second": ("2", "1"), None: ("none", "none")}
            orders = {
                "swap = False": {"winner": number[said.get((judge, one))][0]},
                "swap = True": {"winner": number[said.get((judge, two))][1]},
            }
            before = [["Is it brief?", "stop"]] if "Metrics" in judge else []
            pairs.append({"label": 1 + (winner == "second"), "results": [*before, orders]})
        paths.append(tmp_path / "Natural" / "evaluators" / judge / "result.json")
        paths[-1].parent.mkdir(parents=True)
        paths[-1].write_text(json.dumps(pairs))
    found, people = gold.convert_llmbar_judges(*paths)
    same_rows(found, votes)
    same_rows(people, known)
    assert len(REGISTRY["llmbar-judges"].files) == 58 * 3


COPIED = ("dices-350", "llmbar-judges", "llmjudge-half", "mtrepro", "mtrepro-scores", "newsroom")


@pytest.mark.parametrize("name", COPIED)
def test_a_folder_with_copies_of_the_tables_will_do(name: str, shared: Path, cache: Path, closed_proxy: Server) -> None:
    """CSV files known by their rows; a size that is said is the size of the table."""
    data = datasets.load(name, folder=shared / "data")
    assert f"{len(data.table):,} " in REGISTRY[name].rows
    assert (data.gold is None) == (name not in ("dices-350", "llmbar-judges", "llmjudge-half"))
    assert (data.items is None) == (name not in ("mtrepro", "newsroom"))
    assert not data.table.isna().any(axis=None)
    assert closed_proxy.requests == []
    assert not cache.exists()


def test_a_copy_in_the_cache_is_the_table_that_the_files_make(filled: Path, shared: Path) -> None:
    made = datasets.load("llmfao").table
    shutil.copy(shared / "data" / "llmfao_votes.csv", filled / "llmfao" / "kept.csv")
    for file in REGISTRY["llmfao"].files:
        (filled / "llmfao" / file.filename).unlink()
    same_rows(datasets.load("llmfao").table, made)
    assert datasets.overview().set_index("name").loc["llmfao", "cached"]


def test_what_is_written_is_known_as_a_copy_and_a_changed_row_is_not(
    filled: Path, tmp_path: Path, closed_proxy: Server
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    for name in COPIES:
        table = datasets.load(name).table
        table.sample(frac=1, random_state=1).to_csv(out / f"{name}.csv", index=False, lineterminator="\r\n")
        same_rows(datasets.load(name, folder=out).table, table)
    text = (out / "llmfao.csv").read_text()
    (out / "llmfao.csv").write_text(text.replace("tie", "first", 1))
    with pytest.raises(InputError, match=r"has no file crowd-comparisons\.csv"):
        datasets.load("llmfao", folder=out)


def test_votes_and_scores_of_mtrepro_have_the_published_names(tmp_path: Path, shared: Path) -> None:
    votes = pd.read_csv(shared / "data" / "mtrepro_votes.csv")
    votes = votes[votes["judge"].eq("gpt-4o-mini") & votes["context"].between(81, 90)]
    said = {"first": "A", "second": "B", "tie": "tie"}
    verdicts = {row[1:-1]: said[row[-1]] for row in votes.itertuples(index=False, name=None)}
    pairs = []
    for context, category, turn, first, second in verdicts:
        if (context, category, turn, second, first) in verdicts and first > second:
            continue
        ba = verdicts.get((context, category, turn, second, first), "error")
        one = {"question_id": context, "model_a": first, "model_b": second, "judge_id": "gpt-4o-mini"}
        one |= {"turn": turn, "category": category, "winner": "inconsistent", "winner_ba": ba}
        pairs.append(one | {"winner_ab": verdicts[context, category, turn, first, second]})
    scores = pd.read_csv(shared / "data" / "mtrepro_scores.csv")
    scores = scores[scores["judge"].eq("Gemma-4-12B-it")]
    grades: dict[tuple[str, ...], dict[str, float]] = {}
    for judge, context, system, category, score in scores.itertuples(index=False, name=None):
        prompt, turn = context.split("-")
        grades.setdefault((judge, prompt, system, category), {})[f"score_turn{turn}"] = score
    single = [
        {"judge_id": judge, "question_id": int(prompt), "model_id": system, "category": category}
        | {"score_turn1": -1.0, "score_turn2": -1.0, **found}
        for (judge, prompt, system, category), found in grades.items()
    ]
    files = {
        name: "".join(json.dumps(one) + "\n" for one in rows)
        for name, rows in {"pairs.jsonl": pairs, "single.jsonl": single}.items()
    }
    of_pairs, of_single = written(tmp_path, files)
    same_rows(mtrepro.verdict_votes(of_pairs), votes)
    same_rows(mtrepro.turn_scores(of_single), scores)


def test_the_overview_says_what_is_cached(filled: Path) -> None:
    table = datasets.overview().set_index("name")
    assert list(table.index) == datasets.available()
    assert {name for name in table.index if table.loc[name, "cached"]} == {"demo", *COPIES}
    assert table.loc["llmfao", "size"] == "13,209 votes; 0.7 MB"
    assert table.loc["llmfao", "licence"] == "CC BY 4.0"


def annotated(folder: Path, pairs: list[tuple[str, str, str, str]], number: int) -> Path:
    """A sheet of one annotator, in the form of the published ones."""
    head = "review_id\ttarget\tsys_a\tA\tsys_b\tB\tWhich of A or B is more accurate? (A, B, Neither)\tNotes\t"
    rows = [f'{review}\t"It ""may"" help."\t{a}\tone\t{b}\ttwo\t{said}\t\t7' for review, a, b, said in pairs]
    path = folder / f"sample{number} - name - Sheet1.tsv"
    path.write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
    return path


def test_preferences_of_annotators_are_votes_with_ties(tmp_path: Path) -> None:
    neither = "Neither is more accurate (use sparingly)"
    answers = ["A", "B", neither, ""]
    first = annotated(tmp_path, [(f"CD{k}", "X", "Y", said) for k, said in enumerate(answers)], 2)
    second = annotated(tmp_path, [("CD0", "Y", "Z", "b ")], 7)
    found = convert.preference_votes(first, second)
    assert found.values.tolist() == [
        ["annotator-2", "CD0", "X", "Y", "first"],
        ["annotator-2", "CD1", "X", "Y", "second"],
        ["annotator-2", "CD2", "X", "Y", "tie"],
        ["annotator-7", "CD0", "Y", "Z", "second"],
    ]
    with pytest.raises(KeyError):
        convert.preference_votes(annotated(tmp_path, [("CD0", "X", "Y", "C")], 3))
    assert len(REGISTRY["mslr-pairwise"].files) == 5


@pytest.mark.slow
def test_annotators_and_the_dimensions_that_they_follow_come_back(tmp_path: Path) -> None:
    """Preferences that follow one of two dimensions, by annotators of whom one guesses."""
    rng = np.random.default_rng(5)
    systems, reviews = list("UVWXYZ"), [f"CD{k}" for k in range(40)]
    cells = [(review, system) for review in reviews for system in systems]
    worth = {name: dict(zip(cells, rng.integers(0, 3, len(cells)), strict=True)) for name in ("pio", "fluency")}
    paths = []
    for number, eta in ((2, 0.95), (3, 0.9), (5, 0.9), (6, 0.85), (7, 0.5)):
        pairs = []
        for review in reviews:
            for _ in range(4):
                a, b = rng.permutation(systems)[:2]
                gap = 1.5 * float(worth["pio"][review, a] - worth["pio"][review, b])
                right = rng.random() < 1 / (1 + np.exp(-gap))
                pairs.append((review, a, b, "A" if right == (rng.random() < eta) else "B"))
        paths.append(annotated(tmp_path, pairs, number))
    votes = convert.preference_votes(*paths)
    human = pd.DataFrame({name: pd.Series(values) for name, values in worth.items()})
    human = human.rename_axis(["context", "system"]).reset_index()
    for side in ("first", "second"):
        named = {f"context_{side}": "context", f"system_{side}": side}
        votes = votes.merge(human.add_suffix(f"_{side}").rename(columns=named))
    fitted = voirdire.fit(votes, model="crowd-bt-contexts", covariates=["pio", "fluency"], method="laplace")
    effects = fitted.covariates().set_index("name")
    assert effects.loc["pio", "clear"]
    assert effects.loc["pio", "low"] > 0
    assert effects.loc["fluency", "low"] < 0 < effects.loc["fluency", "high"]
    eta = fitted.judges().set_index("judge")
    others = eta.drop("annotator-7")
    assert eta.loc["annotator-7", "reliability_high"] < others["reliability_low"].min()
