"""Page ``paper_repro/README.md``: ``voirdire repro --page > paper_repro/README.md``.

Public data are not used, so that the page is the same on every machine.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from voirdire_repro.checks.studies import path_of
from voirdire_repro.claims import System, load_system, system_names
from voirdire_repro.faults import KINDS
from voirdire_repro.runfile import differences, read_run
from voirdire_repro.summary import Summary, count_verdicts, figure_text, summarise_claims
from voirdire_repro.transcribed import studies_of
from voirdire_repro.verdicts import VERDICTS, Row, judge_claims
from voirdire_studies import load_study
from voirdire_studies.readme import drops_table

_ABOUT = """# Published numbers, checked

One folder per paper: `claims.toml` says what is claimed, how it is checked and how near ours must come; `tables/`
holds the figures of the paper's tables (captions in our words). `voirdire repro [PAPER]` compares: what follows from
other figures it computes on the spot, what our simulations give it reads from their kept results (listed below, with
the day they were made); `--rerun` simulates them anew, 20 replicates of the cells that claims speak of (MAPLE's: 19
minutes of one core, most of them the paper's 5,000 epochs of Adam; less with `--jobs 2` or `--replicates 10`; the other
papers rest on no simulation and take 1 to 2 seconds each), and allows two of their Monte Carlo errors; public data are
used where they can be fetched. `--strict` exits with 1 where a difference is not explained or something was changed
here: `voirdire repro --rerun --strict --jobs 2` checks all five papers, and exits with 0.
`voirdire repro PAPER --figures DIR` draws the paper's figures (`reproduce.py`), `--run NAME --out DIR` runs its
protocols. This page is made without public data (`make repro`), so their claims read "not-fetched" here.

A row of the tables below is a claim; it may speak of many figures. `within` is how far the farthest of ours is from
the published one; a simulated drop stands with its Monte Carlo error. "failed" is a difference between ours and the
paper's; "inconsistent-in-paper" one between two places of the paper; "changed-here" a figure, claim or results file
that is not what was transcribed, written down or simulated (`transcribed.json` in each folder), so that the difference
may be ours. "reproduced" of a rerun means: our simulation came within the tolerance."""


_ABOUT_RUNS = """## Runs

What fills the claims of kind "needs-llm" (and those on data whose file one has to get): one command collects, fits,
compares with people and writes the claims' figures. A smoke test is the same command with `--smoke`: a few invented
items, very small local models in the judges' places, protocols at their smallest. It shows that the run works from end
to end; its figures are no results and are kept nowhere, only how many there were."""


_ABOUT_LEFT = """## What is not computed, and why

Every figure of kind "needs-llm" has a run above that fills it. These have none, or one that needs what is not public or
not in a package: a model that the user has, or a file that the user has been given (`--data`)."""


def repro_page() -> str:
    """Write the whole page.

    Examples
    --------
    >>> repro_page().startswith("# Published numbers, checked")
    True
    """
    systems = [load_system(name) for name in system_names()]
    judged = [(system, judge_claims(system, fetch=False)) for system in systems]
    parts = [_ABOUT, _coverage_sentence(judged), _counts_table([row for _, rows in judged for row in rows])]
    parts.append(_results_table(systems))
    parts += ["\n\n".join(_paper_section(system, rows)) for system, rows in judged]
    parts += [_runs_table(systems), _unchecked_table(systems)]
    return "\n\n".join(parts) + "\n"


def _results_table(systems: list[System]) -> str:
    """Write the table of the stored results, with the dates when they were made."""
    lines = ["| kept results | read by claims of | replicates | seed | made |", "|---|---|---:|---:|---|"]
    for system in systems:
        for study in studies_of(system.claims):
            path = path_of(study)
            run = json.loads((path.parent / "run.json").read_text(encoding="utf-8"))
            name = "/".join(path.parts[-5 if "/" in study else -3 :])
            lines.append(f"| `{name}` | {system.paper} | {run['replicates']} | {run['seed']} | {run['made']} |")
    return "\n".join(lines)


def _runs_table(systems: list[System]) -> str:
    """Write the table of the runs, with the result of the smoke test of each."""
    lines = [_ABOUT_RUNS, "", "| run | protocols | claims | smoke test |", "|---|---|---|---|"]
    for system in systems:
        for path in sorted((system.folder / "runs").glob("*/run.toml")):
            name = path.parent.name
            spec = read_run(system, name)
            protocols = dict.fromkeys(part["protocol"] for part in spec["parts"] if "protocol" in part)
            claims = sum(name in claim.runs for claim in system.claims)
            link = f"[{system.system}/{name}]({system.system}/runs/{name}/run.toml): {spec['title']}"
            lines.append(f"| {link} | {', '.join(protocols)} | {claims} | {_smoke_summary(path.parent)} |")
    return "\n".join(lines)


def _unchecked_table(systems: list[System]) -> str:
    """Write the table of claims without a check, each with the reason, and the run that computes it if there is one."""
    lines = [_ABOUT_LEFT, "", "| paper | where | claim | figures | why | run |", "|---|---|---|---:|---|---|"]
    for system in systems:
        for claim in system.claims:
            if claim.kind in ("needs-metric", "not-available"):
                cells = [system.paper, claim.where, claim.says, str(len(claim.figures)), claim.because]
                lines.append("| " + " | ".join([*cells, ", ".join(claim.runs) or "–"]) + " |")
    return "\n".join(lines)


def _smoke_summary(folder: Path) -> str:
    path = folder / "smoke.json"
    if not path.is_file():
        return "not kept"
    summary = json.loads(path.read_text(encoding="utf-8"))
    figures = sum(summary["figures"].values())
    return f"{summary['requests']} requests, {summary['missing']} without an answer, {figures} figures came out"


def _coverage_sentence(judged: list[tuple[System, list[Row]]]) -> str:
    figures = computed = looked_up = 0
    for system, _ in judged:
        for table in system.tables.values():
            figures += len(table.cells)
        kinds: dict[object, set[str]] = {}
        for claim in system.claims:
            for cell in claim.figures:
                if cell.table in system.tables:
                    kinds.setdefault(cell, set()).add(claim.kind)
        computed += sum(bool(claim_kinds & {"rerun", "rederive"}) for claim_kinds in kinds.values())
        looked_up += sum(
            "public-data" in claim_kinds and not claim_kinds & {"rerun", "rederive"} for claim_kinds in kinds.values()
        )
    claims = sum(len(system.claims) for system, _ in judged)
    return (
        f"{claims} claims speak of the {figures} figures in the tables and of figures in the text. Of those in the\n"
        f"tables {computed} are recomputed here and {looked_up} more from public data; the others have a kind that\n"
        "says why not. A figure that several claims speak of counts in each of them below."
    )


def _counts_table(rows: list[Row]) -> str:
    counts = count_verdicts(rows)
    lines = [f"| checks by kind | {' | '.join(VERDICTS)} |", "|---|" + "---:|" * len(VERDICTS)]
    for kind, meaning in KINDS.items():
        cells = " | ".join(str(counts[kind][verdict] or "–") for verdict in VERDICTS)
        lines.append(f"| {kind}: {meaning} | {cells} |")
    return "\n".join(lines)


def _paper_section(system: System, rows: list[Row]) -> list[str]:
    summaries = summarise_claims(system, rows)
    lines = ["| where | claim | kind | published | ours | tolerance | verdict |", "|---|---|---|---|---|---|---|"]
    lines += [_summary_line(summary) for summary in summaries]
    parts = [f"## {system.paper}", f"{system.title}. [Claims]({system.system}/claims.toml).", "\n".join(lines)]
    for name in studies_of(system.claims):
        study = load_study(path_of(name).parent / "study.toml")
        if "/" in name and "added" in study.settings:
            parts += [
                f"All panels of {system.system}/runs/{study.name} ({study.title.lower()}): the mean without added "
                "judges, and the drop with them, with its Monte Carlo error.",
                "\n".join(drops_table(study)),
                study.settings.get("finding", ""),
            ]
    if differs := differences(system):
        parts.append("Where our runs are not as the paper has them:")
        parts.append("\n".join(f"- {name}: {' '.join(texts)}" for name, texts in differs.items()))
    findings = [summary for summary in summaries if summary.claim.finding]
    if findings:
        parts.append("Findings:")
        parts.append(
            "\n".join(
                f"- {summary.claim.where} (`{summary.claim.id}`): {summary.claim.finding}" for summary in findings
            )
        )
    return parts


def _tolerance_text(how: float | Mapping[str, float]) -> str:
    """Return a tolerance as text: a number, or the basis of the standard error of each figure."""
    if not isinstance(how, Mapping):
        return figure_text(how)
    if "items" in how:
        return f"{figure_text(float(how['items']))} item"
    return "2 se: " + ", ".join(f"{key} {figure_text(float(n))}" for key, n in how.items())


def _summary_line(summary: Summary) -> str:
    claim = summary.claim
    tolerance = "" if claim.tolerance is None else _tolerance_text(claim.tolerance)
    cells = [claim.where, claim.says, claim.kind, summary.published, summary.ours, tolerance, summary.in_words]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
