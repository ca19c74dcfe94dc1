"""Export of a fit to the formats of other tools: scores per sample with their uncertainty."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voirdire.errors import InputError
from voirdire.folders import write_file, write_folder_atomically
from voirdire.layouts import Layout, recognise_text

if TYPE_CHECKING:
    from voirdire.kinds.fit import Fit

Row = dict[str, Any]
_TABLE_NAMES = ("items", "judges", "criteria", "shares", "confusion", "checks")
_FOLDER_LAYOUTS = {
    "csv": Layout("exported tables", {f"{name}.csv": recognise_text("") for name in _TABLE_NAMES}),
    "parquet": Layout("exported tables", {f"{name}.parquet": recognise_text("PAR1") for name in _TABLE_NAMES}),
}


def export(fit: Fit, to: str, out: str | Path, *, system: str | None = None, overwrite: bool = False) -> Path:
    """Write a fit in the format of another tool.

    Parameters
    ----------
    fit : Fit
    to : "inspect", "argilla", "label-studio", "deepeval", "openai-evals", "csv" or "parquet"
        inspect: records for its scorer ``precomputed_scores``, by sample and epoch. argilla: records with the scores as
        metadata. label-studio: tasks with predictions. deepeval: goldens for ``add_goldens_from_json_file``, with the
        label as expected output. openai-evals: samples (JSONL) with the label as ``ideal``; for fits of labels only.
        csv, parquet: a folder with the tables of the result.
    out : path
        Path of a new file; for csv and parquet, of a new folder.
    system : str, optional
        For inspect, where items are of several systems: the system to export.
    overwrite : bool
        True to replace an earlier export.

    Returns
    -------
    Path

    Raises
    ------
    InputError
        The format is unknown, ``out`` exists, the names of the items do not identify their samples, or openai-evals is
        asked for with a fit without labels.
    """
    path = Path(out)
    if to in _FOLDER_LAYOUTS:
        with write_folder_atomically(path, _FOLDER_LAYOUTS[to], overwrite=overwrite) as folder:
            _write_tables(fit, folder, to)
        return path
    if to not in _WRITERS:
        raise InputError(f"format {to!r} is none of {', '.join((*_WRITERS, *_FOLDER_LAYOUTS))}")
    if path.exists() and not overwrite:
        raise InputError(f"{path} is there; name another file or pass --overwrite (overwrite=True)")
    rows = _WRITERS[to](fit, system) if to == "inspect" else _WRITERS[to](fit)
    if to in _JSONL_FORMATS:
        text = "\n".join(json.dumps(row, ensure_ascii=False, allow_nan=False) for row in rows)
    else:
        text = json.dumps(rows, ensure_ascii=False, indent=1, allow_nan=False)
    write_file(path, text + "\n")
    return path


def _item_facts(fit: Fit, row: Row) -> Row:
    """Return the known values of an item, without its name."""
    facts: Row = {"model": f"voirdire {fit.model.name}", "method": fit.method}
    if "sd" in row and row["low"] is not None:
        facts["interval"] = fit.prob
    return facts | {key: value for key, value in row.items() if key != "item" and value is not None}


def _row_value(row: Row) -> Any:
    return row["label"] if "label" in row else row["score"]


def _inspect_records(fit: Fit, system: str | None) -> list[Row]:
    """Make records for Inspect's precomputed scores; items are ``<sample>/<model>`` or ``<sample>/<model>/<epoch>``."""
    contexts = _item_contexts(fit)
    name_parts = {item: _split_name(item, context) for item, context in contexts.items()}
    several = len({sample_name for sample_name, _, _ in name_parts.values()}) < len(name_parts)
    epochs = several and all(epoch is not None for _, _, epoch in name_parts.values())
    entries: dict[tuple[str, int | None], Row] = {}
    for row in fit.as_dict()["items"]:
        sample, model_name, epoch = name_parts[row["item"]]
        item_system = model_name.rpartition("/")[0] if epochs else model_name
        if system is not None and item_system != system:
            continue
        key = sample, epoch if epochs else None
        record = {"id": sample} | ({"epoch": epoch} if epochs else {})
        entry = entries.setdefault(key, record | {"value": {}, "metadata": {}, "whose": item_system})
        criterion = row.get("criterion") or ""
        if entry["whose"] != item_system or criterion in entry["value"]:
            raise InputError(
                f"sample {sample!r} has answers of {entry['whose']!r} and {item_system!r}; name one with --system "
                "(system=)"
            )
        entry["value"][criterion], entry["metadata"][criterion] = _row_value(row), _item_facts(fit, row)
    if not entries:
        raise InputError(f"no item is of system {system!r}")
    for sample_entry in entries.values():
        del sample_entry["whose"]
        if len(sample_entry["value"]) == 1:
            for name in ("value", "metadata"):
                (sample_entry[name],) = sample_entry[name].values()
    return list(entries.values())


def _item_contexts(fit: Fit) -> dict[str, str]:
    """Return the context of each item: the sample that it answers."""
    table = fit.kind.table_of(fit.problem)
    context, item = getattr(table, "context", None), getattr(table, "item", None)
    if context is None or item is None:
        return {name: name for name in fit.problem.items}
    pairs = set(zip(item.tolist(), context.tolist(), strict=True))
    if len(pairs) > len({item_code for item_code, _ in pairs}):
        return {name: name for name in fit.problem.items}  # items that are judged in several contexts
    return {table.items[item_code]: table.contexts[context_code] for item_code, context_code in pairs}


def _split_name(item: str, context: str) -> tuple[str, str, int | None]:
    """Split the name of an item into sample, model and epoch.

    Examples
    --------
    >>> _split_name("s1/openai/gpt-4o/2", "s1"), _split_name("s1", "s1"), _split_name("s1 / GPT 4", "s1")
    (('s1', 'openai/gpt-4o/2', 2), ('s1', '', None), ('s1', 'GPT 4', None))
    """
    model_name = item.removeprefix(context).strip(" /") if item.startswith(context) else ""
    last_part = model_name.rpartition("/")[2]
    return context, model_name, int(last_part) if last_part.isdecimal() else None


def _argilla_records(fit: Fit) -> list[Row]:
    """Make records for ``Dataset.records.from_json``: one per item, with its results as metadata."""
    return [
        {"id": _record_id(row), "fields": {"item": row["item"]}, "metadata": _item_facts(fit, row), "suggestions": {}}
        | {"responses": {}, "vectors": {}}
        for row in fit.as_dict()["items"]
    ]


def _record_id(row: Row) -> str:
    return f"{row['item']} | {row['criterion']}" if row.get("criterion") else str(row["item"])


def _label_studio(fit: Fit) -> list[Row]:
    """Make tasks with one prediction each: a number or a choice named ``voirdire``."""
    tasks = []
    for row in fit.as_dict()["items"]:
        value = _row_value(row)
        value_fields = {"type": "choices", "value": {"choices": [value]}} if "label" in row else {}
        value_fields = value_fields or {"type": "number", "value": {"number": value}}
        result = {"from_name": "voirdire", "to_name": "item"} | value_fields
        prediction: Row = {"model_version": f"voirdire {fit.model.name}", "result": [result]}
        if "probability" in row:
            prediction["score"] = row["probability"]
        tasks.append({"data": {"item": row["item"]}, "meta": _item_facts(fit, row), "predictions": [prediction]})
    return tasks


def _deepeval_goldens(fit: Fit) -> list[Row]:
    """Make goldens: one per item, with the label as expected output and its results as metadata."""
    return [
        {"input": str(row["item"]), "name": _record_id(row)}
        | ({"expected_output": str(row["label"])} if "label" in row else {})
        | {"additional_metadata": _item_facts(fit, row)}
        for row in fit.as_dict()["items"]
    ]


def _openai_evals(fit: Fit) -> list[Row]:
    """Make samples: the item as input, its label as the ideal completion."""
    rows = fit.as_dict()["items"]
    if any("label" not in row for row in rows):
        raise InputError("format 'openai-evals' is of labels, which say what is right; this fit has scores")
    return [{"input": str(row["item"]), "ideal": str(row["label"]), "metadata": _item_facts(fit, row)} for row in rows]


def _write_tables(fit: Fit, folder: Path, to: str) -> None:
    result = fit.as_dict()
    import duckdb
    import pandas as pd

    with duckdb.connect() as connection:
        for name in _TABLE_NAMES:
            rows = result.get(name)
            if not rows:
                continue
            frame = pd.DataFrame(rows)
            if to == "csv":
                frame.to_csv(folder / f"{name}.csv", index=False)
                continue
            frame = frame.dropna(axis=1, how="all")
            connection.register("frame", frame)
            path = str(folder / f"{name}.parquet").replace("'", "''")
            connection.execute(f"COPY frame TO '{path}' (FORMAT parquet)")
            connection.unregister("frame")


_WRITERS: dict[str, Callable[..., list[Row]]] = {
    "inspect": _inspect_records,
    "argilla": _argilla_records,
    "label-studio": _label_studio,
    "deepeval": _deepeval_goldens,
    "openai-evals": _openai_evals,
}
_JSONL_FORMATS = ("openai-evals",)  # formats with one record per line
FORMATS = (*_WRITERS, *_FOLDER_LAYOUTS)
