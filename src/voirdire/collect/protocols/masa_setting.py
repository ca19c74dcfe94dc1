"""Setting of masa: its options, who evaluates, and what cannot be done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from voirdire.collect.protocol import Setting
from voirdire.collect.protocols.pairing import OUTCOMES
from voirdire.collect.protocols.roles import judges_for_role, unknown_judges
from voirdire.settings import Count, Size


@dataclass(frozen=True)
class MasaOptions:
    """Options of masa.

    Attributes
    ----------
    summarizers : tuple of str
        Judges that summarise and do not evaluate.
    reference : str
        The judge, or with ``given`` the system, whose summaries the others are compared with.
    evaluators : tuple of str
        Judges that compare; none named: all that do not summarise.
    given : bool
        Whether the items are summaries already.
    against : "reference" or "all"
        Comparisons with the reference, or of all pairs.
    runs : int
        R, the runs in each order.
    guidance : "baseline" or "enhanced"
        Which prompt compares.
    errors : bool
        Whether factual errors are asked for.
    task : str
        What is summarised, and for whom.
    longest : int
        Most characters of each free text in an answer; 0: no bound.

    Examples
    --------
    >>> MasaOptions().against, MasaOptions().runs
    ('reference', 3)
    """

    summarizers: tuple[str, ...] = ()
    reference: str = ""
    evaluators: tuple[str, ...] = ()
    given: bool = False
    against: Literal["reference", "all"] = "reference"
    runs: Count = 3
    guidance: Literal["baseline", "enhanced"] = "enhanced"
    errors: bool = True
    task: str = ""
    longest: Size = 0


def masa_evaluators(setting: Setting) -> tuple[str, ...]:
    """Judges that compare: those named, or all that do not summarise.

    Examples
    --------
    >>> from voirdire.collect.protocol import Judge
    >>> panel = Judge("ann", "m"), Judge("bob", "m"), Judge("cay", "m")
    >>> masa_evaluators(Setting(panel, (), MasaOptions(summarizers=("ann",), reference="bob")))
    ('cay',)
    """
    options: MasaOptions = setting.options
    writers = () if options.given else (*options.summarizers, options.reference)
    return judges_for_role(setting, options.evaluators, without=writers)


def masa_problems(setting: Setting) -> list[str]:
    """Unknown or missing judges and systems; summaries without source, context or system, or twice.

    Examples
    --------
    >>> from voirdire.collect.protocol import Item, Judge
    >>> setting = Setting((Judge("ann", "m"),), (Item("a", "x"),), MasaOptions(summarizers=("ann",)))
    >>> for problem in masa_problems(setting):
    ...     print(problem)
    no judge is left to evaluate; name evaluators, or add a judge to the panel
    option reference is empty; name the judge whose summaries are the reference
    """
    options: MasaOptions = setting.options
    found = unknown_judges(setting, {"evaluators": options.evaluators})
    if not masa_evaluators(setting):
        found.append("no judge is left to evaluate; name evaluators, or add a judge to the panel")
    if options.given:
        return found + _given_summary_problems(setting)
    named = {
        "summarizers": options.summarizers,
        "reference": [options.reference] if options.reference else [],
    }
    found += unknown_judges(setting, named)
    if not options.summarizers:
        found.append("option summarizers is empty; name judges that summarise, or set given = true")
    if not options.reference:
        found.append("option reference is empty; name the judge whose summaries are the reference")
    if options.reference in options.summarizers:
        found.append(f"option summarizers: {options.reference!r} is the reference; name it there alone")
    return found + [
        f"judge {name!r}: a vote's winner may be called so; rename it"
        for name in (*options.summarizers, options.reference)
        if name in OUTCOMES
    ]


def _given_summary_problems(setting: Setting) -> list[str]:
    options: MasaOptions = setting.options
    found: list[str] = []
    seen: dict[tuple[str | None, str | None], str] = {}
    for item in setting.items:
        found += [
            f"item {item.id!r} has no {column}; given = true needs context, source and system"
            for column in ("context", "source", "system")
            if not getattr(item, column)
        ]
        if item.system in OUTCOMES:
            found.append(
                f"item {item.id!r}: system {item.system!r} is what a winner may be called; rename it"
            )
        earlier = seen.setdefault((item.context, item.system), item.id)
        if earlier != item.id and item.context and item.system:
            found.append(
                f"items {earlier!r} and {item.id!r} are both by {item.system!r} in context"
                f" {item.context!r}; keep one"
            )
    if options.against == "reference":
        systems = {item.system for item in setting.items}
        if options.reference not in systems:
            known = ", ".join(sorted(str(system) for system in systems))
            return [*found, f"option reference: {options.reference!r} is none of the systems {known}"]
        have = {item.context for item in setting.items if item.system == options.reference}
        lacking = dict.fromkeys(item.context for item in setting.items if item.context not in have)
        found += [f"context {context!r} has no summary by {options.reference!r}" for context in lacking]
    return found
