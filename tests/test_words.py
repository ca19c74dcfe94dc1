"""Words of the code: names say what they hold, docstrings open with a verb or a noun."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCES = ("src/voirdire", "simulations/src", "paper_repro/src")
QUESTION = re.compile(r"(What|Whether|How|Which|Who|Where)\b")
VAGUE_NAMES = {"found", "said", "told", "one", "at", "held", "posed", "chances", "worth", "pick", "beside", "doubt"}
VAGUE_MODULES = {
    "apart", "bearing", "betting", "chosen", "details", "exchange", "field", "forms", "given", "held", "kept", "known",
    "nested", "rated", "revealed", "taken", "telling", "trial",
}  # fmt: skip


@pytest.fixture(scope="module")
def trees(project: Path) -> dict[str, ast.Module]:
    """Syntax trees of the package and of what studies and published numbers are computed with, by path."""
    paths = (path for folder in SOURCES for path in sorted((project / folder).rglob("*.py")))
    return {str(path.relative_to(project)): ast.parse(path.read_text(encoding="utf8")) for path in paths}


def variables(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Names of variables and parameters that a module assigns, with their lines; not fields of classes."""
    fields = {
        id(statement.target)
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for statement in node.body
        if isinstance(statement, ast.AnnAssign)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and id(node) not in fields:
            yield node.id, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno


def test_no_docstring_opens_with_a_question(trees: dict[str, ast.Module]) -> None:
    opened = []
    for path, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                text = ast.get_docstring(node)
                if text and QUESTION.match(text):
                    opened.append(f"{path}: {getattr(node, 'name', 'module')}: {text.splitlines()[0]}")
    assert opened == []


def test_modules_are_called_by_what_they_have(trees: dict[str, ast.Module]) -> None:
    parts = {(part.removesuffix(".py"), path) for path in trees for part in path.split("/")}
    assert sorted(path for part, path in parts if part in VAGUE_MODULES) == []


def test_variables_are_called_by_what_they_hold(trees: dict[str, ast.Module]) -> None:
    vague = Counter(
        f"{path}:{line} {name}" for path, tree in trees.items() for name, line in variables(tree) if name in VAGUE_NAMES
    )
    assert sorted(vague) == []
