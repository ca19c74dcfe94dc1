"""Interface of a protocol: its input values, its questions, and the rows it returns.

A protocol chooses the questions to each judge, and converts the answers to rows. It is a pure asynchronous function of
the answers: it uses no clock, no randomness except a generator seeded by the setting, and no request except through
``ask``. Therefore a stopped run is resumed by running the protocol again, with ``ask`` answering from the journal.
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

#: Name of an environment variable. Messages do not show an invalid name, as it may be the key itself.
VARIABLE_RULE = Rule(
    "the name of an environment variable, such as EXAMPLE_API_KEY",
    lambda v: isinstance(v, str) and re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", v) is not None,
    "{key} is no such name; give {words}",
)
#: The tables that a run writes.
TABLES = ("votes", "decisions", "criteria", "scores", "labels", "rankings", "texts", "missing")


@dataclass(frozen=True)
class Item:
    """An item to judge.

    Attributes
    ----------
    id, text : str
        The item's unique name, and the text to judge.
    context, system, source, reference : str or None
        The prompt or group of the item; the system that produced it; its source document; a reference text.
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
    """A judge of ``panel.toml``.

    Attributes
    ----------
    name : str
        Name of the judge in the tables.
    model : str
        The model's name at the server; ``local:NAME`` for a model in this process.
    base_url, api_key_env : str or None
        The server's address, and the environment variable that holds its key.
    temperature : float or None
        Sampling temperature; None uses the server's default.
    seed : int or None
        Seed sent with each request; None sends none.
    family, group, role : str or None
        Family of related models; group in a debate; role within a protocol.
    price_in, price_out : float or None
        Price of a million input tokens, and of a million output tokens.
    concurrency : int
        Largest number of simultaneous requests.
    max_tokens : int or None
        Bound on the tokens of an answer.
    timeout : float
        Seconds to wait for an answer.
    batch : bool
        True sends its requests in batches, which take up to a day and cost half.
    extra : mapping
        Further fields of the request's body, in the server's terms.

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
        Values for the template: plain data (JSON), never a template itself.
    key : tuple of str and int
        Name of the question within the run, unique among the questions to this judge.
    schema : mapping, optional
        JSON schema of the answer; without it the answer is text.
    logprobs : bool
        True requests token log-probabilities.
    temperature : float, optional
        Sampling temperature that replaces the judge's.

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
        The parsed answer, which fits the question's schema; without a schema the text; None if missing.
    missing : str or None
        Reason why there is no content.
    logprobs : tuple
        Per position the token and its alternatives with their log-probabilities; empty if not requested or not sent.

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
    """Bounds on the number of requests to each judge, for an estimate before the run.

    Examples
    --------
    >>> Calls({"small": 6}, {"small": 12}).most["small"]
    12
    """

    least: Mapping[str, int]
    most: Mapping[str, int]


class Protocol(typing.Protocol):
    """Interface of a protocol's class; its constructor takes no arguments.

    ``name`` is the protocol's name on the command line. ``Options`` is a frozen dataclass; all its fields have
    defaults, which ``[protocol]`` of the panel file and ``--set`` may change.
    """

    name: ClassVar[str]
    Options: ClassVar[type[Any]]

    def problems(self, setting: Setting) -> list[str]:
        """Return the faults of the setting, one sentence each; called before the first request."""
        ...

    def calls(self, setting: Setting) -> Calls:
        """Return bounds on the number of requests of a run."""
        ...

    async def run(self, setting: Setting, ask: Ask) -> list[Row]:
        """Ask the questions, and return the rows in an order that depends only on the setting."""
        ...


def key_text(key: Key) -> str:
    """Convert a question's key to text.

    Examples
    --------
    >>> key_text(("compare", "style", "a", "b", 1))
    '["compare","style","a","b",1]'
    """
    return json.dumps(list(key), separators=(",", ":"), ensure_ascii=False)


def missing_row(key: Key, answer: Answer | str | None, **what: Any) -> Row:
    """Return a row of the table ``missing``: a question's key, the reason, and further columns.

    Examples
    --------
    >>> missing_row(("compare", "a", "b"), Answer(None, "timed out"), judge="small").values["reason"]
    'timed out'
    """
    reason = answer.missing if isinstance(answer, Answer) else answer
    return Row("missing", {**what, "key": "/".join(map(str, key)), "reason": reason})


async def ask_all(
    ask: Ask,
    questions_and_columns: Iterable[tuple[Question, Mapping[str, Any]]],
    rows: list[Row],
    table: str | None = None,
) -> list[Any]:
    """Ask several questions at once; a missing answer becomes a row of ``missing``.

    Parameters
    ----------
    ask : callable
        Answers a question.
    questions_and_columns : iterable of (Question, mapping)
        Questions, each with the columns of its row of ``missing``.
    rows : list of Row
        List to which the rows of missing answers are appended, in the order of the questions.
    table : str, optional
        The table of the answers, a column of the rows of ``missing``.

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
    questions, table_column = list(questions_and_columns), {} if table is None else {"table": table}
    answers = await asyncio.gather(*(ask(question) for question, _ in questions))
    for (question, columns), answer in zip(questions, answers, strict=True):
        if answer.content is None:
            rows.append(missing_row(question.key, answer, **table_column, **columns))
    return [answer.content for answer in answers]


async def ask_rows(
    ask: Ask,
    questions_and_columns: Iterable[tuple[Question, Mapping[str, Any]]],
    table: str,
    read: Callable[[Any], Mapping[str, Any]],
) -> list[Row]:
    """Ask several questions at once; return for each a row of ``table`` (its columns and ``read``) or ``missing``.

    Examples
    --------
    >>> async def say_yes(question):
    ...     return Answer("yes")
    >>> asked = [(Question("small", "ask", {}, ("ask",)), {"item": "a"})]
    >>> asyncio.run(ask_rows(say_yes, asked, "labels", lambda found: {"label": found}))[0].values
    {'item': 'a', 'label': 'yes'}
    """
    questions, missing_rows = list(questions_and_columns), list[Row]()
    contents = await ask_all(ask, questions, missing_rows, table)
    missing = iter(missing_rows)
    return [
        next(missing) if content is None else Row(table, {**columns, **read(content)})
        for (_, columns), content in zip(questions, contents, strict=True)
    ]


async def gather_rows(parts: Iterable[Awaitable[list[Row]]]) -> list[Row]:
    """Run all parts concurrently; return their rows in the order of the parts."""
    return [row for part in await asyncio.gather(*parts) for row in part]
