from __future__ import annotations

import csv
import importlib.util
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest

from voirdire import Fit, agreement, fit
from voirdire.report.compare import Comparison, compare_fits
from voirdire.report.sources import save_rows

HOSTILE = (
    "<script>window.hit=1</script>",
    "\"quoted\" & 'single' `tick`",
    r"50% of $x_1$ \textbf{b} #~^ {}[*]",
    "=cmd()",
    "@SUM(A1)",
    "-2+3",
    "\u202eright to left \u05d0\u05d1\u05d2 \u0645\u0631\u062d\u0628\u0627",
    "long " + "x" * 295,
    "|pipe| _under_ *star* [a](b)",
    "1. **日本語** é",
)


def helper() -> ModuleType:
    name = "voirdire_tests_browser"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name("browser.py"))
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    if helper().chromium() is None:
        pytest.skip("no chromium on PATH: install Debian's package chromium (or name one in VOIRDIRE_CHROMIUM)")
    opened = helper().Browser(tmp_path_factory.mktemp("chromium"))
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def axe(project: Path) -> str:
    """The text of axe-core, which make setup-browser gets from npm."""
    place = os.environ.get("VOIRDIRE_AXE") or project / ".venv" / "axe" / "node_modules" / "axe-core" / "axe.min.js"
    if not Path(place).is_file():
        pytest.skip(f"no axe-core at {place}: make setup-browser gets it (or name it in VOIRDIRE_AXE)")
    return Path(place).read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def artefacts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where screenshots are kept: VOIRDIRE_ARTEFACTS, else a temporary folder."""
    folder = os.environ.get("VOIRDIRE_ARTEFACTS")
    place = Path(folder) if folder else tmp_path_factory.mktemp("artefacts")
    place.mkdir(parents=True, exist_ok=True)
    return place


def votes(judges: int, items: int, rows: int, seed: int, ties: bool = False) -> pd.DataFrame:
    """Votes of judges of all sorts: the share of right answers runs from 0.5 to 0.95."""
    rng = np.random.default_rng(seed)
    first = rng.integers(items, size=rows)
    second = (first + rng.integers(1, items, size=rows)) % items
    judge = np.arange(rows) % judges
    right = rng.random(rows) < np.linspace(0.5, 0.95, judges)[judge]
    winner = np.where((first < second) == right, "first", "second")
    if ties:
        winner = np.where(rng.random(rows) < 0.15, "tie", winner)
    named = {"first": first, "second": second}
    table = {key: [f"item {k:02d}" for k in codes] for key, codes in named.items()}
    return pd.DataFrame({"judge": [f"judge {k:03d}" for k in judge], **table, "winner": winner})


@pytest.fixture(scope="session")
def small() -> Fit:
    """Four judges, six items, ties."""
    return fit(votes(4, 6, 240, seed=1, ties=True), model="crowd-bt-position", seed=2)


@pytest.fixture(scope="session")
def mode(small: Fit) -> Fit:
    """The same votes by their mode: no intervals."""
    return fit(small.problem.votes, model="bradley-terry", method="map")


@pytest.fixture(scope="session")
def one_judge() -> Fit:
    return fit(votes(1, 5, 60, seed=3), model="crowd-bt-position", method="laplace")


@pytest.fixture(scope="session")
def many() -> Fit:
    """200 judges."""
    return fit(votes(200, 30, 8000, seed=4), model="crowd-bt-position")


@pytest.fixture(scope="session")
def labelled() -> Fit:
    """Labels of six judges of all sorts on 50 items of two classes; "<unsure>" is no class."""
    rng = np.random.default_rng(6)
    truth = rng.integers(2, size=50)
    rows = []
    for judge, right in enumerate(np.linspace(0.55, 0.95, 6)):
        said = np.where(rng.random(50) < right, truth, 1 - truth)
        said = np.where(rng.random(50) < 0.1, 2, said)
        rows += [
            (f"judge {judge}", f"item {item:02d}", ("not safe", "safe", "<unsure>")[label])
            for item, label in enumerate(said)
        ]
    table = pd.DataFrame(rows, columns=["judge", "item", "label"])
    return fit(table, classes=["not safe", "safe"])


@pytest.fixture(scope="session")
def scored() -> Fit:
    """Scores from 1 to 4 by four judges of two groups, from mild to severe, on 15 items under two criteria."""
    rng = np.random.default_rng(8)
    rows = []
    for criterion in ("tone", "facts"):
        quality = rng.normal(0.0, 1.5, 15)
        for judge, severity in enumerate((-1.0, -0.3, 0.3, 1.0)):
            felt = quality - severity + rng.logistic(size=15)
            score = 1 + np.searchsorted([-1.5, 0.0, 1.5], felt)
            group = "mild" if severity < 0 else "severe"
            rows += [(f"judge {judge}", group, f"item {i:02d}", criterion, int(s)) for i, s in enumerate(score)]
    table = pd.DataFrame(rows, columns=["judge", "group", "item", "criterion", "score"])
    return fit(table, model="rating-severity")


@pytest.fixture(scope="session")
def both() -> Fit:
    """Votes and scores of 12 items: judge 0 only scores, judge 4 only votes, two items have no vote."""
    rng = np.random.default_rng(14)
    quality = rng.normal(0.0, 1.5, 12)
    scored, voted = [], []
    for judge in range(5):
        for item in range(12 if judge < 4 else 0):
            felt = quality[item] - 0.4 * judge + rng.logistic()
            score = 1 + int(np.searchsorted([-1.5, 0.0, 1.5], felt))
            scored.append((f"judge {judge}", f"item {item:02d}", score))
        for _ in range(50 if judge else 0):
            a, b = rng.choice(10, 2, replace=False)
            first = quality[a] - quality[b] + rng.logistic() > 0
            voted.append((f"judge {judge}", f"item {a:02d}", f"item {b:02d}", "first" if first else "second"))
    votes_of = pd.DataFrame(voted, columns=["judge", "first", "second", "winner"])
    return fit([votes_of, pd.DataFrame(scored, columns=["judge", "item", "score"])])


@pytest.fixture(scope="session")
def hostile() -> Fit:
    """Items, judges and criteria whose names are anything but plain."""
    rng = np.random.default_rng(5)
    rows = 600
    first = rng.integers(len(HOSTILE), size=rows)
    second = (first + rng.integers(1, len(HOSTILE), size=rows)) % len(HOSTILE)
    pick = lambda codes: [HOSTILE[k] for k in codes]  # noqa: E731
    table = {
        "judge": pick(rng.integers(5, size=rows)),
        "criterion": pick(rng.integers(3, size=rows)),
        "first": pick(first),
        "second": pick(second),
        "winner": np.where((first < second) == (rng.random(rows) < 0.8), "first", "second"),
    }
    on = {"judge": HOSTILE[0], "first": [HOSTILE[0]] * 6, "second": [*HOSTILE[1:3]] * 3, "winner": "first"}
    return fit(pd.DataFrame(table), pd.DataFrame(on), model="maple-position")


@pytest.fixture(scope="session")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished study as voirdire simulate leaves it: bad judges added, two designs, three models."""
    folder = tmp_path_factory.mktemp("study") / "rq3"
    folder.mkdir()
    rows = []
    for design in ("fixed order", "random order"):
        for added, count in [("none", 0), *((kind, n) for kind in ("random", "copycat") for n in (2, 5, 10))]:
            for k, model in enumerate(("majority-vote", "maple", "maple-position")):
                mean = 0.8 + 0.05 * k - 0.01 * count * (2 - k)
                row = {"panel": "ten honest judges", "added": added, "count": count, "design": design}
                rows.append(row | {"model": model, "optimiser": "map", "measure": "items", "n": 20, "mean": mean})
                rows[-1] |= {"sd": 0.02, "mcse": 0.0045}
    with (folder / "results.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    run = {"study": "rq3", "seed": 2, "replicates": 20, "versions": {"voirdire": "0.1.0"}}
    (folder / "run.json").write_text(json.dumps(run))
    return folder


@pytest.fixture(scope="session")
def hostile_scores() -> Fit:
    """Scores whose judges, items, criteria and groups have such names."""
    rng = np.random.default_rng(9)
    rows = [
        (HOSTILE[judge], HOSTILE[9 - judge % 2], HOSTILE[item], HOSTILE[criterion], int(rng.integers(1, 5)))
        for judge in range(5)
        for item in range(len(HOSTILE))
        for criterion in (0, 6)
    ]
    table = pd.DataFrame(rows, columns=["judge", "group", "item", "criterion", "score"])
    return fit(table, model="rating-severity")


@pytest.fixture(scope="session")
def hostile_labels() -> Fit:
    """Labels whose judges, items and classes have such names."""
    rng = np.random.default_rng(10)
    rows = [
        (HOSTILE[judge], HOSTILE[item], HOSTILE[(item + (rng.random() < 0.2)) % 3])
        for judge in range(len(HOSTILE))
        for item in range(len(HOSTILE))
    ]
    return fit(pd.DataFrame(rows, columns=["judge", "item", "label"]), model="one-coin-label", method="laplace")


@pytest.fixture(scope="session")
def hostile_rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Agreement of judges, under criteria, with such names."""
    rng = np.random.default_rng(11)
    rows = [
        (HOSTILE[judge], f"item {item}", HOSTILE[criterion], f"label {rng.integers(2)}")
        for judge in range(5)
        for item in range(12)
        for criterion in (2, 6)
    ]
    table = pd.DataFrame(rows, columns=["judge", "item", "criterion", "label"])
    found = agreement(table, resamples=50)
    return save_rows(found, tmp_path_factory.mktemp("agree") / "run", "agree", {"prob": 0.95, "seed": 0})


@pytest.fixture(scope="session")
def compared(hostile: Fit) -> Comparison:
    """Two fits of the same votes, and one of a judge who votes at random; the runs' names are as bad as the rest."""
    one = fit(hostile.problem.votes, model="crowd-bt", seed=3)
    rng = np.random.default_rng(12)
    every = {"first": [*HOSTILE] * 3, "second": [*HOSTILE[1:], HOSTILE[0]] * 3}
    table = {"judge": HOSTILE[2], **every, "winner": rng.choice(["first", "second"], 3 * len(HOSTILE))}
    other = fit(pd.DataFrame(table), model="crowd-bt", method="map")
    return compare_fits({HOSTILE[0]: one, HOSTILE[6]: hostile, "=cmd()": other})
