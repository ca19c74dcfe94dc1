"""The prompts of a protocol as they are sent: those that a run has sent, or will send first."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from voirdire.collect.asking import NOT_ASKED
from voirdire.collect.journal import FILE, Journal
from voirdire.collect.loop import in_loop
from voirdire.collect.plan import make_plan
from voirdire.collect.protocol import Answer, Question, written
from voirdire.collect.registry import find_protocol
from voirdire.collect.rendering import HERE
from voirdire.errors import InputError


class Shown(NamedTuple):
    """A question to a judge: its key, both messages, and the answer as JSON, if there is one."""

    judge: str
    key: str
    system: str
    user: str
    answer: str | None = None


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


def prompts_first(panel: Any, items: object, protocol: str, prompts: Path | None = None) -> Iterator[Shown]:
    """Prompts that a run would send before there is any answer; nothing is asked."""
    plan = make_plan(panel, items, protocol, prompts=prompts)
    shown: list[Shown] = []

    async def ask(question: Question) -> Answer:
        prompt = plan.prompts.render(question.template, question.variables)
        shown.append(Shown(question.judge, written(question.key), *prompt))
        return Answer(None, NOT_ASKED)

    in_loop(plan.protocol.run(plan.setting, ask))
    return iter(shown)


def templates(protocol: str) -> dict[str, str]:
    """The templates of a protocol as they are, by name.

    Examples
    --------
    >>> sorted(templates("g-eval"))
    ['g-eval/score', 'g-eval/steps']
    """
    find_protocol(protocol)
    files = sorted((HERE / protocol).glob("*.j2"))
    if not files:
        raise InputError(
            f"protocol {protocol!r} has no templates of its own; give --panel and --items to see its prompts"
        )
    return {f"{protocol}/{file.stem}": file.read_text(encoding="utf-8") for file in files}
