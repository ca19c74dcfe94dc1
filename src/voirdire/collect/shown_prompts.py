"""The prompts of a protocol: those that a run has sent, those of every step that it would ask, the templates."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from voirdire.collect.journal import FILE, Journal
from voirdire.collect.plan import find_protocol, make_plan, read_prompts
from voirdire.collect.protocol import key_text
from voirdire.collect.rehearsal import rehearse_run
from voirdire.errors import InputError


class Shown(NamedTuple):
    """A question to a judge: its key, both messages, the answer as JSON, if there is one, and of which step it is."""

    judge: str
    key: str
    system: str
    user: str
    answer: str | None = None
    step: str | None = None


def prompts_sent(folder: Path) -> Iterator[Shown]:
    """Prompts that a run has sent, in the order of its journal.

    Raises
    ------
    InputError
        The folder holds no journal, or one without prompts (of rules alone, of older versions).
    """
    if not (folder / FILE).is_file():
        raise InputError(f"{folder} holds no {FILE}; give the folder of a run of collect")
    with closing(Journal(folder, write=False)) as journal:
        kept = list(journal.prompts())
    if not kept:
        raise InputError(
            f"{folder}: its journal keeps no prompts; it asked no model, or was begun with a version that kept none"
        )
    return (Shown(*one) for one in kept)


def prompts_planned(
    panel: Any, items: object, protocol: str, prompts: Path | None = None, *, each: int = 1
) -> Iterator[Shown]:
    """Prompts of every step that a run would ask, ``each`` of a step; nothing is asked, what models said is made up.

    Raises
    ------
    InputError
        All problems of panel, items, protocol and prompts.
    """
    plan = make_plan(panel, items, protocol, prompts=prompts)
    return (
        Shown(one.judge, key_text(one.key), *plan.prompts.render(step, one.variables), step=step)
        for step, questions in rehearse_run(plan.protocol, plan.setting).items()
        for one in questions[:each]
    )


def protocol_templates(protocol: str, prompts: Path | None = None) -> dict[str, str]:
    """The templates of a protocol as they are, and those that they include, by name.

    Parameters
    ----------
    protocol : str
    prompts : Path, optional
        A folder whose templates come before the package's.

    Raises
    ------
    InputError
        There is no such protocol, it has no templates, or those of the folder do not fit.

    Examples
    --------
    >>> list(protocol_templates("g-eval"))
    ['g-eval/score', 'g-eval/steps', 'shared/aspect', 'shared/item', 'shared/marks', 'shared/task']
    """
    texts, problems = read_prompts(find_protocol(protocol), prompts)
    if problems:
        raise InputError(problems)
    found = texts.texts(protocol)
    if not found:
        raise InputError(f"protocol {protocol!r} has no templates: it asks no model")
    return found
