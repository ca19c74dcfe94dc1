"""Preview of a run without a request: questions, tokens and cost, and the planned prompts of every step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from voirdire.collect.budget import count_text_tokens, estimate_answer_tokens, token_price
from voirdire.collect.journal import JOURNAL_FILE, Journal
from voirdire.collect.plan import find_protocol, make_plan, read_prompts
from voirdire.collect.protocol import key_text
from voirdire.collect.rehearsal import rehearse_once, rehearse_run
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


@dataclass(frozen=True, eq=False)
class Estimate:
    """Estimated size of a run.

    Attributes
    ----------
    protocol : str
    judges : list of dict
        Per judge: ``batch`` (True for batches), ``calls_least`` and ``calls_most``; tokens read and written, and cost
        (half in batches), for the most calls.
    """

    protocol: str
    judges: list[dict[str, Any]]

    def as_dict(self) -> dict[str, Any]:
        """Return the estimate as ``voirdire collect --dry-run --json`` prints it."""
        columns = ("calls_least", "calls_most", "tokens_in", "tokens_out", "cost")
        totals = {column: sum(row[column] for row in self.judges) for column in columns}
        return {"protocol": self.protocol, **totals, "judges": self.judges}


def estimate(
    panel: str | Path | Mapping[str, Any],
    items: object,
    protocol: str,
    *,
    options: Mapping[str, Any] | None = None,
    settings: Mapping[str, str] | None = None,
    prompts: str | Path | None = None,
) -> Estimate:
    """Estimate the questions, tokens and cost of :func:`voirdire.collect.collect`, without a request.

    The protocol bounds the number of questions. Tokens read: the mean tokens of the prompts of a run with made-up
    answers (see :func:`voirdire.collect.budget.count_text_tokens`), times the largest number of questions. Tokens
    written: estimated from the schemas. Repetitions are not counted.

    Examples
    --------
    >>> estimate({"judges": []}, "items.csv", "maple")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    voirdire.errors.InputError: ...
    """
    plan = make_plan(panel, items, protocol, options=options, settings=settings, prompts=prompts)
    calls = plan.calls()
    question_sizes = []
    for question in rehearse_once(plan.protocol, plan.setting):
        prompt = plan.prompts.render(question.template, question.variables)
        question_sizes.append((question.judge, count_text_tokens(prompt.system + prompt.user), question.schema))
    rows = []
    for judge in plan.setting.judges:
        sample = [entry for entry in question_sizes if entry[0] == judge.name] or question_sizes
        max_calls, size = calls.most[judge.name], max(len(sample), 1)
        read = sum(tokens for _, tokens, _ in sample) / size * max_calls
        wrote = sum(estimate_answer_tokens(schema, judge.max_tokens) for _, _, schema in sample) / size * max_calls
        row = {"judge": judge.name, "batch": judge.batch, "calls_least": calls.least[judge.name]}
        row |= {"calls_most": max_calls, "tokens_in": round(read), "tokens_out": round(wrote)}
        rows.append(row | {"cost": token_price(judge, read, wrote)})
    return Estimate(plan.protocol.name, rows)
