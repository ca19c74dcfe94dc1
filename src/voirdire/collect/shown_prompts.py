"""Prompts of a run, planned prompts of every step of a protocol, and its templates."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from voirdire.collect.journal import JOURNAL_FILE, Journal
from voirdire.collect.plan import find_protocol, make_plan, read_prompts
from voirdire.collect.protocol import key_text
from voirdire.collect.rehearsal import rehearse_run
from voirdire.errors import InputError, raise_problems


class ShownPrompt(NamedTuple):
    """A question to a judge: key, system and user message, answer as JSON (or None), step (or None)."""

    judge: str
    key: str
    system: str
    user: str
    answer: str | None = None
    step: str | None = None


def prompts_sent(folder: Path) -> Iterator[ShownPrompt]:
    """Return the prompts that a run has sent, in the order of its journal.

    Raises
    ------
    InputError
        The folder holds no journal, or a journal without prompts (only rule judges, or an older version).
    """
    if not (folder / JOURNAL_FILE).is_file():
        raise InputError(f"{folder} holds no {JOURNAL_FILE}; give the folder of a run of collect")
    with closing(Journal(folder, write=False)) as journal:
        rows = list(journal.stored_prompts())
    if not rows:
        raise InputError(
            f"{folder}: its journal keeps no prompts; it asked no model, or was begun with a version that kept none"
        )
    return (ShownPrompt(*row) for row in rows)


def prompts_planned(
    panel: Any, items: object, protocol: str, prompts: Path | None = None, *, each: int = 1
) -> Iterator[ShownPrompt]:
    """Yield ``each`` prompts of every step of a run, with made-up answers of models; sends no request.

    Raises
    ------
    InputError
        All problems of panel, items, protocol and prompts.
    """
    plan = make_plan(panel, items, protocol, prompts=prompts)
    return (
        ShownPrompt(question.judge, key_text(question.key), *plan.prompts.render(step, question.variables), step=step)
        for step, questions in rehearse_run(plan.protocol, plan.setting).items()
        for question in questions[:each]
    )


def protocol_templates(protocol: str, prompts: Path | None = None) -> dict[str, str]:
    """Return the source of a protocol's templates, and of those that they include, by name.

    Parameters
    ----------
    protocol : str
    prompts : Path, optional
        Folder of templates that replace the package's.

    Raises
    ------
    InputError
        There is no such protocol, it has no templates, or the folder's templates are invalid.

    Examples
    --------
    >>> list(protocol_templates("g-eval"))
    ['g-eval/score', 'g-eval/steps', 'shared/aspect', 'shared/item', 'shared/marks', 'shared/task']
    """
    texts, problems = read_prompts(find_protocol(protocol), prompts)
    raise_problems(problems)
    templates = texts.template_texts(protocol)
    if not templates:
        raise InputError(f"protocol {protocol!r} has no templates: it asks no model")
    return templates
