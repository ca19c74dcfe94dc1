"""One row on its way from a file to a page: how often the code asks which kind of data it holds.

Whoever asks is a place where a new kind of data must be told of. The lines that ask are found in the source: isinstance
on tables and problems of one kind, and comparisons with the names of kinds or with ``.data``. A trace counts how often
such lines are executed, at ten most.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import voirdire
from voirdire.report.verb import report

SOURCE = Path(voirdire.__file__).parent
NAMES = {"votes", "labels", "scores", "joint"}
CLASSES = re.compile(r"(Votes|Labels|Scores|Joint|Counted)\w*|Problem")
MOST = 10


def asking(tree: ast.AST) -> Iterator[int]:
    """Lines that ask for the kind of data."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id="isinstance"), args=[_, kinds]):
                named = {getattr(part, "id", getattr(part, "attr", "")) for part in ast.walk(kinds)}
                if any(CLASSES.fullmatch(name) for name in named):
                    yield node.lineno
            case ast.Compare():
                sides = [part for side in (node.left, *node.comparators) for part in _elements(side)]
                strings = {part.value for part in sides if isinstance(part, ast.Constant)}
                of_data = any(isinstance(part, ast.Attribute) and part.attr == "data" for part in sides)
                if (strings and strings <= NAMES) or of_data:
                    yield node.lineno


def _elements(side: ast.expr) -> list[ast.expr]:
    return side.elts if isinstance(side, ast.Tuple | ast.Set | ast.List) else [side]


@pytest.fixture(scope="module")
def places() -> dict[str, set[int]]:
    """Lines that ask, by file."""
    found = {str(path): set(asking(ast.parse(path.read_text("utf8")))) for path in SOURCE.rglob("*.py")}
    return {path: lines for path, lines in found.items() if lines}


def test_lines_that_ask_are_found() -> None:
    """Negative control, so that nothing asked is not for want of looking."""
    text = "if isinstance(x, Votes | None): ...\nx.data == y\nx in ('votes', 'scores')\nx == 'people'\nx.data()"
    assert sorted(asking(ast.parse(text))) == [1, 2, 3]


@pytest.mark.parametrize(
    ("header", "rows"),
    [("judge,first,second,winner", ["a,x,y,x"]), ("judge,item,label", ["a,x,yes", "a,y,no"])],
    ids=["vote", "label"],
)
def test_a_row_is_hardly_asked_for_its_kind(
    header: str, rows: list[str], places: dict[str, set[int]], tmp_path: Path
) -> None:
    """From CSV to HTML: read, fit, report. Two labels are the least that can be told apart."""
    table, page = tmp_path / "table.csv", tmp_path / "page.html"
    table.write_text("\n".join([header, *rows, ""]))
    asked: Counter[tuple[str, int]] = Counter()

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        name = frame.f_code.co_filename
        if name not in places or frame.f_code.co_name == "<module>":
            return None
        lines = places[name]

        def line(frame: FrameType, event: str, argument: Any) -> Any:
            if event == "line" and frame.f_lineno in lines:
                asked[Path(name).name, frame.f_lineno] += 1
            return line

        return line

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        report(voirdire.fit(str(table)), page)
    finally:
        sys.settrace(before)
    assert page.stat().st_size > 10_000
    assert asked
    assert sum(asked.values()) <= MOST, dict(asked)
