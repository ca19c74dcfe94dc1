"""Ask questions: from the journal where they have been answered, else from the judges' servers.

A request that fails in passing (429, 5xx, timeout, closed connection) is sent again, at most ``request_tries`` times,
after ``backoff * 2^n`` seconds with seeded jitter, or after what Retry-After says. An answer that does not parse or
breaks the schema is asked for again, at most ``answer_tries`` times; then the question is noted as missing, with the
reason. Every request, its cost and every answer is in the journal before anybody sees it.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

from voirdire.collect.answers import breach, check_schema, parse_json, without_thoughts
from voirdire.collect.client import Client, Form, NoReply, Reply, Request
from voirdire.collect.journal import Journal, Sent, written
from voirdire.collect.panel import RULE
from voirdire.collect.protocol import Answer, Judge, Key, Question
from voirdire.collect.rendering import Prompts
from voirdire.collect.rules import decide
from voirdire.errors import InputError

_LONGEST_WAIT = 300.0
_REACH = 15.0
#: Questions in a row that a judge may leave unanswered for its server's sake before the run stops.
_DEAD = 10
NOT_ASKED = "not asked yet"


class Stop(Exception):
    """The run ends before it is done: the reason."""


@dataclass(frozen=True)
class Limits:
    """How often things are tried, and what a run may cost.

    Examples
    --------
    >>> Limits().answer_tries
    3
    """

    answer_tries: int = 3
    request_tries: int = 6
    backoff: float = 0.5
    max_cost: float | None = None
    max_calls: int | None = None


@dataclass
class Progress:
    """How far a run is.

    Attributes
    ----------
    done, missing : int
        Questions with an answer, and those that have none in the end.
    least, most : int
        Bounds on the number of questions.
    requests, cost, seconds : int, float, float
        Requests sent and their cost, also by runs before; seconds since this run began.
    asked : int
        Questions of this run that were not in the journal.
    """

    done: int = 0
    missing: int = 0
    least: int = 0
    most: int = 0
    requests: int = 0
    cost: float = 0.0
    seconds: float = 0.0
    asked: int = 0


@dataclass
class _State:
    """What is known about a judge's server while it is asked."""

    first: Form
    #: The form that has been answered, by whether a schema and whether log-probabilities were asked for.
    proven: dict[tuple[bool, bool], Form] = field(default_factory=dict)
    not_before: float = 0.0
    unanswered: int = 0
    replies: int = 0
    paid: float = 0.0


class Asking:
    """Answers questions for one run.

    Parameters
    ----------
    judges : tuple of Judge
    prompts : Prompts
    journal : Journal
    limits : Limits
    connect : coroutine function, optional
        Called once before the first request; returns each judge's client and form. Without it nothing is asked:
        questions that the journal does not answer are missing.
    progress : callable, optional
        Called with a ``Progress`` after every question.
    """

    def __init__(
        self,
        judges: tuple[Judge, ...],
        prompts: Prompts,
        journal: Journal,
        limits: Limits,
        connect: Callable[[], Awaitable[Mapping[str, tuple[Client, Form]]]] | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> None:
        self._judges = {judge.name: judge for judge in judges}
        self._prompts, self._journal, self._limits = prompts, journal, limits
        self._connect, self._show = connect, progress
        self._begun = time.monotonic()
        self._slots = {judge.name: asyncio.Semaphore(judge.concurrency) for judge in judges}
        self._tasks: dict[tuple[str, Key], asyncio.Task[Answer]] = {}
        self._digests: dict[tuple[str, Key], str] = {}
        # kept, so that no other schema can come to have its id
        self._schemas: dict[int, Mapping[str, Any]] = {}
        self._connecting: asyncio.Task[None] | None = None
        self._clients: dict[str, Client] = {}
        self._states: dict[str, _State] = {}
        self._reserved = 0.0
        #: Why nothing more is asked, once it is so.
        self.stopped: str | None = None
        totals = journal.totals().values()
        self.progress = Progress(
            requests=int(sum(row["requests"] for row in totals)), cost=sum(row["cost"] for row in totals)
        )
        #: Prompts of the questions that were not in the journal, as (judge, characters, schema), for estimates.
        self.unasked: list[tuple[str, int, Mapping[str, Any] | None]] = []

    async def ask(self, question: Question) -> Answer:
        """Answer a question; what a protocol is given as ``ask``."""
        judge = self._judges.get(question.judge)
        if judge is None:
            raise ValueError(f"question {question.key} is for {question.judge!r}, who is not on the panel")
        if question.schema is not None and id(question.schema) not in self._schemas:
            wrong = check_schema(question.schema)
            if wrong:
                raise ValueError(f"question {question.key}: {wrong[0]}")
            self._schemas[id(question.schema)] = question.schema
        name = (question.judge, question.key)
        if name in self._tasks:
            return await asyncio.shield(self._tasks[name])
        kept = self._journal.find(*name)
        if kept is None and self._connect is not None:
            task = self._tasks[name] = asyncio.create_task(self._ask(question, judge))
            task.add_done_callback(_seen)
            return await asyncio.shield(task)
        request = self._request(question, judge)
        if kept is None:
            size = len(request.system) + len(request.user)
            self.unasked.append((judge.name, size, question.schema))
            return Answer(None, NOT_ASKED)
        if kept.hash != self._digest(name, request):
            raise InputError(
                f"the journal {self._journal.path} holds an answer of {judge.name} to another form of the question "
                f"{written(question.key)}: a prompt or the protocol has changed since; go on with the version that "
                "began it, or name another output folder"
            )
        self._count(kept.answer)
        return kept.answer

    async def finish(self) -> None:
        """Wait for the requests that are under way."""
        self.stopped = self.stopped or "the run is over"
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        for client in set(self._clients.values()):
            await client.close()

    def _count(self, answer: Answer) -> None:
        self.progress.done += answer.missing is None
        self.progress.missing += answer.missing is not None
        self._tell()

    def _tell(self) -> None:
        self.progress.seconds = time.monotonic() - self._begun
        if self._show is not None:
            self._show(self.progress)

    def _request(self, question: Question, judge: Judge) -> Request:
        prompt = self._prompts.render(question.template, question.variables)
        return Request(
            model=judge.model,
            system=prompt.system,
            user=prompt.user,
            schema=question.schema,
            logprobs=question.logprobs,
            temperature=judge.temperature if question.temperature is None else question.temperature,
            max_tokens=judge.max_tokens,
            seed=judge.seed,
            extra=judge.extra,
        )

    def _digest(self, name: tuple[str, Key], request: Request) -> str:
        parts = {field.name: getattr(request, field.name) for field in fields(request)}
        digest = hashlib.sha256(json.dumps(parts, sort_keys=True, default=dict).encode()).hexdigest()
        if self._digests.setdefault(name, digest) != digest:
            raise ValueError(f"two questions to {name[0]} have the key {name[1]}")
        return digest

    async def _ask(self, question: Question, judge: Judge) -> Answer:
        async with self._slots[judge.name]:
            self._go_on()
            if judge.model.startswith(RULE):
                digest = self._digest((judge.name, question.key), self._request(question, judge))
                answer = decide(judge, question)
                self._journal.keep(judge.name, question.key, digest, answer, [])
                self._count(answer)
                return answer
            if self._connecting is None:
                self._connecting = asyncio.create_task(self._reach())
            await asyncio.shield(self._connecting)
            request = self._request(question, judge)
            digest = self._digest((judge.name, question.key), request)
            requests: list[Sent] = []
            answer = await self._answer(judge, question.key, request, requests)
            self._journal.keep(judge.name, question.key, digest, answer, requests)
        self.progress.asked += 1
        self._count(answer)
        return answer

    def _go_on(self) -> None:
        if self.stopped is not None:
            raise Stop(self.stopped)

    async def _reach(self) -> None:
        assert self._connect is not None
        found = await self._connect()
        servers = {id(client): client for client, _ in found.values()}
        reasons = dict(
            zip(
                servers,
                await asyncio.gather(*(client.reach(_REACH) for client in servers.values())),
                strict=True,
            )
        )
        problems = [
            f"judge {name!r}: the server at {client.base_url} cannot be used: {reasons[id(client)]}"
            for name, (client, _) in found.items()
            if reasons[id(client)]
        ]
        self._clients = {name: client for name, (client, _) in found.items()}
        self._states = {name: _State(form) for name, (_, form) in found.items()}
        if problems:
            raise InputError(problems)

    async def _answer(self, judge: Judge, key: Key, request: Request, requests: list[Sent]) -> Answer:
        """Ask until the answer can be used, or no more."""
        reason = ""
        for number in range(self._limits.answer_tries):
            seed = None if request.seed is None else _seed(request.seed, key, number)
            found = await self._send(judge, key, replace(request, seed=seed), requests)
            if isinstance(found, str):
                return Answer(None, found)
            reply, sent = found
            content, reason = _usable(reply, request.schema)
            if content is not None:
                requests.append(sent)
                return Answer(content, None, reply.logprobs if request.logprobs else ())
            self._note(judge, key, replace(sent, error=reason), requests)
        return Answer(None, f"no usable answer in {self._limits.answer_tries} tries; the last: {reason}")

    def _note(self, judge: Judge, key: Key, sent: Sent, requests: list[Sent]) -> None:
        requests.append(sent)
        self._journal.sent(judge.name, key, len(requests), sent)

    async def _send(
        self, judge: Judge, key: Key, request: Request, requests: list[Sent]
    ) -> tuple[Reply, Sent] | str:
        """Send a request until there is a reply; or say why there is none."""
        state, client = self._states[judge.name], self._clients[judge.name]
        wants = (request.schema is not None, request.logprobs)
        forms = _forms(state.first, *wants)
        tries = 0
        while True:
            form = state.proven.get(wants) or forms[0]
            await self._wait(state)
            reserved = self._reserve(judge, state, request)
            began, clock = datetime.now(UTC).isoformat(timespec="milliseconds"), time.monotonic()
            try:
                reply = await client.send(request, form, judge.timeout)
            except NoReply as error:
                trouble = error
            else:
                seconds = time.monotonic() - clock
                cost = _cost(judge, request, reply)
                state.proven[wants], state.unanswered = form, 0
                state.replies, state.paid = state.replies + 1, state.paid + cost
                self._pay(reserved, cost)
                text = client.hidden(reply.text)
                sent = Sent(began, seconds, 200, None, reply.tokens_in, reply.tokens_out, cost, _clean(text))
                return replace(reply, text=text), sent
            self._pay(reserved, 0.0)
            seconds = time.monotonic() - clock
            reason = _clean(trouble.reason)
            self._note(
                judge, key, Sent(began, seconds, trouble.status, reason, None, None, 0.0, None), requests
            )
            self._tell()
            if not trouble.passing:
                self._fatal(judge, client, trouble)
                if wants not in state.proven and len(forms) > 1:
                    forms = forms[1:]
                    continue
                return f"refused by the server: {reason}"
            tries += 1
            if tries >= self._limits.request_tries:
                state.unanswered += 1
                if state.unanswered >= _DEAD:
                    self.stopped = f"the server of judge {judge.name!r} does not answer ({reason})"
                    raise Stop(self.stopped)
                return f"no reply in {tries} requests; the last: {reason}"
            await self._back_off(state, key, tries, trouble.after)

    def _fatal(self, judge: Judge, client: Client, trouble: NoReply) -> None:
        """Stop at what no further question to this judge can bring right."""
        remedies = {
            401: f"check the key in {judge.api_key_env or 'api_key_env'}",
            403: f"check the key in {judge.api_key_env or 'api_key_env'} and what it may use",
            404: f"check model {judge.model!r} and base_url",
        }
        if trouble.status in remedies:
            self.stopped = f"judge {judge.name!r} at {client.base_url}: {trouble.reason}"
            raise InputError(f"{self.stopped}; {remedies[trouble.status]}")

    async def _wait(self, state: _State) -> None:
        """Sleep until the server may be asked again, unless the run stops first."""
        while True:
            self._go_on()
            left = state.not_before - time.monotonic()
            if left <= 0:
                return
            await asyncio.sleep(min(left, 1.0))

    async def _back_off(self, state: _State, key: Key, tries: int, after: float | None) -> None:
        """Wait before the next try; where the server says how long, all its questions wait."""
        if after is not None:
            state.not_before = max(state.not_before, time.monotonic() + min(after, _LONGEST_WAIT))
            return
        drawn = np.random.Generator(np.random.PCG64(_seed(tries, key, 0))).random()
        pause = min(self._limits.backoff * 2.0 ** (tries - 1), _LONGEST_WAIT) * (0.5 + drawn)
        end = time.monotonic() + pause
        while (left := end - time.monotonic()) > 0:
            self._go_on()
            await asyncio.sleep(min(left, 1.0))

    def _reserve(self, judge: Judge, state: _State, request: Request) -> float:
        """What a request may cost, set aside until it is paid; the run stops if it may not cost that much."""
        limits, progress = self._limits, self.progress
        mean = state.paid / state.replies if state.replies else 0.0
        size = len(request.system) + len(request.user)
        cost = max(mean, price(judge, tokens_read(size), tokens_written(request.schema, judge.max_tokens)))
        if limits.max_calls is not None and progress.requests >= limits.max_calls:
            self.stopped = f"stopped at {progress.requests} requests (max_calls)"
        elif limits.max_cost is not None and progress.cost + self._reserved + cost > limits.max_cost:
            self.stopped = (
                f"stopped at a cost of {progress.cost + self._reserved:.4g}: one more request may pass max_cost "
                f"{limits.max_cost:g}"
            )
        self._go_on()
        progress.requests += 1
        self._reserved += cost
        return cost

    def _pay(self, reserved: float, cost: float) -> None:
        self._reserved -= reserved
        self.progress.cost += cost


def tokens_read(characters: int) -> int:
    """About how many tokens a prompt has: one per four characters.

    Examples
    --------
    >>> tokens_read(400)
    100
    """
    return -(-characters // 4)


def tokens_written(schema: Mapping[str, Any] | None, most: int | None = None) -> int:
    """About how many tokens an answer has: 8 per field, 80 per free text, 250 without a schema.

    Examples
    --------
    >>> tokens_written({"type": "object", "properties": {"winner": {"enum": [1, 2]}}})
    16
    """
    found = 250 if schema is None else _tokens(schema)
    return found if most is None else min(found, most)


def _tokens(schema: Mapping[str, Any]) -> int:
    if "properties" in schema:
        return 8 + sum(_tokens(inner) for inner in schema["properties"].values())
    if "items" in schema:
        return 8 + max(1, int(schema.get("minItems", 3))) * _tokens(schema["items"])
    if schema.get("type") == "string" and "enum" not in schema:
        return min(80, int(schema.get("maxLength", 320)) // 4)
    return 8


def price(judge: Judge, read: float, wrote: float) -> float:
    """Cost of so many tokens read and written.

    Examples
    --------
    >>> price(Judge("a", "m", price_in=1.0, price_out=2.0), 500_000, 250_000)
    1.0
    """
    return ((judge.price_in or 0.0) * read + (judge.price_out or 0.0) * wrote) / 1e6


def _cost(judge: Judge, request: Request, reply: Reply) -> float:
    """Cost of a reply; from its length where the server does not count tokens."""
    size = len(request.system) + len(request.user)
    read = tokens_read(size) if reply.tokens_in is None else reply.tokens_in
    wrote = tokens_read(len(reply.text)) if reply.tokens_out is None else reply.tokens_out
    return price(judge, read, wrote)


def _forms(first: Form, schema: bool, logprobs: bool) -> list[Form]:
    """Forms to try in turn, until a server does not refuse them."""
    schemas = [first.schema, "text"] if schema and first.schema == "json_schema" else [first.schema]
    return [Form(one, wanted) for wanted in ([True, False] if logprobs else [True]) for one in schemas]


def _usable(reply: Reply, schema: Mapping[str, Any] | None) -> tuple[Any | None, str]:
    """The content of a reply, or None and why it cannot be used."""
    if reply.finish is not None and reply.finish.startswith(("refused", "content_filter")):
        return None, f"the model {reply.finish}" if reply.finish[0] == "r" else "stopped by a content filter"
    end = " (cut off at max_tokens)" if reply.finish == "length" else ""
    if schema is None:
        text = without_thoughts(reply.text)
        return (text, "") if text else (None, f"empty answer{end}")
    try:
        content = parse_json(reply.text)
        json.dumps(content, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return None, "the answer holds half a character (a lone surrogate)"
    except (ValueError, RecursionError) as error:
        return None, f"no JSON in the answer: {error}{end}"
    wrong = "answer is null" if content is None else breach(content, schema)
    return (None, wrong) if wrong else (content, "")


def _seed(seed: int, key: Key, number: int) -> int:
    """A seed of its own for each question and try, the same at every run."""
    digest = hashlib.sha256(f"{seed}|{written(key)}|{number}".encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1


def _clean(text: str) -> str:
    """Text that UTF-8 can write."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _seen(task: asyncio.Task[Answer]) -> None:
    """Look at a task's exception, which the protocol may no longer be there to see."""
    if not task.cancelled():
        task.exception()
