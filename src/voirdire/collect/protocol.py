"""Interface of a protocol: the plain values it is given, what it asks, and the rows it returns.

A protocol decides whom to ask what, and turns the answers into rows. It is a pure asynchronous function of the
answers: no clock, no randomness but a generator seeded by the setting, no request but through ``ask``. So a run
that was stopped is resumed by running the protocol again while ``ask`` answers from the journal.
"""

from __future__ import annotations

import asyncio
import json
import re
import typing
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, TypeAlias

from voirdire.settings import AMOUNT, COUNT, SIZE, WORD, Count, Positive, Rule

Key: TypeAlias = tuple[str | int, ...]
#: Per position of the answer: the token, and the most likely tokens there with their log-probabilities.
Logprobs: TypeAlias = tuple[tuple[str, tuple[tuple[str, float], ...]], ...]

#: A variable of the environment; what stands for its name may be the key itself, and is not shown.
VARIABLE_RULE = Rule(
    "the name of an environment variable, such as EXAMPLE_API_KEY",
    lambda v: isinstance(v, str) and re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", v) is not None,
    "{key} is no such name; give {words}",
)
#: The tables that a run writes.
TABLES = ("votes", "decisions", "criteria", "scores", "labels", "rankings", "texts", "missing")


@dataclass(frozen=True)
class Item:
    """One thing to judge.

    Attributes
    ----------
    id, text : str
        Its name, which no other item has, and what is to be judged.
    context, system, source, reference : str or None
        What it answers or belongs to, what made it, the document it is about, a text it may be compared with.
    extra : mapping of str to str
        The other columns of the table of items, as text.

    Examples
    --------
    >>> Item("a", "Once upon a time.").context is None
    True
    """

    id: str
    text: str
    context: str | None = None
    system: str | None = None
    source: str | None = None
    reference: str | None = None
    extra: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Judge:
    """One judge of ``panel.toml``.

    Attributes
    ----------
    name : str
        What it is called in the tables.
    model : str
        The model's name at the server; ``local:NAME`` for one that runs in this process.
    base_url, api_key_env : str or None
        The server, and the environment variable that holds its key.
    temperature : float or None
        Sampling temperature; None leaves it to the server.
    seed : int or None
        Sent with each request where given.
    family, group, role : str or None
        Which models are related; which group it debates in; what a protocol may use it for.
    price_in, price_out : float or None
        Price of a million tokens read and written.
    concurrency : int
        Requests under way at a time.
    max_tokens : int or None
        Bound on the tokens of an answer.
    timeout : float
        Seconds to wait for an answer.
    batch : bool
        Whether its requests go in batches, which take up to a day and cost half.
    extra : mapping
        Further fields of the request's body, as the server knows them.

    Examples
    --------
    >>> Judge("small", "local:smollm2-135m").concurrency
    4
    """

    name: Annotated[str, WORD]
    model: Annotated[str, WORD]
    base_url: Annotated[str | None, WORD] = None
    api_key_env: Annotated[str | None, VARIABLE_RULE] = None
    temperature: Annotated[float | None, AMOUNT] = None
    seed: Annotated[int | None, SIZE] = None
    family: Annotated[str | None, WORD] = None
    group: Annotated[str | None, WORD] = None
    role: Annotated[str | None, WORD] = None
    price_in: Annotated[float | None, AMOUNT] = None
    price_out: Annotated[float | None, AMOUNT] = None
    concurrency: Count = 4
    max_tokens: Annotated[int | None, COUNT] = None
    timeout: Positive = 120.0
    batch: bool = False
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Question:
    """One request to one model.

    Attributes
    ----------
    judge : str
        A judge's name.
    template : str
        The prompt: ``"maple/compare"`` is the file ``maple/compare.j2``.
    variables : mapping
        What the template shows: plain data (JSON), never a template itself.
    key : tuple of str and int
        What the question is called within the run; no other question to this judge has it.
    schema : mapping, optional
        JSON schema of the answer; without it the answer is text.
    logprobs : bool
        Whether token log-probabilities are wanted.
    temperature : float, optional
        Instead of the judge's.

    Examples
    --------
    >>> Question("small", "maple/compare", {"first": "x", "second": "y"}, ("compare", "style", "a", "b", 1)).judge
    'small'
    """

    judge: str
    template: str
    variables: Mapping[str, Any]
    key: Key
    schema: Mapping[str, Any] | None = None
    logprobs: bool = False
    temperature: float | None = None


@dataclass(frozen=True)
class Answer:
    """Answer to a request.

    Attributes
    ----------
    content : JSON value, str or None
        The parsed answer, which fits the question's schema; its text where there is no schema; None if missing.
    missing : str or None
        Why there is no content.
    logprobs : tuple
        Per position the token and its alternatives with their log-probabilities, where asked for and given.

    Examples
    --------
    >>> Answer({"winner": 1}).missing is None
    True
    """

    content: Any | None
    missing: str | None = None
    logprobs: Logprobs = ()


Ask: TypeAlias = Callable[[Question], Awaitable[Answer]]


@dataclass(frozen=True)
class Setting:
    """Setting of a protocol: judges and items in the order of their files, its options, and the seed.

    Examples
    --------
    >>> setting = Setting((Judge("small", "m"),), (Item("a", "x"), Item("b", "y")))
    >>> [item.id for item in setting.items]
    ['a', 'b']
    """

    judges: tuple[Judge, ...]
    items: tuple[Item, ...]
    options: Any = None
    seed: int = 0


@dataclass(frozen=True)
class Row:
    """One row of an exported table.

    Attributes
    ----------
    table : str
        ``votes``, ``decisions`` (votes after a protocol's own rules), ``criteria`` (votes on criteria), ``scores``,
        ``labels``, ``rankings``, ``texts`` or ``missing``.
    values : mapping
        The cells by column.

    Examples
    --------
    >>> Row("votes", {"judge": "small", "first": "a", "second": "b", "winner": "first"}).table
    'votes'
    """

    table: str
    values: Mapping[str, Any]


@dataclass(frozen=True)
class Calls:
    """Least and most number of requests to each judge, for an estimate before anything is asked.

    Examples
    --------
    >>> Calls({"small": 6}, {"small": 12}).most["small"]
    12
    """

    least: Mapping[str, int]
    most: Mapping[str, int]


class Protocol(typing.Protocol):
    """Interface of a protocol's class; instances are made without arguments.

    ``name`` is what it is called on the command line, ``Options`` a frozen dataclass whose fields all have
    defaults: they are what ``[protocol]`` of the panel file and ``--set`` may change.
    """

    name: ClassVar[str]
    Options: ClassVar[type[Any]]

    def problems(self, setting: Setting) -> list[str]:
        """Faults of the setting, one sentence each; asked before the first request."""
        ...

    def calls(self, setting: Setting) -> Calls:
        """Number of requests that a run will make."""
        ...

    async def run(self, setting: Setting, ask: Ask) -> list[Row]:
        """Ask, and return the rows in an order that depends on the setting alone."""
        ...


def key_text(key: Key) -> str:
    """A question's key as text.

    Examples
    --------
    >>> key_text(("compare", "style", "a", "b", 1))
    '["compare","style","a","b",1]'
    """
    return json.dumps(list(key), separators=(",", ":"), ensure_ascii=False)


def missing_row(key: Key, answer: Answer | str | None, **what: Any) -> Row:
    """Row of the table ``missing``: a question's key, why it has no answer (or that answer), what it was about.

    Examples
    --------
    >>> missing_row(("compare", "a", "b"), Answer(None, "timed out"), judge="small").values["reason"]
    'timed out'
    """
    reason = answer.missing if isinstance(answer, Answer) else answer
    return Row("missing", {**what, "key": "/".join(map(str, key)), "reason": reason})


async def ask_all(
    ask: Ask, asked: Iterable[tuple[Question, Mapping[str, Any]]], rows: list[Row], table: str | None = None
) -> list[Any]:
    """Ask several questions at once; a missing answer becomes a row of ``missing``.

    Parameters
    ----------
    ask : callable
        Answers a question.
    asked : iterable of (Question, mapping)
        Each with the columns of the row that there is where its answer is missing.
    rows : list of Row
        Where those rows go, in the order of the questions.
    table : str, optional
        The table that the answers are for; a column of those rows.

    Returns
    -------
    list
        The contents of the answers in the order of the questions, None for those that are missing.

    Examples
    --------
    >>> async def say_yes(question):
    ...     return Answer("yes")
    >>> asyncio.run(ask_all(say_yes, [(Question("small", "ask", {}, ("ask",)), {"judge": "small"})], []))
    ['yes']
    """
    questions, table_column = list(asked), {} if table is None else {"table": table}
    answers = await asyncio.gather(*(ask(question) for question, _ in questions))
    for (question, columns), answer in zip(questions, answers, strict=True):
        if answer.content is None:
            rows.append(missing_row(question.key, answer, **table_column, **columns))
    return [answer.content for answer in answers]


async def ask_rows(
    ask: Ask,
    asked: Iterable[tuple[Question, Mapping[str, Any]]],
    table: str,
    read: Callable[[Any], Mapping[str, Any]],
) -> list[Row]:
    """Ask several questions at once; each one's row of a table, or of ``missing``: its columns and what is read.

    Examples
    --------
    >>> async def say_yes(question):
    ...     return Answer("yes")
    >>> asked = [(Question("small", "ask", {}, ("ask",)), {"item": "a"})]
    >>> asyncio.run(ask_rows(say_yes, asked, "labels", lambda found: {"label": found}))[0].values
    {'item': 'a', 'label': 'yes'}
    """
    questions, missing_rows = list(asked), list[Row]()
    contents = await ask_all(ask, questions, missing_rows, table)
    missing = iter(missing_rows)
    return [
        next(missing) if content is None else Row(table, {**columns, **read(content)})
        for (_, columns), content in zip(questions, contents, strict=True)
    ]


async def gather_rows(parts: Iterable[Awaitable[list[Row]]]) -> list[Row]:
    """The rows of all parts, which are worked on at once, in the order of the parts."""
    return [row for part in await asyncio.gather(*parts) for row in part]
