"""Panels of synthetic judges, from objects or from tables, checked as a whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from voirdire.errors import InputError
from voirdire.settings import build_setting, suggest_words
from voirdire.simulate import judges
from voirdire.simulate.judges import Judge

JUDGES: dict[str, type[Judge]] = {
    cls.kind: cls
    for cls in (
        judges.Accuracy,
        judges.BradleyTerry,
        judges.OneCoin,
        judges.TwoCoin,
        judges.Discrimination,
        judges.Random,
        judges.AlwaysFirst,
        judges.AlwaysSecond,
        judges.Adversarial,
        judges.Lazy,
        judges.Copycat,
        judges.CriterionBlind,
        judges.Halo,
        judges.VerbosityBiased,
        judges.Drifting,
        judges.TieProne,
    )
}


def judge_from_spec(spec: object, place: str = "judge") -> Judge:
    """The judge that a kind or a table describes; wrapped judges are tables within the table.

    Parameters
    ----------
    spec : mapping, str or Judge
        ``{"kind": "accuracy", "accuracy": 0.7}``, ``"random"``, or a judge that is passed through.
    place : str
        Where the table stands, for the messages.

    Raises
    ------
    InputError
        Unknown kind (with the nearest), unknown or missing keys, values that break their rule: all at once.

    Examples
    --------
    >>> judge_from_spec({"kind": "lazy", "share": 0.2, "of": {"kind": "one-coin", "eta": 0.9}})
    Lazy(share=0.2, of=OneCoin(eta=0.9, scale=1.0), skips=False)
    """
    return build_setting(JUDGES, spec, place)


def panel_from_spec(panel: Mapping[str, Any] | Sequence[Any]) -> dict[str, Judge]:
    """The panel by name, with every problem of every judge reported at once.

    Parameters
    ----------
    panel : mapping or sequence
        Name -> judge (or its table or kind), or a list of them. In a list, a table may hold ``name``
        and ``count``: ``{"name": "noise", "kind": "random", "count": 3}`` makes noise-01, noise-02 and
        noise-03 (without ``name``, random-01 ...). A judge without either is called after its place:
        judge-001.

    Returns
    -------
    dict
        In the order given. A judge's answers depend on its name and the seed, so that panels which share
        judges share their answers.

    Raises
    ------
    InputError
        An empty panel, equal names, bad tables, a copycat of a judge that is not there, copycats in a
        circle.

    Examples
    --------
    >>> list(panel_from_spec([{"kind": "accuracy", "accuracy": 0.9}, {"kind": "random", "count": 2}]))
    ['judge-001', 'random-01', 'random-02']
    """
    problems: list[str] = []
    members: list[tuple[str, object]] = []
    if isinstance(panel, Mapping):
        members = list(panel.items())
    elif isinstance(panel, Sequence) and not isinstance(panel, str):
        for place, spec in enumerate(panel, start=1):
            try:
                members += _panel_members(spec, place)
            except InputError as error:
                problems += error.problems
    else:
        raise InputError(f"panel: {panel!r} is neither a mapping from names to judges nor a list of judges")
    if not members and not problems:
        raise InputError("panel: it has no judges; give at least one")
    found: dict[str, Judge] = {}
    for name, spec in members:
        if not isinstance(name, str) or not name.strip():
            problems.append(f"panel: a judge is named {name!r}; give every judge a name")
        elif name in found:
            problems.append(f"panel: two judges are called {name!r}; give each its own name")
        else:
            try:
                found[name] = judge_from_spec(spec, f"judge {name!r}")
            except InputError as error:
                problems += error.problems
    problems = list(dict.fromkeys(problems)) or _copying_problems(found)
    if problems:
        raise InputError(problems)
    return found


def _panel_members(spec: object, place: int) -> list[tuple[str, object]]:
    """One entry of a list of judges as (name, table) pairs."""
    where = f"judge {place} of the list"
    if not isinstance(spec, Mapping):
        return [(f"judge-{place:03d}", spec)]
    table = {key: value for key, value in spec.items() if key not in ("name", "count")}
    name = spec.get("name", table.get("kind") if "count" in spec else f"judge-{place:03d}")
    if not isinstance(name, str) or not name.strip():
        raise InputError(f"{where}: its name is {name!r}; give a name, or leave it out")
    if "count" not in spec:
        return [(name, table)]
    count = spec["count"]
    if isinstance(count, bool) or not isinstance(count, int) or count < 0:
        raise InputError(f"{where}: count is {count!r}; give a whole number of at least 0")
    return [(f"{name}-{number:02d}", table) for number in range(1, count + 1)]


def _copying_problems(panel: Mapping[str, Judge]) -> list[str]:
    """Copycats of judges that are not there, else copycats in a circle."""
    problems = [
        f"judge {name!r} copies {other!r}, who is not in the panel; {suggest_words(other, panel)}"
        for name, judge in panel.items()
        for other in sorted(judge.copied_names())
        if other not in panel
    ]
    if not problems:
        try:
            answering_order(panel)
        except InputError as error:
            problems += error.problems
    return problems


def answering_order(panel: Mapping[str, Judge]) -> list[str]:
    """The names, every judge after those it copies.

    Raises
    ------
    InputError
        Judges that copy each other in a circle.

    Examples
    --------
    >>> from voirdire.simulate.judges import Copycat, Random
    >>> answering_order({"b": Copycat("a"), "a": Random()})
    ['a', 'b']
    """
    done: dict[str, None] = {}

    def visit_judge(name: str, path: tuple[str, ...]) -> None:
        if name in path:
            circle = " -> ".join([*path[path.index(name) :], name])
            raise InputError(f"judges copy each other in a circle: {circle}; let one judge for itself")
        if name not in done:
            for other in sorted(panel[name].copied_names()):
                visit_judge(other, (*path, name))
            done[name] = None

    for name in panel:
        visit_judge(name, ())
    return list(done)
