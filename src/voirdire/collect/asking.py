"""Answers to questions: from the journal if it has them, else from the judges' servers.

The journal records every request, its cost and every answer before the answer is used.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import sys
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from voirdire.collect.answers import check_schema, describe_misfit
from voirdire.collect.batch_rows import BatchRows
from voirdire.collect.budget import Budget
from voirdire.collect.client import Client, Request
from voirdire.collect.journal import Journal
from voirdire.collect.panel import RULE_PREFIX, decide_by_rule
from voirdire.collect.plan import Plan
from voirdire.collect.protocol import Answer, Judge, Key, Question, key_text
from voirdire.collect.sending import Sender
from voirdire.errors import InputError, raise_problems

#: Seconds for a server's first answer: a busy machine takes long.
_REACH_TIMEOUT = 60.0
NOT_ASKED = "not asked yet"


class Asking:
    """Question answering for one run.

    Parameters
    ----------
    plan : Plan
    journal : Journal
    budget : Budget
        The budget; requests and costs of earlier runs are added to it.
    connect : coroutine function, optional
        Called once before the first request; returns each judge's client. Without it no request is sent: questions
        without an answer in the journal are missing.
    """

    def __init__(
        self,
        plan: Plan,
        journal: Journal,
        budget: Budget,
        connect: Callable[[], Awaitable[Mapping[str, Client]]] | None = None,
    ) -> None:
        judges = plan.setting.judges
        self._judges = {judge.name: judge for judge in judges}
        self._prompts, self._journal, self._budget, self._connect = plan.prompts, journal, budget, connect
        self._slots = {
            judge.name: asyncio.Semaphore(sys.maxsize if judge.batch else judge.concurrency) for judge in judges
        }
        self._tasks: dict[tuple[str, Key], asyncio.Task[Answer]] = {}
        self._digests: dict[tuple[str, Key], str] = {}
        # keeps the schemas alive, as another object could otherwise get the same id
        self._schemas: dict[int, Mapping[str, Any]] = {}
        self._connecting: asyncio.Task[None] | None = None
        self._clients: list[Client] = []
        self._senders: dict[str, Sender] = {}
        #: Number of questions being asked, including those in batches.
        self._moving = 0
        #: Number of questions that were not asked for lack of a connection.
        self.unasked = 0
        for row in journal.totals_by_judge().values():
            budget.progress.requests += int(row["requests"])
            budget.progress.cost += row["cost"]
        for judge in judges:
            budget.reserve_sent(*BatchRows(journal, judge.name).unanswered_requests())

    async def ask(self, question: Question) -> Answer:
        """Answer a question; protocols receive this method as ``ask``."""
        judge = self._judges.get(question.judge)
        if judge is None:
            raise ValueError(f"question {question.key} is for {question.judge!r}, who is not on the panel")
        if question.schema is not None and id(question.schema) not in self._schemas:
            problems = check_schema(question.schema)
            if problems:
                raise ValueError(f"question {question.key}: {problems[0]}")
            self._schemas[id(question.schema)] = question.schema
        name = (question.judge, question.key)
        if name in self._tasks:
            return await asyncio.shield(self._tasks[name])
        stored = self._journal.find_answer(*name)
        if stored is None and self._connect is not None:
            task = self._tasks[name] = asyncio.create_task(self._ask(question, judge))
            task.add_done_callback(_retrieve_exception)
            return await asyncio.shield(task)
        if stored is None:
            self.unasked += 1
            return Answer(None, NOT_ASKED)
        request = self._request(question, judge)
        digest, answer = stored
        prefix = f"the journal {self._journal.path} holds an answer of {judge.name} to"
        shown = key_text(question.key)
        if digest != self._digest(name, request):
            raise InputError(
                f"{prefix} another form of the question {shown}: a prompt or the protocol has changed since; go on "
                "with the version that began it, or name another output folder"
            )
        if answer.missing is None and describe_misfit(answer.content, question.schema):
            raise InputError(f"{prefix} the question {shown} that is none; it is damaged, name another output folder")
        self._budget.count_question(answer)
        return answer

    def stop(self, reason: str) -> str | None:
        """Stop asking; return a text about the requests that `finish` will wait for, or None."""
        self._budget.stopped = self._budget.stopped or reason
        notices = []
        if count := self._waiting_count():
            notices.append(f"{count} questions wait in batches, which go on at their servers")
        counts = {name: sender.under_way for name, sender in self._senders.items() if sender.under_way}
        for sender in self._senders.values():
            sender.batches.leave_batches(reason)
        if counts:
            count, longest = sum(counts.values()), max(self._judges[name].timeout for name in counts)
            notices.append(
                f"stopping: waiting for {count} answer{'s' if count > 1 else ''} under way, at most {longest:g} s; "
                "Ctrl-C again ends at once"
            )
        return "; ".join(notices) or None

    def abandon_all(self) -> None:
        """Cancel all pending requests."""
        for sender in self._senders.values():
            sender.batches.abandon_all()
        for task in self._tasks.values():
            task.cancel()

    async def finish(self) -> None:
        """Wait for the pending requests; for batches only if the run has reached a bound."""
        self._budget.stopped = self._budget.stopped or "the run is over"
        if not self._budget.at_bound:
            self.stop(self._budget.stopped)
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        for sender in self._senders.values():
            await sender.batches.close()
        for client in self._clients:
            await client.close()

    def _waiting_count(self) -> int:
        return sum(sender.batches.waiting_count for sender in self._senders.values())

    def _request(self, question: Question, judge: Judge) -> Request:
        prompt = self._prompts.render(question.template, question.variables)
        temperature = judge.temperature if question.temperature is None else question.temperature
        content = (judge.model, *prompt, question.schema, question.logprobs)
        return Request(*content, temperature, judge.max_tokens, judge.seed, judge.extra)

    def _digest(self, name: tuple[str, Key], request: Request) -> str:
        digest = hashlib.sha256(json.dumps(vars(request), sort_keys=True, default=dict).encode()).hexdigest()
        if self._digests.setdefault(name, digest) != digest:
            raise ValueError(f"two questions to {name[0]} have the key {name[1]}")
        return digest

    async def _ask(self, question: Question, judge: Judge) -> Answer:
        self._moving += 1
        try:
            answer = await self._answer(question, judge)
        finally:
            self._moving -= 1
        self._budget.count_question(answer)
        return answer

    def _idle(self) -> bool:
        """Return True if only requests in batches are pending."""
        return self._moving <= self._waiting_count()

    async def _answer(self, question: Question, judge: Judge) -> Answer:
        async with self._slots[judge.name]:
            self._budget.raise_if_stopped()
            name = (judge.name, question.key)
            if judge.model.startswith(RULE_PREFIX):
                answer = decide_by_rule(judge, question)
                self._journal.record_answer(*name, self._digest(name, self._request(question, judge)), answer, [])
                return answer
            if self._connecting is None:
                self._connecting = asyncio.create_task(self._connect_servers())
            await asyncio.shield(self._connecting)
            request = self._request(question, judge)
            digest = self._digest(name, request)
            answer, requests = await self._senders[judge.name].request_answer(question.key, request)
            self._journal.record_answer(*name, digest, answer, requests, (request.system, request.user))
        self._budget.progress.asked += 1
        return answer

    async def _connect_servers(self) -> None:
        assert self._connect is not None
        clients = await self._connect()
        self._clients = list(dict.fromkeys(clients.values()))
        faults = await asyncio.gather(*(client.unreachable_reason(_REACH_TIMEOUT) for client in self._clients))
        reasons = dict(zip(self._clients, faults, strict=True))
        problems = [
            f"judge {name!r}: the server at {client.address} cannot be used: {reasons[client]}"
            for name, client in clients.items()
            if reasons[client]
        ]
        raise_problems(problems)
        for name, client in clients.items():
            sender = Sender(self._judges[name], client, self._journal, self._budget, self._idle)
            await sender.batches.recover_batches()
            self._senders[name] = sender


def _retrieve_exception(task: asyncio.Task[Answer]) -> None:
    """Retrieve a task's exception, as the protocol may have ended without awaiting it."""
    if not task.cancelled():
        task.exception()
