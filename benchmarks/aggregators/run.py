"""Measure methods on tables, and write the page.

    python -m benchmarks.aggregators.run                        the tables of this folder, docs/aggregators.md
    python -m benchmarks.aggregators.run --tables DIR           those of another folder, DIR/aggregators.md
    python -m benchmarks.aggregators.run --draws 10 --only llmbar --methods voirdire majority
    python -m benchmarks.aggregators.run --page                 only the page, of what is there

A cell is a table, a method, how many items are known, and a draw of them. What a method answered is kept in
``runs/aggregators``, so that a run goes on where it was stopped; a method that does not look at known items is asked
once.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import importlib
import json
import pkgutil
import signal
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
from benchmarks.aggregators import methods
from benchmarks.aggregators.halves import LEAST, apart, summary
from benchmarks.aggregators.measures import losses, measured
from benchmarks.aggregators.methods import CannotError
from benchmarks.aggregators.page import write
from benchmarks.aggregators.task import Table, Task, WrongTableError, tables

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
DRAWS = 3
HALVES = 2
LIMIT = 900  # seconds a cell may take


def all_methods() -> dict[str, ModuleType]:
    """Modules of the folder ``methods`` by their ``NAME``."""
    names = sorted(module.name for module in pkgutil.iter_modules(methods.__path__))
    found = [importlib.import_module(f"{methods.__name__}.{name}") for name in names]
    return {module.NAME: module for module in found}


def cells(table: Table, method: ModuleType, draws: int) -> list[tuple[int, int]]:
    """Pairs of how many items are known and a draw, each once for what a method looks at."""
    if table.halves:
        return [(0, draw) for draw in range(draws)]
    if not method.USES_KNOWN:
        return [(0, 0)]
    return [(known, draw) for known in table.known for draw in range(draws if known else 1)]


def known_items(task: Task, known: int, draw: int) -> pd.Index:
    """The items that are known in a draw: the first ones of an order of its own."""
    return task.gold.index[np.random.default_rng([3, draw]).permutation(len(task.gold))[:known]]


def place(out: Path, table: Table, method: ModuleType, known: int, draw: int) -> Path:
    """Where a cell's answer is kept; other settings of a table or another method's code make another cell."""
    words = ("title", "says", "why", "cite", "licence", "known")
    settings = {key: value for key, value in table.settings.items() if key not in words}
    code = ast.parse(Path(method.__file__ or "").read_text(encoding="utf-8")).body[1:]  # without the docstring
    said = json.dumps(settings, sort_keys=True) + "".join(map(ast.dump, code))
    mark = hashlib.sha256(said.encode()).hexdigest()[:8]
    return out / table.name / f"{method.__name__.rsplit('.', 1)[-1]}-{known}-{draw}-{mark}.npz"


def intervals(
    table: Table, found: dict[str, ModuleType], draws: int, out: Path, *, only_read: bool
) -> list[dict[str, Any]]:
    """Of methods that rank: whether intervals from half of the contexts hold for the other half."""
    votes = table.votes()
    if votes is None or votes["context"].nunique() < LEAST:
        return []
    rows = []
    for name, method in found.items():
        kept = []
        for draw in range(draws if hasattr(method, "ranking") else 0):
            path = place(out, table, method, 0, draw)
            path = path.with_name(f"halves-{path.name}")
            if not path.exists() and not only_read:
                try:
                    z = apart(votes, method, draw)
                except CannotError as error:
                    print(f"{table.name}: {name}, halves: {error}", file=sys.stderr, flush=True)
                    break
                path.parent.mkdir(parents=True, exist_ok=True)
                np.savez_compressed(path.with_suffix(".part.npz"), z=z)
                path.with_suffix(".part.npz").replace(path)
                print(f"{table.name}: {name}, halves, draw {draw}: {summary([z])}", file=sys.stderr, flush=True)
            if path.exists():
                with np.load(path) as file:
                    kept.append(file["z"])
        if kept:
            rows.append({"table": table.name, "method": name, "halves": len(kept), **summary(kept)})
    return rows


def answered(task: Task, method: ModuleType) -> dict[str, Any]:
    """What a method answers, and in how many seconds; or why it has no answer."""

    def stop(*_: object) -> None:
        raise CannotError(f"more than {LIMIT} seconds")

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(LIMIT)
    start = time.perf_counter()
    try:
        found = method.answer(task)
    except CannotError as error:
        return {"cannot": str(error)}
    except Exception as error:  # a rival that fails is a result, too
        return {"cannot": f"failed: {type(error).__name__}: {str(error).splitlines()[0][:100] if str(error) else ''}"}
    finally:
        signal.alarm(0)
    seconds = time.perf_counter() - start
    p = found.loc[task.questions.index, task.classes].to_numpy(float)
    if not np.isfinite(p).all() or (p < 0).any():
        return {"cannot": "failed: no probabilities"}
    return {"p": p.astype(np.float32), "seconds": seconds}


def measure(
    table: Table, found: dict[str, ModuleType], draws: int, out: Path, *, only_read: bool
) -> list[dict[str, Any]]:
    """Rows of a table: method, known, draw and measures, or why there are none."""
    rows: list[dict[str, Any]] = []
    tasks: dict[int, Task] = {}
    for name, method in found.items():
        kept: dict[tuple[int, int], dict[str, Any]] = {}
        for known, draw in cells(table, method, draws):
            half = draw if table.halves else 0
            if half not in tasks:
                tasks[half] = table.task(half)
            task = tasks[half]
            path = place(out, table, method, known, draw)
            if not path.exists():
                if only_read:
                    continue
                told = task.with_known(known_items(task, known, draw)) if known else task
                answer = answered(told, method)
                path.parent.mkdir(parents=True, exist_ok=True)
                np.savez_compressed(path.with_suffix(".part.npz"), **answer)
                path.with_suffix(".part.npz").replace(path)
                said = answer.get("cannot", f"{answer.get('seconds', 0):.1f} s")
                print(f"{table.name}: {name}, {known} known, draw {draw}: {said}", file=sys.stderr, flush=True)
            with np.load(path) as file:
                kept[known, draw] = {key: file[key] for key in file.files}
        rows += _rows(table, name, method, kept, tasks, draws)
    return rows


def _rows(
    table: Table,
    name: str,
    method: ModuleType,
    kept: dict[tuple[int, int], dict[str, Any]],
    tasks: dict[int, Task],
    draws: int,
) -> list[dict[str, Any]]:
    """Measures on the items that are not known, of every draw: also of a method that was asked once."""
    rows: list[dict[str, Any]] = []
    for known in table.known:
        for draw in range(draws if known or table.halves else 1):
            answer = kept.get((known, draw), None if method.USES_KNOWN or table.halves else kept.get((0, 0)))
            if answer is None:
                continue
            task = tasks[draw if table.halves else 0]
            row: dict[str, Any] = {"table": table.name, "method": name, "known": known, "draw": draw}
            if "cannot" in answer:
                rows.append(row | {"cannot": str(answer["cannot"])})
                continue
            rest = task.gold.index.difference(known_items(task, known, draw), sort=False)
            p = pd.DataFrame(answer["p"], task.questions.index, task.classes)
            rows.append(
                row
                | measured(p, task.gold[rest])
                | {"seconds": float(answer["seconds"]), "losses": losses(p, task.gold[rest], task.clusters)}
            )
    return rows


def main(given: list[str] | None = None) -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(prog="benchmarks.aggregators", description="Measure aggregators on tables.")
    parser.add_argument("--tables", type=Path, help="a folder of tables outside the repository")
    parser.add_argument("--draws", type=int, default=DRAWS)
    parser.add_argument("--only", nargs="+", help="names of tables")
    parser.add_argument("--methods", nargs="+", help="names of methods")
    parser.add_argument("--out", type=Path, default=ROOT / "runs" / "aggregators")
    parser.add_argument("--page", action="store_true", help="measure nothing, write the page of what is there")
    parser.add_argument("--halves", action="store_true", help="only whether intervals hold on other prompts")
    asked = parser.parse_args(given)
    try:
        there = tables(asked.tables or HERE / "tables")
        found = all_methods()
        wrong = [name for name in asked.methods or [] if name not in found]
        wrong += [name for name in asked.only or [] if name not in {table.name for table in there}]
        if wrong:
            raise WrongTableError(f"{wrong[0]!r} is unknown; methods: {', '.join(found)}")
        rows, held = [], []
        for table in there:
            if asked.only is None or table.name in asked.only:
                some = {name: one for name, one in found.items() if not asked.methods or name in asked.methods}
                if not asked.halves:
                    rows += measure(table, some, asked.draws, asked.out, only_read=asked.page)
                held += intervals(table, some, min(asked.draws, HALVES), asked.out, only_read=asked.page)
    except WrongTableError as error:
        raise SystemExit(f"error: {error}") from None
    asked.out.mkdir(parents=True, exist_ok=True)
    kept = [{key: value for key, value in row.items() if key != "losses"} for row in rows]
    (asked.out / "rows.json").write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    if asked.methods is None and asked.only is None and not asked.halves:
        write(rows, held, there, (asked.tables or ROOT / "docs") / "aggregators.md")


if __name__ == "__main__":
    main()
