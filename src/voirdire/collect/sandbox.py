"""Sandbox for untrusted templates: they can only fill in texts, in bounded time and space.

Extends Jinja2's sandbox. Every iteration, call and operation is a step; a prompt has half a million steps. Values and
output have at most 8 million characters, checked before they are made. Only the filters and methods that prompts need
are available. Files are templates below the given folders. Nothing is random.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator, MappingView, Sequence
from pathlib import Path
from typing import Any

from jinja2 import BaseLoader, Environment, StrictUndefined, TemplateNotFound, Undefined, nodes, pass_context
from jinja2.exceptions import SecurityError, TemplateSyntaxError
from jinja2.filters import FILTERS
from jinja2.loaders import split_template_path
from jinja2.sandbox import SandboxedEnvironment
from jinja2.visitor import NodeTransformer

MAX_STEPS, MAX_CHARS = 500_000, 8_000_000
_MAX_TEMPLATE_BYTES = 1_000_000
_ALLOWED_FILTERS = (
    "abs", "capitalize", "center", "count", "d", "default", "dictsort", "e", "escape", "first", "float", "format",
    "groupby", "indent", "int", "items", "join", "last", "length", "list", "lower", "map", "max", "min", "reject",
    "rejectattr", "replace", "reverse", "round", "select", "selectattr", "sort", "string", "sum", "title", "tojson",
    "trim", "truncate", "unique", "upper", "wordcount", "wordwrap",
)  # fmt: skip
#: Filters whose output may be longer than their input: at most the product of the arguments' sizes (or numbers).
_GROWING_FILTERS = ("center", "format", "indent", "join", "replace", "tojson", "wordwrap")
_ALLOWED_METHODS = {
    "capitalize", "count", "endswith", "find", "get", "index", "isalpha", "isdigit", "islower", "isupper", "items",
    "keys", "lower", "lstrip", "removeprefix", "removesuffix", "rstrip", "split", "splitlines", "startswith", "strip",
    "title", "upper", "values",
}  # fmt: skip
_WIDE_FORMAT = re.compile(r"%[^a-zA-Z%]*(?:\*|\d{4})")
_MAX_BITS, _MAX_PRECISION, _MAX_POWER = 1024, 100, 64


def read_template(folder: Path, name: str) -> str:
    """Read a template's text.

    Raises
    ------
    ValueError
        The path leaves the folder, is no file, or the file is too long or not UTF-8.
    OSError
        The file cannot be read.
    """
    path = folder / name
    if not path.resolve().is_relative_to(folder.resolve()):
        raise ValueError("leads out of its folder")
    if not path.is_file():
        raise ValueError("is no file")
    if path.stat().st_size > _MAX_TEMPLATE_BYTES:
        raise ValueError(f"is longer than {_MAX_TEMPLATE_BYTES} bytes")
    return path.read_text(encoding="utf-8")


def template_names(folders: Iterable[Path]) -> list[str]:
    """Return the names of the templates in folders, sorted."""
    paths = (path.relative_to(folder) for folder in folders for path in folder.rglob("*.j2"))
    return sorted({path.as_posix() for path in paths})


class _Loader(BaseLoader):
    """Loader of templates from the first folder that has them."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = folders

    def get_source(self, environment: Environment, template: str) -> tuple[str, None, Callable[[], bool]]:
        name = "/".join(split_template_path(template))
        for folder in self._folders:
            if name.endswith(".j2") and (folder / name).exists():
                try:
                    return read_template(folder, name), None, lambda: True
                except (ValueError, OSError) as error:
                    raise TemplateSyntaxError(f"{name} {error}", 1) from error
        raise TemplateNotFound(template)

    def list_templates(self) -> list[str]:
        return template_names(self._folders)


class _BoundInserter(NodeTransformer):
    """Transformer that adds limits to all nodes that can repeat or grow."""

    def visit_For(self, node: nodes.For) -> nodes.Node:
        self.generic_visit(node)
        if node.recursive:
            raise TemplateSyntaxError("recursive loops are not taken; use a macro", node.lineno)
        node.iter = _filter_node(node.iter, "_steps")  # type: ignore[arg-type]  # of jinja2: any expression
        return node

    def visit_Output(self, node: nodes.Output) -> nodes.Node:
        self.generic_visit(node)
        texts = [nodes.Const(part.data) if isinstance(part, nodes.TemplateData) else part for part in node.nodes]
        node.nodes = [_filter_node(part, "_shown") for part in texts]
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:
        self.generic_visit(node)
        return _filter_node(nodes.List(node.nodes, lineno=node.lineno), "_joined")

    def visit_Compare(self, node: nodes.Compare) -> nodes.Node:
        self.generic_visit(node)
        node.expr = _filter_node(node.expr, "_sized")
        for operand in node.ops:
            operand.expr = _filter_node(operand.expr, "_sized")
        return node

    def _literal(self, node: Any) -> nodes.Node:
        self.generic_visit(node)
        return node if getattr(node, "ctx", "load") != "load" else _filter_node(node, "_sized")

    visit_List = visit_Tuple = visit_Dict = _literal

    def visit_Include(self, node: nodes.Include) -> list[nodes.Node]:
        self.generic_visit(node)
        return [nodes.Output([_filter_node(nodes.Const(""), "_shown")], lineno=node.lineno), node]

    def _refused(self, node: nodes.Node) -> nodes.Node:
        raise TemplateSyntaxError("other templates are taken by include alone", node.lineno)

    visit_Import = visit_FromImport = visit_Extends = _refused


def _filter_node(node: nodes.Expr, name: str) -> nodes.Filter:
    return nodes.Filter(node, name, [], [], None, None, lineno=node.lineno)


class Sandbox(SandboxedEnvironment):
    """Jinja2 environment of all prompts.

    Parameters
    ----------
    folders : sequence of Path
        Folders of templates; the first folder with a template of the name is used.
    filters : dict of str to callable
        Further filters.
    """

    intercepted_binops = frozenset(["+", "-", "*", "/", "//", "**", "%"])

    def __init__(self, folders: Sequence[Path], filters: dict[str, Callable[..., Any]]) -> None:
        super().__init__(
            loader=_Loader(folders),
            undefined=StrictUndefined,
            autoescape=False,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=False,
            optimized=False,
        )
        self.begin()
        self.globals = {name: self.globals[name] for name in ("range", "dict", "namespace")}
        allowed = {name: FILTERS[name] for name in _ALLOWED_FILTERS} | filters
        self.filters = {name: self._limit_filter(name, function) for name, function in allowed.items()}
        self.filters |= {"_steps": self._count_iterations, "_shown": self._output_text}
        self.filters |= {"_joined": self._joined, "_sized": self._check_value_size}

    def begin(self) -> None:
        """Begin a new prompt: reset the limits on steps and characters."""
        self._steps_left, self._room = MAX_STEPS, MAX_CHARS

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        tree: nodes.Template = _BoundInserter().visit(super()._parse(source, name, filename))
        return tree

    def _count_steps(self, count: int = 1) -> None:
        self._steps_left -= count
        if self._steps_left < 0:
            raise SecurityError(f"takes more than {MAX_STEPS} steps; shorten its loops")

    def _check_size(self, size: int) -> None:
        if size > MAX_CHARS:
            raise SecurityError(f"makes a value of more than {MAX_CHARS} characters; shorten it")

    def _size(self, value: Any) -> int:
        """Return the number of characters and entries of a value, counting repeated parts each time."""
        total, pending = 0, [value]
        while pending:
            part = pending.pop()
            if isinstance(part, dict):
                pending += part.keys()
                pending += part.values()
            elif isinstance(part, list | tuple | set | frozenset | range | MappingView):
                entries: Any = part
                self._check_size(len(entries))
                pending += entries
            length = len(part) if isinstance(part, str | bytes) else 0
            total += length + 1
            self._count_steps(1 + length // 1000)
            self._check_size(total)
        return total

    def _check_value_size(self, value: Any) -> Any:
        self._size(value)
        return value

    def _count_iterations(self, values: Iterable[Any]) -> Iterator[Any]:
        for value in values:
            self._count_steps()
            yield value

    @pass_context
    def _output_text(self, _context: Any, value: Any) -> str:
        if not isinstance(value, str | int | float | list | tuple | dict | type(None) | Undefined):
            raise SecurityError(f"shows a {type(value).__name__}; show texts and numbers")
        self._size(value)
        text = str(value)
        self._room -= len(text)
        if self._room < 0:
            raise SecurityError(f"shows more than {MAX_CHARS} characters; shorten it")
        return text

    def _joined(self, values: list[Any]) -> str:
        self._size(values)
        return "".join(map(str, values))

    def _limit_filter(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        skipped = 1 if hasattr(function, "jinja_pass_arg") else 0

        @functools.wraps(function)
        def bounded_filter(*args: Any, **kwargs: Any) -> Any:
            bounded = [
                list(self._count_iterations(argument)) if isinstance(argument, Iterator) else argument
                for argument in args[skipped:]
            ]
            args = (*args[:skipped], *bounded)
            value, *others = [*bounded, *kwargs.values()] or [None]
            sizes = [
                abs(argument) if isinstance(argument, int | float) else self._size(argument) for argument in others
            ]
            value_size = self._size(value)
            if name in _GROWING_FILTERS:
                self._check_size(int(min((value_size + 1) * (1 + sum(sizes)), MAX_CHARS + 1)))
            if name == "format" and _WIDE_FORMAT.search(str(value)):
                raise SecurityError("fills up to a width of thousands; choose a smaller one")
            if name == "round" and any(size > _MAX_PRECISION for size in sizes):
                raise SecurityError(f"rounds to more than {_MAX_PRECISION} digits; choose fewer")
            return self._check_value_size(function(*args, **kwargs))

        return bounded_filter

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        """Evaluate a binary operation; raise SecurityError if its result would be too large."""
        sizes = [self._size(left), self._size(right)]
        numbers = isinstance(left, int | float), isinstance(right, int | float)
        if operator == "%" and not numbers[0]:
            raise SecurityError("uses % on a text; use the filter format")
        if operator == "**" and not (all(numbers) and abs(right) <= _MAX_POWER):
            raise SecurityError(f"takes a power above {_MAX_POWER}; choose a smaller one")
        if operator == "*" and not all(numbers):
            times = right if numbers[1] else left
            self._check_size(sizes[numbers.index(False)] * max(int(times), 0) if any(numbers) else 0)
        if operator == "+":
            self._check_size(sum(sizes))
        result = super().call_binop(context, operator, left, right)
        if isinstance(result, int) and result.bit_length() > _MAX_BITS:
            raise SecurityError("makes a number beyond all bounds; choose smaller ones")
        return result

    def call(self, context: Any, called: Any, *args: Any, **kwargs: Any) -> Any:
        """Call a macro, a method or a global, within the limits."""
        self._count_steps()
        self._size([*args, *kwargs.values()])
        return self._check_value_size(super().call(context, called, *args, **kwargs))

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """Return True if a template may use an attribute; for plain data only the allowed methods."""
        is_data = isinstance(obj, str | bytes | int | float | complex | list | tuple | dict | set | frozenset | range)
        return (attr in _ALLOWED_METHODS or not is_data) and super().is_safe_attribute(obj, attr, value)

    def getattr(self, obj: Any, attribute: str) -> Any:
        """Return a dict's entry of that name, else the attribute."""
        if isinstance(obj, dict) and attribute in obj and attribute not in _ALLOWED_METHODS:
            return obj[attribute]
        return super().getattr(obj, attribute)

    def wrap_str_format(self, value: Any) -> None:
        """Return None: ``str.format`` is no method of templates."""
