"""Samples of the lm-evaluation-harness: metrics, which are programs rather than judges, per document."""

from __future__ import annotations

import glob
import json
import os
import re
from collections.abc import Iterator

from voirdire.tables.formats.format import Asked, Format, has_keys, key_sets, read_records, short_text
from voirdire.tables.formats.records import Record
from voirdire.tables.formats.rows import Note, Refused, Row, Score, join_names, name_text, number_or_none
from voirdire.tables.formats.source import Head, Source

_NEEDS = key_sets("doc_id filtered_resps")
_FIXED = {
    "doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics", "doc_hash",
    "prompt_hash", "target_hash",
}  # fmt: skip
_NAME = re.compile(r"samples_(.+?)_\d{4}-\d\d-\d\dT.*|samples_(.+?)\.jsonl.*")


def _detect_format(head: Head) -> bool:
    return has_keys(head, _NEEDS)


def _read_rows(source: Source, asked: Asked) -> Iterator[Row]:
    found = _NAME.fullmatch(source.name)
    task = (found[1] or found[2]) if found else source.name.partition(".")[0]
    system = asked.system or _model_from_results_file(source.path)

    def read_record(record: Record, place: str) -> Iterator[Row]:
        context = join_names(task, record["doc_id"])
        item = context if system is None else join_names(context, system)
        for key in dict.fromkeys([*(record.get("metrics") or []), *record]):
            if key in _FIXED:
                continue
            said = record[key]
            judge = f"{key},{name_text(record.get('filter', 'none'))}"
            value = None if key == "bypass" else number_or_none(said) if not isinstance(said, str) else None
            if value is None:
                yield Refused(f"{place} {judge}", f"not a number per sample: {short_text(said)}")
            else:
                yield Score(judge, item, value, context=context, system=system)

    yield from read_records(source, read_record)
    if system is None:
        yield Note(
            f"{source.name}: no results file beside it names the model; --set system=NAME says which it is"
        )


def _model_from_results_file(path: str) -> str | None:
    """The model of the results file of the same run, or of the only one in the folder."""
    folder, name = os.path.split(path)
    date = name.rpartition("_")[2].removesuffix(".jsonl")
    beside = glob.glob(os.path.join(glob.escape(folder), "results_*.json"))
    same = [file for file in beside if date in file] or (beside if len(beside) == 1 else [])
    for file in same:
        try:
            with open(file, encoding="utf-8") as stream:
                model = json.load(stream).get("model_name")
        except (OSError, ValueError, AttributeError, RecursionError):
            continue
        if isinstance(model, str) and model:
            return model
    return None


FORMAT = Format("lmeval", "lm-evaluation-harness", _NEEDS, _detect_format, _read_rows, ("system",))
