"""Faults of a claims file, by file and line."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from voirdire.settings import TABLE, TEXT, Rule, find_faults, is_number, nearest_word, unknown_value_message
from voirdire_repro.checks import CHECKS, problems_of
from voirdire_repro.tables import Table
from voirdire_repro.tolerance import FORMS

KINDS = {
    "rerun": "our simulations or models give it again",
    "rederive": "it follows from other published figures",
    "public-data": "it follows from data that anyone can fetch",
    "needs-llm": "a protocol must be run with paid or large models",
    "needs-metric": "a metric with a trained model of its own must be run: BERTScore by a run, others elsewhere",
    "not-available": "the data are not public",
}
COMPUTED = ("rerun", "rederive", "public-data")
HEAD = ("system", "paper", "title")
_WRONG = "{key} = {value!r} is not what it must be, {words}"
_TEXT = replace(TEXT, says=_WRONG)
_KEYS = {
    "id": _TEXT,
    "where": _TEXT,
    "says": _TEXT,
    "kind": _TEXT,
    "published": Rule("a number or text", lambda v: is_number(v) or isinstance(v, str), _WRONG),
    "cells": replace(TABLE, says=_WRONG),
    "check": replace(TABLE, says=_WRONG),
    "tolerance": Rule(
        "a number, or a table of one of the forms that tolerances have",
        lambda v: isinstance(v, int | float | dict) and not isinstance(v, bool),
        _WRONG,
    ),
    "because": _TEXT,
    "run": Rule("a run's name, or a list of them", lambda v: isinstance(v, str | list), _WRONG),
    "method": Rule("'map' or 'adam'", lambda v: v in ("map", "adam"), _WRONG),
    "finding": _TEXT,
}
NEEDED = ("id", "where", "says", "kind", "because")


class Lines:
    """Line numbers of the entries of a claims file, which TOML readers do not give."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.text = path.read_text(encoding="utf-8").split("\n") if path.is_file() else []
        self.starts = [n for n, line in enumerate(self.text, 1) if line.strip() == "[[claims]]"]

    def line_of(self, number: int, key: str) -> int:
        """Return the line of a key of claim ``number``, else of the beginning of the claim."""
        if number >= len(self.starts):  # the claims are an inline array
            return 1
        start = self.starts[number]
        end = self.starts[number + 1] if number + 1 < len(self.starts) else len(self.text) + 1
        for n in range(start, end):
            if re.match(rf"\s*\"?{re.escape(key)}\"?\s*=", self.text[n - 1]):
                return n
        return start

    def file_line(self, number: int, key: str) -> str:
        """Return file and line in words."""
        return f"{self.path} line {self.line_of(number, key)}"


def faults_of(entry: Mapping[str, Any], number: int, lines: Lines, tables: Mapping[str, Table]) -> list[str]:
    """List the faults of one entry of a claims file, by file and line.

    Examples
    --------
    >>> faults_of({"id": "mean"}, 0, Lines(Path("claims.toml")), {})[0]
    "claims.toml line 1: 'where' is missing"
    """
    faults = []

    def add_fault(key: str, text: str) -> None:
        faults.append(f"{lines.file_line(number, key)}: {text}")

    for key, text in find_faults(entry, _KEYS, NEEDED):
        add_fault(key, text)
    kind = entry.get("kind")
    if isinstance(kind, str) and kind not in KINDS:
        add_fault("kind", unknown_value_message("kind", kind, KINDS))
    if ("cells" in entry) == ("published" in entry):
        add_fault("cells", "give the published figure as 'cells' of a table or as 'published', one of the two")
    tolerance = entry.get("tolerance")
    exact = isinstance(entry.get("published"), str)
    if tolerance is None and kind != "not-available" and not exact:
        add_fault("kind", "tolerance is missing: how far may ours be from the published figure?")
    if isinstance(tolerance, int | float) and not 0 <= tolerance < 1e6:
        add_fault("tolerance", f"tolerance {tolerance!r} must be a number from 0 up")
    if isinstance(tolerance, dict) and not _is_form(tolerance):
        forms = ", ".join("{ " + ", ".join(f"{key} = NUMBER" for key in keys) + " }" for keys in FORMS.values())
        add_fault("tolerance", f"a tolerance that is no number must be one of {forms}")
    if kind in COMPUTED and "check" not in entry and "run" not in entry:
        add_fault("kind", f"a claim of kind {kind!r} needs a check; known: {', '.join(sorted(CHECKS))}")
    if kind not in COMPUTED and "check" in entry:
        add_fault("check", f"a claim of kind {kind!r} has no check")
    if isinstance(entry.get("cells"), dict):
        faults += [f"{lines.file_line(number, 'cells')}: {text}" for text in _cell_faults(entry["cells"], tables)]
    if isinstance(entry.get("check"), dict):
        faults += [f"{lines.file_line(number, 'check')}: {text}" for text in problems_of(entry["check"], tables)]
    return faults


def _is_form(tolerance: Mapping[str, Any]) -> bool:
    keys = FORMS.get(next(iter(tolerance), ""), ())
    return bool(keys) and tolerance.keys() <= set(keys) and all(is_number(v) for v in tolerance.values())


def _cell_faults(cells: Mapping[str, Any], tables: Mapping[str, Table]) -> list[str]:
    name = str(cells.get("table"))
    if name not in tables:
        return [f"table {name!r} is unknown or has faults of its own; known: {', '.join(sorted(tables))}"]
    table = tables[name]
    faults = []
    for column, entry in cells.items():
        if column in ("table", "rest"):
            continue
        if column not in table.columns:
            faults.append(f"{name}.csv has no column {column!r}{nearest_word(column, list(table.columns))}")
            continue
        known = {cell.by[column] for cell in table.cells}
        wanted = entry if isinstance(entry, list) else [entry]
        faults += [
            f"{name}.csv has no {column} {word!r}{nearest_word(str(word), sorted(known))}"
            for word in wanted
            if str(word) not in known
        ]
    return faults
