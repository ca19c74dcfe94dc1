"""``run.toml``: what a run collects, with which protocols, and which figures it fills."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from voirdire.errors import InputError
from voirdire.research.repro.claims import System
from voirdire.research.repro.faults import nearest
from voirdire.research.repro.fill import STATISTICS
from voirdire.research.repro.items import LOADERS

KEYS = (
    "title",
    "data",
    "columns",
    "sample",
    "statistic",
    "scales",
    "names",
    "parts",
    "spread",
    "example",
    "texts",
)
NEEDED = ("title", "data", "statistic", "parts")
PART = (
    "name",
    "protocol",
    "column",
    "options",
    "scaled",
    "criteria",
    "fills",
    "groups",
    "alpha",
    "until",
    "spread",
    "alone",
    "example",
)
EXAMPLE = ("text", "table", "column", "criterion", "people", "unit", "keys")


def read_run(system: System, name: str) -> dict[str, Any]:
    """Read and check ``runs/<name>/run.toml`` of a system.

    Raises
    ------
    InputError
        A run that there is none of, or everything wrong in the file: unknown keys, loaders and statistics, tables,
        columns, entries and claims that the paper's folder does not have.

    Examples
    --------
    >>> from voirdire.research.repro.claims import load_system
    >>> read_run(load_system("mareval"), "topical-chat")["data"]
    'topical-chat'
    """
    runs = system.folder / "runs"
    known = sorted(path.parent.name for path in runs.glob("*/run.toml"))
    if name not in known:
        raise InputError(f"unknown run {name!r}; {system.paper} has {', '.join(known) or 'none'}")
    path = runs / name / "run.toml"
    try:
        spec = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path}: cannot be read as TOML ({error})") from error
    problems = [f"{path}: {text}" for text in _problems(spec, system)]
    if problems:
        raise InputError(problems)
    return spec


def _problems(spec: Mapping[str, Any], system: System) -> Iterator[str]:
    yield from (f"unknown key {key!r}{nearest(key, list(KEYS))}" for key in spec if key not in KEYS)
    absent = [key for key in NEEDED if key not in spec]
    yield from (f"{key!r} is missing" for key in absent)
    if absent:
        return
    loaders = (*LOADERS, "columns")
    if spec["data"] not in loaders:
        yield f"data {spec['data']!r} is unknown{nearest(spec['data'], list(loaders))}; known: {', '.join(loaders)}"
    if spec["data"] == "columns" and "columns" not in spec:
        yield "'columns' is missing: the file's column for id, text, and each of people's scores"
    kind = spec["statistic"].get("kind")
    if kind not in STATISTICS:
        yield f"statistic {kind!r} is unknown{nearest(str(kind), list(STATISTICS))}; known: {', '.join(STATISTICS)}"
    names = [part.get("name") for part in spec["parts"]]
    for number, part in enumerate(spec["parts"], start=1):
        where = f"part {part.get('name', number)!r}"
        yield from (
            f"{where}: unknown key {key!r}{nearest(key, list(PART))}" for key in part if key not in PART
        )
        yield from (f"{where}: {key!r} is missing" for key in ("name",) if key not in part)
        if ("protocol" in part) == ("column" in part):
            yield f"{where}: give its 'protocol', or the 'column' of the data set's file that holds the scores"
        if names.count(part.get("name")) > 1:
            yield f"{where}: two parts have this name"
        for fill in part.get("fills", []):
            yield from (f"{where}: {text}" for text in _fill_problems(fill, system))
    yield from _example_problems(spec, system)
    claims = {claim.id for claim in system.claims if not claim.figures[0].keys}
    for text in spec.get("texts", []):
        claim = str(text.get("claim"))
        if claim not in claims:
            yield f"[[texts]]: claim {claim!r} is none that stands in the text{nearest(claim, sorted(claims))}"


def _example_problems(spec: Mapping[str, Any], system: System) -> Iterator[str]:
    """Of ``[example]``: its keys, and the cells of the people and of each part that has one."""
    how = spec.get("example")
    entries = [part["example"] for part in spec["parts"] if "example" in part]
    if how is None:
        yield from (f"a part has example {entry!r}, but there is no [example]" for entry in entries[:1])
        return
    yield from (
        f"[example]: unknown key {key!r}{nearest(key, list(EXAMPLE))}" for key in how if key not in EXAMPLE
    )
    absent = [key for key in EXAMPLE if key not in how and key != "unit"]
    yield from (f"[example]: {key!r} is missing" for key in absent)
    if not absent:
        for entry in (how["people"], *entries):
            fill = {"table": how["table"], "keys": {**how["keys"], how["column"]: entry}}
            yield from (f"[example]: {text}" for text in _fill_problems(fill, system))


def _fill_problems(fill: Mapping[str, Any], system: System) -> Iterator[str]:
    name = str(fill.get("table"))
    if name not in system.tables:
        yield f"fills table {name!r}, which {system.paper} does not have; known: {', '.join(system.tables)}"
        return
    table = system.tables[name]
    keys = fill.get("keys", {fill.get("column"): fill.get("entry")})
    for column, entry in keys.items():
        if column not in table.columns:
            yield f"fills {name}, which has no column {column!r}{nearest(str(column), list(table.columns))}"
            continue
        entries = {cell.by[column] for cell in table.cells}
        if entry not in entries:
            yield f"fills {name}, which has no {column} {entry!r}{nearest(str(entry), sorted(entries))}"


def toy_file(system: System, name: str) -> Path:
    """The file of a run's invented items.

    Raises
    ------
    InputError
        There is none.

    Examples
    --------
    >>> from voirdire.research.repro.claims import load_system
    >>> toy_file(load_system("debate"), "summeval").name
    'toy.jsonl'
    """
    found = sorted((system.folder / "runs" / name).glob("toy.*"))
    if not found:
        raise InputError(
            f"{system.folder / 'runs' / name}: there are no invented items (toy.*) for a smoke test"
        )
    return found[0]
