"""Run benchmarks and write README.md from what they printed.

    python benchmarks/run.py                 all of them
    python benchmarks/run.py cold_fit        some of them (the others keep their last result)
    python benchmarks/run.py --report        only write README.md

A benchmark is a script in this folder that prints one JSON object: ``title``, ``rows`` (a list of dictionaries, shown
as a table) and ``notes``. Both sides of every ratio are measured in that one run. Tables from ``VOIRDIRE_SHARED``
(default ``../shared``) are needed where a title says so.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from importlib import metadata
from pathlib import Path

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"
PACKAGES = (
    "voirdire",
    "jax",
    "numpyro",
    "pymc",
    "arviz",
    "numpy",
    "scipy",
    "pandas",
    "choix",
    "evalica",
    "krippendorff",
    "openai",
    "duckdb",
    "nutpie",
)


def names() -> list[str]:
    helpers = ("run", "common", "against_pymc", "ridge", "halves")
    return sorted(path.stem for path in HERE.glob("*.py") if path.stem not in helpers)


def measure(name: str) -> None:
    print(f"{name} ...", file=sys.stderr, flush=True)
    done = subprocess.run([sys.executable, str(HERE / f"{name}.py")], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{name} failed:\n{done.stderr[-3000:]}")
    result = json.loads(done.stdout.strip().splitlines()[-1])
    result["machine"] = machine()
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def machine() -> dict[str, str]:
    found = {"python": platform.python_version(), "cores": str(os.cpu_count()), "machine": platform.machine()}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def report() -> None:
    lines = ["# Benchmarks", ""]
    lines += ["Made by `make bench`. Every ratio is of two sides measured in the same run on the same machine;", ""]
    lines[-2] += " absolute times are of a shared 2-core machine and only show the order of size."
    for name in names():
        path = RESULTS / f"{name}.json"
        if not path.exists():
            continue
        result = json.loads(path.read_text(encoding="utf-8"))
        lines += [f"## {result['title']}", "", f"`benchmarks/{name}.py`", ""]
        lines += [*table(result["rows"]), ""]
        lines += [f"- {note}" for note in result["notes"]]
        lines += ["- " + ", ".join(f"{key} {value}" for key, value in result["machine"].items()), ""]
    (HERE / "README.md").write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")


def table(rows: list[dict[str, object]]) -> list[str]:
    heads = list(dict.fromkeys(head for row in rows for head in row))
    cells = [[shown(row.get(head, "")) for head in heads] for row in rows]
    rule = "|" + "|".join(" --- " for _ in heads) + "|"
    return ["| " + " | ".join(heads) + " |", rule, *("| " + " | ".join(row) + " |" for row in cells)]


def shown(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    asked = sys.argv[1:]
    if asked != ["--report"]:
        for each in asked or names():
            measure(each)
    report()
