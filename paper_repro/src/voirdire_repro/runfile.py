"""Run file ``run.toml``: data, protocols and figures of a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from voirdire.errors import InputError
from voirdire.settings import (
    ANY,
    FLAG,
    LIST,
    TABLE,
    TABLES,
    TEXT,
    find_faults,
    nearest_word,
    read_toml,
    unknown_value_message,
)
from voirdire_repro.claims import System
from voirdire_repro.fill import STATISTICS
from voirdire_repro.items import LOADERS

KEYS = {
    "title": TEXT, "data": TEXT, "columns": TABLE, "sample": TABLE, "statistic": TABLE, "scales": TABLES,
    "names": TABLE, "groups": TABLE, "steps": TABLE, "parts": TABLES, "spread": TABLE, "example": TABLE,
    "texts": TABLES, "differs": LIST,
}  # fmt: skip
NEEDED = ("title", "data", "statistic", "parts", "differs")
PART = {
    "name": TEXT, "protocol": TEXT, "column": TEXT, "options": TABLE, "scaled": FLAG, "criteria": ANY, "fills": TABLES,
    "groups": ANY, "alpha": ANY, "until": ANY, "spread": ANY, "alone": ANY, "example": TEXT,
    "optional": FLAG, "referenced": FLAG, "prompt": TEXT,
}  # fmt: skip
EXAMPLE = {
    "text": ANY, "table": TEXT, "column": TEXT, "criterion": ANY, "people": TEXT, "unit": ANY, "keys": TABLE,
}  # fmt: skip


def read_run(system: System, name: str) -> dict[str, Any]:
    """Read and check ``runs/<name>/run.toml`` of a system.

    Raises
    ------
    InputError
        The run is unknown; or all faults of the file: unknown keys, loaders and statistics, and tables, columns,
        entries and claims that are not in the paper's folder.

    Examples
    --------
    >>> from voirdire_repro.claims import load_system
    >>> read_run(load_system("mareval"), "topical-chat")["data"]
    'topical-chat'
    """
    runs = system.folder / "runs"
    known = sorted(path.parent.name for path in runs.glob("*/run.toml"))
    if name not in known:
        raise InputError(f"unknown run {name!r}; {system.paper} has {', '.join(known) or 'none'}")
    path = runs / name / "run.toml"
    spec = read_toml(path)
    problems = [f"{path}: {text}" for text in _spec_problems(spec, system)]
    if problems:
        raise InputError(problems)
    return spec


def _spec_problems(spec: Mapping[str, Any], system: System) -> Iterator[str]:
    wrong = dict(find_faults(spec, KEYS, NEEDED))
    yield from wrong.values()
    if wrong.keys() & KEYS.keys():
        return
    loaders = (*LOADERS, "columns")
    if spec["data"] not in loaders:
        yield unknown_value_message("data", spec["data"], loaders)
    if spec["data"] == "columns" and "columns" not in spec:
        yield "'columns' is missing: the file's column for id, text, and each of people's scores"
    kind = spec["statistic"].get("kind")
    if kind not in STATISTICS:
        yield unknown_value_message("statistic", kind, STATISTICS)
    if not spec["differs"] or not all(isinstance(sentence, str) and sentence.strip() for sentence in spec["differs"]):
        yield "'differs' must be sentences: in what the run is not as the paper has it"
    names = [part.get("name") for part in spec["parts"]]
    for number, part in enumerate(spec["parts"], start=1):
        where = f"part {part.get('name', number)!r}"
        yield from (f"{where}: {fault}" for _, fault in find_faults(part, PART, ("name",)))
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
            yield f"[[texts]]: claim {claim!r} is none that stands in the text{nearest_word(claim, sorted(claims))}"


def _example_problems(spec: Mapping[str, Any], system: System) -> Iterator[str]:
    """Yield the faults of ``[example]``: of its keys, and of the cells of people and of the parts."""
    how = spec.get("example")
    entries = [part["example"] for part in spec["parts"] if "example" in part]
    if how is None:
        yield from (f"a part has example {entry!r}, but there is no [example]" for entry in entries[:1])
        return
    wrong = dict(find_faults(how, EXAMPLE, [key for key in EXAMPLE if key != "unit"]))
    yield from (f"[example]: {fault}" for fault in wrong.values())
    if not wrong.keys() & EXAMPLE.keys():
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
            yield f"fills {name}, which has no column {column!r}{nearest_word(str(column), list(table.columns))}"
            continue
        entries = {cell.by[column] for cell in table.cells}
        if entry not in entries:
            yield f"fills {name}, which has no {column} {entry!r}{nearest_word(str(entry), sorted(entries))}"


def differences(system: System) -> dict[str, list[str]]:
    """Return the differences between each run of a system and the paper, in sentences.

    Examples
    --------
    >>> from voirdire_repro.claims import load_system
    >>> list(differences(load_system("debate")))
    ['summeval', 'topical-chat']
    """
    names = sorted(path.parent.name for path in (system.folder / "runs").glob("*/run.toml"))
    return {name: list(read_run(system, name)["differs"]) for name in names}


def toy_file(system: System, name: str) -> Path:
    """Return the file of a run's invented items.

    Raises
    ------
    InputError
        There is no such file.

    Examples
    --------
    >>> from voirdire_repro.claims import load_system
    >>> toy_file(load_system("debate"), "summeval").name
    'toy.jsonl'
    """
    files = sorted((system.folder / "runs" / name).glob("toy.*"))
    if not files:
        raise InputError(f"{system.folder / 'runs' / name}: there are no invented items (toy.*) for a smoke test")
    return files[0]
