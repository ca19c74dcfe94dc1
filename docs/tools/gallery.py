"""Execute the scripts of docs/gallery as notebooks, and write what they showed: run by ``make gallery``.

A script is a notebook in the percent format: ``# %% [markdown]`` begins text (its lines after ``# ``), ``# %%`` code.
A code cell may begin with ``# alt: ...``, what its picture shows in words. A cell that begins with ``# check`` asserts
what the text says, and is not shown on the page. ``# needs: NAME`` in the first lines names a published table; where it
is neither cached nor in the folder ``--tables`` (or ``VOIRDIRE_SHARED``, or ``shared`` beside this one), the notebook
is not executed, and its page says so.

Into build/gallery go NAME.ipynb with outputs, NAME.md and pictures; what is newer than script and package is kept.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import os
import re
import shutil
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from voirdire.datasets.cache import find_files, find_part_files, is_cached
from voirdire.datasets.registry import REGISTRY
from voirdire.errors import InputError
from voirdire.folders import cache_dir

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "docs" / "gallery"
SHARED = Path(os.environ.get("VOIRDIRE_SHARED", ROOT.parent / "shared"))
SECONDS = 600  # a cell


@dataclass(frozen=True)
class Script:
    """A notebook as it is written: its cells, and the published tables that it needs."""

    name: str
    cells: tuple[tuple[str, str], ...]  # kind ("markdown", "code", "check"), text
    needs: tuple[str, ...]

    @property
    def title(self) -> str:
        """The first heading."""
        return self.cells[0][1].splitlines()[0].removeprefix("# ")


def parse(path: Path) -> Script:
    """A script of the percent format."""
    head, *parts = re.split(r"^# %%(.*)$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    cells = []
    for mark, text in zip(parts[::2], parts[1::2], strict=True):
        text = text.strip("\n")
        if "[markdown]" in mark:
            cells.append(("markdown", re.sub(r"^# ?", "", text, flags=re.MULTILINE)))
        else:
            cells.append(("check" if text.startswith("# check") else "code", text))
    return Script(path.stem, tuple(cells), tuple(re.findall(r"^# needs: (\S+)$", head, flags=re.MULTILINE)))


def execute(script: Script, cache: Path | None = None) -> Any:
    """The notebook with its outputs. Raises where a cell does."""
    notebook = new_notebook(metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})
    for kind, text in script.cells:
        notebook.cells.append(new_markdown_cell(text) if kind == "markdown" else new_code_cell(text))
        notebook.cells[-1].id = f"cell-{len(notebook.cells)}"
    # as a person's notebook: pictures inline, and not what the environment says of them
    own = {name: value for name, value in os.environ.items() if name != "MPLBACKEND"}
    if cache is not None:
        own["VOIRDIRE_CACHE"] = str(cache)
    # a loop of its own, closed at the end: several threads do this at once
    asyncio.run(NotebookClient(notebook, timeout=SECONDS, kernel_name="python3").async_execute(env=own))
    return notebook


def page(script: Script, notebook: Any | None, folder: Path) -> str:
    """The page of a notebook, whose pictures are written to ``folder``; without outputs where it was not executed."""
    parts, pictures = [], 0
    for number, (kind, text) in enumerate(script.cells):
        if kind == "check":
            continue
        if kind == "markdown":
            parts.append(text)
            if not number and notebook is None:
                needed = ", ".join(f"`{name}`" for name in script.needs)
                parts.append(
                    f"*Not executed here: the table {needed} was not at hand (`voirdire datasets` fetches it).*"
                )
            continue
        alt, code = _alt(text)
        parts.append(f"```python\n{code}\n```")
        for output in [] if notebook is None else notebook.cells[number].outputs:
            data = output.get("data", {})
            if "image/png" in data:
                pictures += 1
                name = f"{script.name}-{pictures}.png"
                (folder / name).write_bytes(base64.b64decode(data["image/png"]))
                assert alt, f"{script.name}: the picture of cell {number + 1} has no '# alt:'"
                parts.append(f"![{alt}]({name})")
            elif "text/html" in data:
                parts.append(f'<div class="output">\n{_plain(data["text/html"])}\n</div>')
            elif output.get("name") != "stderr":
                shown = output.get("text") or data.get("text/plain", "")
                if shown.strip() and not shown.startswith("<Axes"):
                    parts.append(f"```text\n{shown.rstrip()}\n```")
    parts.append(f"[This page as a notebook]({script.name}.ipynb)")
    return "\n\n".join(parts) + "\n"


def _alt(code: str) -> tuple[str, str]:
    found = re.match(r"((?:#(?: alt:| {6}).*\n)+)", code)
    if not found or not code.startswith("# alt:"):
        return "", code
    words = " ".join(line.removeprefix("# alt:").lstrip("# ").strip() for line in found[1].splitlines())
    return words, code[found.end() :]


def _plain(html: str) -> str:
    """Tables of pandas in the look of the page; no blank lines, which would end the block."""
    html = re.sub(r"<style.*?</style>", "", html, flags=re.DOTALL).replace(' border="1" class="dataframe"', "")
    html = html.replace("<th></th>", "<td></td>").replace(' style="text-align: right;"', "")
    return "\n".join(line.strip() for line in html.splitlines() if line.strip())


def build(script: Script, folder: Path, tables: Path | None = None) -> bool:
    """Write notebook, page and pictures of a script; whether it could be executed."""
    with tempfile.TemporaryDirectory() as place:
        cache, here = None, True
        for name in script.needs:
            if is_cached(name, REGISTRY[name].files) or find_part_files(name, cache_dir() / name):
                continue
            cache = Path(place)
            for copy in find_part_files(name, tables or cache).values():
                _put(copy, cache / name / copy.name)
            if find_part_files(name, cache / name):
                continue
            try:
                paths = find_files(name, REGISTRY[name].files, tables or Path(place))
            except InputError:
                here = False
                continue
            for file, path in zip(REGISTRY[name].files, paths, strict=True):
                _put(path, cache / name / file.filename)
        notebook = execute(script, cache) if here else None
        for old in folder.glob(f"{script.name}-*.png"):
            old.unlink()
        text = page(script, notebook, folder)
        if notebook is None:
            notebook = new_notebook(cells=[new_markdown_cell(text)])
        nbformat.write(notebook, folder / f"{script.name}.ipynb")
        (folder / f"{script.name}.md").write_text(text, encoding="utf-8")
    return here


def _put(path: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(path, target)


def newest(*folders: Path) -> float:
    """When a file below was last changed."""
    return max(path.stat().st_mtime for folder in folders for path in folder.rglob("*") if path.suffix != ".pyc")


def main() -> None:
    """Bring all notebooks, or those that are named, up to date."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="notebooks; all by default")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "gallery")
    parser.add_argument("--tables", type=Path, default=SHARED, help="folder with published tables")
    parser.add_argument("--again", action="store_true", help="execute what is up to date, too")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="notebooks at once")
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    package = newest(ROOT / "src" / "voirdire", ROOT / "models")

    def stale(path: Path) -> bool:
        made = asked.out / f"{path.stem}.md"
        return not made.is_file() or made.stat().st_mtime <= max(package, path.stat().st_mtime)

    def one(path: Path) -> None:
        done = build(parse(path), asked.out, asked.tables)
        print(f"{path.stem}: {'done' if done else 'not executed, its table is not at hand'}", file=sys.stderr)

    named = [path for path in sorted(SCRIPTS.glob("*.py")) if not asked.names or path.stem in asked.names]
    with ThreadPoolExecutor(max(asked.jobs, 1)) as pool:
        list(pool.map(one, [path for path in named if asked.again or stale(path)]))


if __name__ == "__main__":
    main()
