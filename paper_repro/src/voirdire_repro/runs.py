"""Runs of protocols that fill claims: collect, compute, write tables in the shape of the published ones.

``paper_repro/<system>/runs/<run>/run.toml`` (see `runfile.py` beside this file) holds ``title``, ``data`` (a loader of
`items.py`, or ``columns`` with ``[columns]``), maybe ``[sample]`` (``size`` items of each entry of the
column ``by``), ``statistic``, ``[[scales]]`` (``low``, ``high``, ``criteria``), ``[[parts]]`` (``name``,
``protocol``, ``options``, and ``fills``: tables with the keys of the cells), ``[[texts]]`` (claims that stand in
the text) and ``differs`` (sentences: in what the run is not as the paper has it). ``panel.toml`` beside it holds the
judges, named as in the tables; ``toy.*`` a few invented items.

    DIR/<system>/<run>/collected/...      items, people's scores, each part's journal and tables
    DIR/<system>/<run>/<table>.csv        what ``voirdire repro --results DIR`` reads (<table>-adam.csv: by the paper's
                                          procedure)
    DIR/<system>/<run>/texts.csv          claims in the text
    DIR/<system>/<run>/curves.csv, .png   correlation by number of iterations or runs, where a figure draws it
"""

from __future__ import annotations

import csv
import io
import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voirdire.errors import InputError
from voirdire.folders import check_resumed_folder, write_file
from voirdire.layouts import Layout, recognise_json, recognise_text
from voirdire_repro.claims import System
from voirdire_repro.fill import STATISTICS, Filled
from voirdire_repro.fill.filled import BY_PAPER
from voirdire_repro.items import LOADERS, columns
from voirdire_repro.job import Job
from voirdire_repro.runfile import read_run, toy_file
from voirdire_repro.smoke_digest import smoke_test_digest
from voirdire_repro.verdicts import CURVES, TEXTS, judge_claims

if TYPE_CHECKING:
    import pandas as pd

#: Numbers of scales, criteria per scale, essays per theme and samples of essays in a smoke test.
_SMOKE_SCALES, _SMOKE_CRITERIA, _SMOKE_SIZE, _SMOKE_SAMPLES = 1, 1, 3, 1


def run(
    system: System,
    name: str,
    *,
    data: Path | None = None,
    panel: Path | None = None,
    limit: int | None = None,
    smoke: bool = False,
    out: Path | None = None,
) -> Path:
    """Collect, compute and write one run; a stopped run continues with the same folder.

    Parameters
    ----------
    system : System
    name : str
        Folder of ``runs/`` with a ``run.toml``.
    data : Path, optional
        File of the data set.
    panel : Path, optional
        File of judges to use instead of the run's ``panel.toml``.
    limit : int, optional
        Number of items to use; this gives no result and is stored separately (``<run>-smoke``).
    smoke : bool
        True for a smoke test: invented items, very small local models as judges, smallest protocols. It gives no
        result and is stored separately (``<run>-smoke``), with numbers of requests and figures in ``smoke.json``.
    out : Path
        Folder for all results.

    Returns
    -------
    Path
        Folder of the run.

    Raises
    ------
    InputError
        The run is unknown, its file has a fault, data are missing, ``out`` is missing, or the collector refuses.
    """
    spec = read_run(system, name)
    if out is None:
        raise InputError("--out is missing; name a folder for the journal and the tables")
    if smoke:
        data, spec = data or toy_file(system, name), _shrink_spec(spec)
    loader = spec["data"]
    items, human = columns(data, spec["columns"]) if loader == "columns" else LOADERS[loader](data)
    if "sample" in spec:
        items = sample_items(items, spec["sample"], spec.get("example", {}).get("text"))
    if limit is not None:
        items = items.head(limit)
    if not human.empty:
        human = human[human["item"].isin(items["id"])]
    label = f"{name}-smoke" if smoke or limit is not None else name
    folder = out / system.system / label
    job = Job(system, spec, panel or system.folder / "runs" / name / "panel.toml", folder, items, human, smoke)
    check_resumed_folder(folder, _run_layout(job), "collected")
    (folder / "collected").mkdir(parents=True, exist_ok=True)
    write_file(folder / "collected" / "items.csv", items.to_csv(index=False))
    write_file(folder / "collected" / "human.csv", human.to_csv(index=False))
    filled = STATISTICS[spec["statistic"]["kind"]](job)
    for table, rows in filled.tables.items():
        _write_table(job, table, rows)
    _write_texts(folder, filled)
    _write_curves(folder, filled)
    _tell_claims(job, name, label, out)
    return folder


def _run_layout(job: Job) -> Layout:
    """Return the layout of the folder of a run, which is recognised by its folder ``collected``."""
    tables = {
        f"{name}{end}.csv": recognise_text(",".join(table.columns))
        for name, table in job.system.tables.items()
        for end in ("", BY_PAPER)
    }
    texts, smoke = recognise_text("claim,value"), recognise_json("what", "items")
    own = {"collected": Path.is_dir, TEXTS: texts, "smoke.json": smoke}
    own |= {CURVES: recognise_text("claim,tried,value"), "curves.png": Path.is_file}
    return Layout("a run", {**tables, **own})


def sample_items(items: pd.DataFrame, how: Mapping[str, Any], example: str | None = None) -> pd.DataFrame:
    """Draw items for each entry of a column, by a seed; the result has the order of the file.

    The item that the paper prints as an example was in the paper's sample, so it is always drawn.

    Examples
    --------
    >>> import pandas as pd
    >>> items = pd.DataFrame({"id": list("abcdef"), "text": list("ABCDEF"), "system": ["x"] * 3 + ["y"] * 3})
    >>> sorted(sample_items(items, {"by": "system", "size": 1, "seed": 1}, example="f")["id"])[-1]
    'f'
    """
    import numpy as np

    generator = np.random.default_rng(how["seed"])
    items = items.reset_index(drop=True)
    wanted = items["text"].str.contains(example, case=False, regex=False) if example else items["id"] == ""
    taken: list[int] = []
    for _, rows in items.groupby(how["by"]):
        drawn = generator.permutation(rows.index.to_numpy())
        taken += sorted(drawn, key=lambda row: not wanted[row])[: how["size"]]
    return items.iloc[sorted(taken)].reset_index(drop=True)


def _shrink_spec(spec: Mapping[str, Any]) -> dict[str, Any]:
    scales = [
        {**scale, "criteria": dict(list(scale["criteria"].items())[:_SMOKE_CRITERIA])}
        for scale in spec.get("scales", [])[-_SMOKE_SCALES:]
    ]
    statistic = dict(spec["statistic"])
    if "samples" in statistic:
        statistic |= {"samples": _SMOKE_SAMPLES, "size": _SMOKE_SIZE}
    spread = {"spread": {**spec["spread"], "repeats": 2}} if "spread" in spec else {}
    # only vanilla is repeated, the protocol with the fewest questions
    parts = [
        {key: value for key, value in part.items() if key != "spread" or part.get("protocol") == "vanilla"}
        for part in spec["parts"]
    ]
    return {**spec, **spread, "scales": scales, "statistic": statistic, "parts": parts}


def _write_table(job: Job, name: str, rows: list[dict[str, Any]]) -> None:
    """Write the rows that the published table has, in its columns and order."""
    published = job.system.tables[name.removesuffix(BY_PAPER)]
    own = {tuple(str(row.get(column)) for column in published.columns): row["value"] for row in rows}
    lines = [(*published.columns, "value")]
    for cell in published.cells:
        value = own.get(tuple(cell.by.values()))
        if value is not None and value == value:
            lines.append((*cell.by.values(), f"{value:.6g}"))
    write_file(job.folder / f"{name}.csv", _csv_text(lines))


def _write_texts(folder: Path, filled: Filled) -> None:
    lines = [("claim", "value")]
    for claim, value in filled.texts.items():
        if value == value:
            lines.append((claim, value if isinstance(value, str) else f"{value:.6g}"))
    write_file(folder / TEXTS, _csv_text(lines))


def _write_curves(folder: Path, filled: Filled) -> None:
    """Write the values that a figure of a paper shows against iterations or runs, as numbers and as a picture."""
    if not filled.curves:
        return
    from voirdire_repro.draw import canvas, save

    lines = [("claim", "tried", "value")]
    figure, axes = canvas(1, len(filled.curves), width=4.0 * len(filled.curves))
    for axis, (claim, curve) in zip(axes, filled.curves.items(), strict=True):
        lines += [(claim, str(tried), f"{value:.6g}") for tried, value in curve.items()]
        axis.plot(list(curve), list(curve.values()), "o-")
        axis.set_title(claim, fontsize=9)
        axis.set_xlabel("tried: iterations or runs", fontsize=8)
        axis.set_ylabel("correlation with people", fontsize=8)
    write_file(folder / CURVES, _csv_text(lines))
    save(figure, folder / "curves.png", "Our run.")


def _csv_text(lines: Iterable[Sequence[str]]) -> str:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(lines)
    return text.getvalue()


def _tell_claims(job: Job, name: str, label: str, out: Path) -> None:
    """Print the verdicts on claims with figures of the run; for a smoke test, only their numbers, not their values."""
    rows = [
        row
        for row in judge_claims(job.system, fetch=False, results=out, called={name: label})
        if row.ours is not None and name in next(c.runs for c in job.system.claims if c.id == row.claim)
    ]
    counted = Counter(row.claim for row in rows)
    if label == name:
        verdicts = Counter((row.claim, row.verdict) for row in rows)
        for (claim, verdict), count in verdicts.items():
            print(f"{job.system.paper}, {claim}: {verdict} {count}", file=sys.stderr)
        print("Not as the paper has it:", *job.spec["differs"], sep="\n  ", file=sys.stderr)
        return
    print(f"{job.system.paper}, {name}: smoke test of {len(job.items)} items, no result", file=sys.stderr)
    summary = {
        "what": "a smoke test on invented items by very small models: that the run works, no result",
        "of": smoke_test_digest(job.system, name),
        "items": len(job.items),
        "requests": int(sum(call["requests"] for call in job.asked)),
        "missing": int(sum(call.get("missing", 0) for call in job.asked)),
        "parts": [part["name"] for part in job.spec["parts"] if not part.get("optional")],
        "figures": dict(counted),
    }
    write_file(job.folder / "smoke.json", json.dumps(summary, indent=1) + "\n")
