"""Items of public data sets, and people's scores of them, in the columns of the collector and of agreement tables.

A loader returns items (``id, text, context, system, source, reference``) and people's scores (``judge`` "human",
``item, criterion, score, context``). Files with a public address are fetched and checked, unless a path is given.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voirdire.datasets.cache import fetch_files
from voirdire.datasets.convert import annotation_scores
from voirdire.datasets.registry import REGISTRY
from voirdire.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

HUMAN = "human"
ORIGINAL = "Original Ground Truth"
#: Data sets that loaders fetch where no path is given.
DATASETS = {"topical-chat": "topical-chat-unieval", "summeval": "summeval-unieval", "mslr-cochrane": "mslr-cochrane"}


def topical_chat(path: Path | None) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Load the 360 replies of UniEval's result file; downloaded and checked, unless a path is given.

    The original reply of a dialogue is the reference of the other replies, and has no reference.
    """
    replies = _read_json(path or _fetched_file("topical-chat"))
    numbers: dict[str, int] = {}
    original = {r["source"]: r["system_output"] for r in replies if r["system_id"] == ORIGINAL}
    items, scores = [], []
    for reply in replies:
        context = f"dialogue-{numbers.setdefault(reply['source'], len(numbers)):02d}"
        source = f"{reply['source']}\n\nFact: {reply['context']}"
        reference = original.get(reply["source"]) if reply["system_id"] != ORIGINAL else None
        items.append(_item_row(context, reply["system_id"], reply["system_output"], source, reference))
        scores += _score_rows(items[-1], reply["scores"])
    return _make_frames(items, scores)


def summeval(path: Path | None) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Load the 1,600 summaries of SummEval, from UniEval's result file; downloaded, unless a path is given.

    Also reads ``model_annotations.aligned.paired.jsonl`` of SummEval's authors: one JSON object per line with ``id``,
    ``model_id``, ``decoded``, ``text``, ``references`` and ``expert_annotations``, the mean of which is the score.
    """
    items, scores = [], []
    for row in _read_json(path or _fetched_file("summeval")):
        if "system_output" in row:
            article = (row["doc_id"], row["system_id"], row["system_output"])
            items.append(_item_row(*article, row.get("source"), row.get("reference")))
            scores += _score_rows(items[-1], {k: v for k, v in row["scores"].items() if k != "overall"})
            continue
        reference = row["references"][0] if row.get("references") else None
        items.append(_item_row(row["id"], row["model_id"], row["decoded"], row.get("text"), reference))
        experts = row["expert_annotations"]
        scores += _score_rows(items[-1], {key: sum(e[key] for e in experts) / len(experts) for key in experts[0]})
    return _make_frames(items, scores)


def mslr_cochrane(path: Path | None) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Load annotated summaries of the MSLR shared task from ``data_with_overlap_scores.json``, downloaded or given.

    Each line is a review with its ``target`` and ``predictions`` with ``annotations`` (see
    :func:`.convert.annotation_scores`) and ``scores`` of metrics, which become columns of the items.
    """
    items, scores = [], []
    for review in _read_json(path or _fetched_file("mslr-cochrane")):
        if review.get("subtask", "Cochrane") != "Cochrane":
            continue
        for prediction in review["predictions"]:
            if not prediction.get("annotations"):
                continue
            item = _item_row(
                review["review_id"], prediction["exp_short"], prediction["prediction"], reference=review["target"]
            )
            item["review"] = item.pop("context")  # a number, which is not shown to judges
            item |= {name: str(value) for name, value in prediction.get("scores", {}).items()}
            parts = [annotation_scores(annotation) for annotation in prediction["annotations"]]
            items.append(item)
            scores += _score_rows(item, {key: sum(p[key] for p in parts) / len(parts) for key in parts[0]})
    return _make_frames(items, scores)


def columns(path: Path | None, names: Mapping[str, str | list[str]]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Load items from a table with one row per item (``.csv``, ``.tsv``, ``.jsonl``, ``.parquet``).

    Parameters
    ----------
    path : Path
        File. Rows in which all these columns are empty (as in ASAP 2.0) are left out.
    names : mapping of str to str
        Column for ``id`` and ``text``, optionally for ``context``, ``system``, ``source`` and ``reference``, and for
        people's scores as ``human CRITERION``. A list of columns becomes one text with one line per column.

    Raises
    ------
    InputError
        There is no path, or the file lacks a column.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "essays.csv"
    >>> _ = path.write_text("essay_id,full_text,score\\n1,Once.,3\\n2,Twice.,4\\n")
    >>> items, scores = columns(path, {"id": "essay_id", "text": "full_text", "human holistic": "score"})
    >>> scores.values.tolist()
    [['human', '1', 'holistic', 3.0, None], ['human', '2', 'holistic', 4.0, None]]
    """
    import pandas as pd

    wanted = [
        column_name for column in names.values() for column_name in ([column] if isinstance(column, str) else column)
    ]
    file = _needed_path(path, "data", f"a table with the columns {', '.join(wanted)}")
    if file.suffix == ".parquet":
        table = pd.read_parquet(file)
    elif file.suffix in (".jsonl", ".ndjson"):
        table = pd.DataFrame(_read_json(file))
    else:
        table = pd.read_csv(file, sep="\t" if file.suffix == ".tsv" else ",", dtype=str, keep_default_na=False)
    absent = [column for column in wanted if column not in table.columns]
    if absent:
        raise InputError(
            [f"{file}: column {column_name!r} is missing; it has {', '.join(table.columns)}" for column_name in absent]
        )
    items, scores = [], []
    texts = {key: column for key, column in names.items() if not key.startswith(HUMAN + " ")}
    people = {key.removeprefix(HUMAN + " "): str(names[key]) for key in names.keys() - texts.keys()}
    for row in table[list(dict.fromkeys(wanted))].fillna("").to_dict("records"):
        if all(value == "" for value in row.values()):
            continue
        item = {key: _cell_text(row, column) for key, column in texts.items()}
        items.append(item)
        ratings = {name: row[column] for name, column in people.items()}
        try:
            scores += _score_rows(item, {key: float(value) for key, value in ratings.items() if value != ""})
        except ValueError as error:
            raise InputError(f"{file}: item {item['id']}: a score is no number ({error})") from error
    return _make_frames(items, scores)


LOADERS: dict[str, Callable[[Path | None], tuple[Any, Any]]] = {
    "topical-chat": topical_chat,
    "summeval": summeval,
    "mslr-cochrane": mslr_cochrane,
}


def _fetched_file(loader: str) -> Path:
    name = DATASETS[loader]
    try:
        return fetch_files(name, REGISTRY[name].files)[0]
    except InputError as error:
        raise InputError([f"{problem}; or give --data PATH" for problem in error.problems]) from error


def _cell_text(row: Mapping[Any, Any], column: str | list[str]) -> str:
    return str(row[column]) if isinstance(column, str) else "\n".join(str(row[part]) for part in column)


def _needed_path(path: Path | None, name: str, what: str) -> Path:
    if path is None:
        raise InputError(f"data of {name}: no public address with registered bytes is known; give --data PATH, {what}")
    return path


def _read_json(path: Path) -> Any:
    try:
        text = path.read_text(encoding="utf-8")
        if text.startswith("{"):  # one object per line, for any file name
            return [json.loads(line) for line in text.split("\n") if line.strip()]
        return json.loads(text)
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise InputError(f"{path}: cannot be read as JSON ({error})") from error


def _item_row(
    context: object, system: object, text: str, source: str | None = None, reference: str | None = None
) -> dict[str, str]:
    item = {"id": f"{context}/{system}", "text": text, "context": str(context), "system": str(system)}
    return item | {key: v for key, v in (("source", source), ("reference", reference)) if v}


def _score_rows(item: Mapping[str, str], ratings: Mapping[str, float]) -> list[dict[str, Any]]:
    return [
        {"judge": HUMAN, "item": item["id"], "criterion": key, "score": float(value), "context": item.get("context")}
        for key, value in ratings.items()
    ]


def _make_frames(items: list[dict[str, str]], scores: list[dict[str, Any]]) -> tuple[pd.DataFrame, pd.DataFrame]:
    import pandas as pd

    return pd.DataFrame(items).fillna(""), pd.DataFrame(
        scores, columns=["judge", "item", "criterion", "score", "context"]
    )
