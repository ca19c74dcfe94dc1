"""Nine tasks of a new user, by the commands of the site's pages as they are written there (needs the shared folder).

Fails where a page lacks its command, a task takes more than two, or one exits with another code than 0.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from common import shared, show, timed

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
MAX_COMMANDS = 2
KNOWN = 200  # items of known class
COLLECT_PAGE = "people.md"
PROGRAMS = {"voirdire": [sys.executable, "-m", "voirdire"], "python": [sys.executable]}

Source = Callable[[], bytes]


def packaged(name: str) -> Source:
    """A table of the demo, which is in the package."""
    return (ROOT / "src" / "voirdire" / "datasets" / "demo" / name).read_bytes


def given(name: str, folder: str = "data", lines: int | None = None) -> Source:
    """A file of the shared folder; with ``lines``, only the first of them."""
    return lambda: b"".join(shared(name, folder).read_bytes().splitlines(keepends=True)[:lines])


def written(page: str, language: str) -> Source:
    """The first block of a page in a language."""
    text = (DOCS / page).read_text(encoding="utf-8")
    blocks = re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)
    return blocks[0].encode


@dataclass(frozen=True)
class Task:
    """A task: pages with the beginnings of the commands to take from them, and the files that these commands name."""

    aim: str
    commands: tuple[tuple[str, str], ...]
    files: dict[str, Source] = field(default_factory=dict)


TASKS = (
    Task("leaderboard of votes", (("boards.md", "voirdire board votes.csv"),), {"votes.csv": packaged("votes.csv")}),
    Task(
        "judges and people in one table of scores",
        (("agreement.md", "voirdire metaeval scores.csv"), ("audit.md", "voirdire audit scores.csv")),
        {"scores.csv": given("topicalchat_scores.csv")},
    ),
    Task(
        "labels, some items known",
        (("labels.md", "voirdire fit labels.csv --anchors"),),
        {"labels.csv": given("dogs_labels.csv"), "known.csv": given("dogs_gold.csv", lines=KNOWN + 1)},
    ),
    Task(
        "annotations of AlpacaEval",
        (("import.md", "voirdire fit annotations.json"),),
        {"annotations.json": given("annotations.json", "formats/alpacaeval/weighted")},
    ),
    Task(
        "log of Inspect",
        (("import.md", "voirdire fit log.eval"),),
        {"log.eval": given("2026-01-05T10-00-00_support-quality_dev.eval", "formats/inspect/eval_two_graders")},
    ),
    Task("how many more answers", (("simulate.md", "voirdire plan pilot.csv"),), {"pilot.csv": packaged("votes.csv")}),
    Task("how many bad judges", (("simulate.md", "voirdire simulate --votes"),), {"votes.csv": packaged("votes.csv")}),
    Task(
        "ask small local models",
        ((COLLECT_PAGE, "voirdire collect panel.toml items.csv"), (COLLECT_PAGE, "voirdire fit runs/maple")),
        {"items.csv": written(COLLECT_PAGE, "csv"), "panel.toml": written(COLLECT_PAGE, "toml")},
    ),
    Task("a notebook", (("gallery/index.md", "python docs/tools/gallery.py"),)),
)


def command(page: str, beginning: str) -> str:
    """The first command of a page's blocks that begins so, as it is typed."""
    for line in (DOCS / page).read_text(encoding="utf-8").splitlines():
        if line.strip().startswith(beginning):
            return re.sub(" +#.*", "", line.strip())
    raise SystemExit(f"docs/{page} has no command {beginning!r}")


def run(task: Task, folder: Path) -> dict[str, object]:
    """Do a task in a new folder, and count what a new user waits for and reads."""
    if len(task.commands) > MAX_COMMANDS:
        raise SystemExit(f"{task.aim}: {len(task.commands)} commands, more than {MAX_COMMANDS}")
    for name, source in task.files.items():
        (folder / name).write_bytes(source())
    (folder / "docs").symlink_to(DOCS)
    own = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    typed, printed, seconds = [], "", 0.0
    for line in (command(*each) for each in task.commands):
        program, *words = shlex.split(line)
        call = [*PROGRAMS[program], *words]
        once, done = timed(lambda call=call: subprocess.run(call, cwd=folder, env=own, capture_output=True, text=True))
        typed.append(line)
        if done.returncode:
            raise SystemExit(f"{task.aim}: {line} exits with {done.returncode}:\n{done.stdout}{done.stderr}")
        seconds, printed = seconds + once, printed + done.stdout + done.stderr
    return {
        "task": task.aim,
        "page": ", ".join(dict.fromkeys(page for page, _ in task.commands)),
        "commands": "; ".join(f"`{line}`" for line in typed),
        "seconds": round(seconds, 1),
        "exit codes": ", ".join("0" for _ in typed),
        "warnings": len(re.findall(r"^(?:warn|fail) ", printed, flags=re.MULTILINE)),
        "sentences": len(re.findall(r"[\w)\]'%]\.(?=\s)", printed)),
        "lines": len(printed.splitlines()),
    }


def main() -> None:
    """Do all tasks."""
    rows = []
    for task in TASKS:
        with tempfile.TemporaryDirectory() as folder:
            rows.append(run(task, Path(folder)))
    notes = (
        "Commands are read from the pages and run as they are, on the demo's votes (leaderboard, more answers, bad "
        f"judges), Topical-Chat's scores, labels of dogs with {KNOWN} known items, and files as AlpacaEval and Inspect "
        "write them. The models asked are those of the page, which must be installed (two tiny ones).",
        "Seconds of whole processes; warnings: checks that are not ok; sentences and lines: all that is printed, at 80 "
        "columns. A page without its command, a third command and an exit code other than 0 are errors.",
    )
    show("Nine tasks of a new user, by the commands of the pages", rows, list(notes))


if __name__ == "__main__":
    main()
