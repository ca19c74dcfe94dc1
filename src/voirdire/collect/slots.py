"""Slots of templates: what a template shows, and what one that replaces it must show."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from jinja2 import Environment, nodes

#: Text of a template by name, or None where there is none.
Source = Callable[[str], str | None]
_NO_SLOTS = ("loop", "range", "dict", "namespace")


def block_names(text: str) -> set[str]:
    """Names of a template's blocks.

    Examples
    --------
    >>> block_names("{% block user %}{{ text }}{% endblock %}")
    {'user'}
    """
    return {block.name for block in Environment().parse(text).find_all(nodes.Block)}


def included_templates(name: str, source: Source) -> set[str]:
    """Names of the templates that one includes, and that these include.

    Examples
    --------
    >>> included_templates("a.j2", {"a.j2": '{% include "b.j2" %}', "b.j2": ""}.get)
    {'b.j2'}
    """
    seen: set[str] = set()
    list(_template_trees(name, source, seen))
    return seen - {name}


def shown_slots(name: str, source: Source) -> set[str]:
    """Variables that a template or one that it includes mentions.

    Examples
    --------
    >>> texts = {"a.j2": '{% include "b.j2" %}', "b.j2": "{% for one in said %}{{ one.text }}{% endfor %}"}
    >>> shown_slots("a.j2", texts.get)
    {'said'}
    """
    found: set[str] = set()
    for tree in _template_trees(name, source, set()):
        names = list(tree.find_all(nodes.Name))
        bound = {one.name for one in names if one.ctx != "load"}
        found |= {one.name for one in names if one.ctx == "load"} - bound - set(_NO_SLOTS)
    return found


def needed_slots(name: str, source: Source) -> set[str]:
    """Variables that a template puts between marks whatever the case: the material that it is about.

    What stands within an ``if`` is not needed, nor are names and numbers outside marks.

    Examples
    --------
    >>> text = "{% if task %}{{ task | quoted }}{% endif %}{% for one in said %}{{ one.text | quoted }}{% endfor %}"
    >>> needed_slots("a.j2", {"a.j2": text}.get)
    {'said'}
    """
    text = source(name)
    return set() if text is None else set(_quoted_variables(Environment().parse(text), {}, source, (name,)))


def _template_trees(name: str, source: Source, seen: set[str]) -> Iterator[nodes.Template]:
    text = source(name)
    if text is None or name in seen:
        return
    seen.add(name)
    tree = Environment().parse(text)
    yield tree
    for include in tree.find_all(nodes.Include):
        if isinstance(include.template, nodes.Const):
            yield from _template_trees(str(include.template.value), source, seen)


def _quoted_variables(
    node: nodes.Node, bound: Mapping[str, set[str]], source: Source, within: tuple[str, ...]
) -> Iterator[str]:
    """Variables whose values are quoted in every case; ``bound``: of which variables the loops' own are parts."""
    if isinstance(node, nodes.If | nodes.CondExpr):
        return
    if isinstance(node, nodes.Filter) and node.name == "quoted":
        yield from _root_variables(node.node, bound)
        return
    if isinstance(node, nodes.Include):
        name = node.template.value if isinstance(node.template, nodes.Const) else None
        text = None if name is None or name in within else source(str(name))
        if text is not None:
            yield from _quoted_variables(Environment().parse(text), bound, source, (*within, str(name)))
        return
    if isinstance(node, nodes.For):
        roots = set(_root_variables(node.iter, bound))
        targets = [node.target] if isinstance(node.target, nodes.Name) else node.target.find_all(nodes.Name)
        bound = {**bound, **{one.name: roots for one in targets if isinstance(one, nodes.Name)}}
        for inner in node.body:
            yield from _quoted_variables(inner, bound, source, within)
        return
    for inner in node.iter_child_nodes():
        yield from _quoted_variables(inner, bound, source, within)


def _root_variables(node: nodes.Node | None, bound: Mapping[str, set[str]]) -> Iterator[str]:
    if node is None:
        return
    names = [node] if isinstance(node, nodes.Name) else node.find_all(nodes.Name)
    for one in names:
        if isinstance(one, nodes.Name) and one.name not in _NO_SLOTS:
            yield from bound.get(one.name, {one.name})
