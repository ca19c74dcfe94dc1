"""Send one judge's requests to its server until there is an answer that can be used.

A request that fails in passing (429, 5xx, timeout, closed connection) is sent again, at most ``request_tries`` times,
after ``backoff * 2^n`` seconds with seeded jitter, or after what Retry-After says. An answer that does not parse or
breaks the schema is asked for again, at most ``answer_tries`` times; then the question is noted as missing, with the
reason.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np

from voirdire.collect.answers import usable_content
from voirdire.collect.batch import Batches
from voirdire.collect.budget import Budget, Stop
from voirdire.collect.client import Client, Form, Request
from voirdire.collect.cost import expected_cost, reply_cost
from voirdire.collect.journal import Journal, Sent
from voirdire.collect.protocol import Answer, Judge, Key, key_text
from voirdire.collect.replies import NoReply, Reply
from voirdire.errors import InputError

_LONGEST_WAIT = 300.0
#: Questions in a row that a judge may leave unanswered for its server's sake before the run stops.
_DEAD = 10


class Sender:
    """Sender of requests to one judge's server, with what is known about it while it is asked.

    Parameters
    ----------
    judge : Judge
    client : Client
    form : Form
        How its server is asked first.
    journal : Journal
        Where every request is noted.
    budget : Budget
    batches : Batches, optional
        What carries its requests, if not each by itself.
    """

    def __init__(
        self,
        judge: Judge,
        client: Client,
        form: Form,
        journal: Journal,
        budget: Budget,
        batches: Batches | None = None,
    ) -> None:
        self._judge, self._client, self._first = judge, client, form
        self._journal, self._budget, self._limits = journal, budget, budget.limits
        self._batches = batches
        #: The first form that was answered, by what was asked for: the schema, and whether log-probabilities.
        self._proven: dict[tuple[str, bool], Form] = {}
        #: Requests that have been sent and not answered, but for those in batches.
        self.under_way = 0
        self._not_before = 0.0
        self._unanswered = 0
        self._replies = 0
        self._paid = 0.0

    async def answer(self, key: Key, request: Request) -> tuple[Answer, list[Sent]]:
        """Ask until the answer can be used, or no more; the answer, and all requests that it took."""
        requests: list[Sent] = []
        reason = ""
        for number in range(self._limits.answer_tries):
            seed = None if request.seed is None else _question_seed(request.seed, key, number)
            found = await self._send_request(key, replace(request, seed=seed), requests)
            if isinstance(found, str):
                return Answer(None, found), requests
            reply, sent = found
            content, reason = usable_content(reply, request.schema, self._client.hide)
            if content is not None:
                requests.append(sent)
                return Answer(content, None, reply.logprobs if request.logprobs else ()), requests
            self._note_sent(key, replace(sent, error=reason), requests)
        lost = f"no usable answer in {self._limits.answer_tries} tries; the last: {reason}"
        return Answer(None, lost), requests

    def _note_sent(self, key: Key, sent: Sent, requests: list[Sent]) -> None:
        requests.append(sent)
        self._journal.note_sent(self._judge.name, key, len(requests), sent)

    async def _send_request(
        self, key: Key, request: Request, requests: list[Sent]
    ) -> tuple[Reply, Sent] | str:
        """Send a request until there is a reply; or say why there is none."""
        judge = self._judge
        forms = self._request_forms_to_try(request)
        refused: list[Form] = []
        tries = 0
        while True:
            # of what is in a batch already, by this run or one before, the cost is set aside
            line = self._batches.line(key, len(requests) + 1) if self._batches else None
            counted = line is not None and line.noted
            if line is None:
                form = forms[0]
                await self._wait_for_server()
                reserved = self._budget.reserve_cost(max(self._mean_cost(), expected_cost(judge, request)))
            else:
                form = line.form
                reserved = 0.0 if counted else line.expected
            batched = judge.batch or line is not None
            began, clock = datetime.now(UTC).isoformat(timespec="milliseconds"), time.monotonic()
            self.under_way += not batched
            try:
                if self._batches is None:
                    reply = await self._client.send(request, form, judge.timeout)
                else:
                    number = len(requests) + 1
                    reply = await self._batches.send(key, number, request, form, reserved)
            except NoReply as error:
                trouble = error
            else:
                seconds = time.monotonic() - clock
                cost = reply_cost(replace(judge, batch=batched), request, reply)
                self._proven.setdefault(_requested_features(request), form)
                self._unanswered = 0
                self._replies, self._paid = self._replies + 1, self._paid + cost
                self._budget.record_cost(reserved, 0.0 if counted else cost)
                text = _writable_text(reply.text)
                return reply, Sent(began, seconds, 200, None, reply.tokens_in, reply.tokens_out, cost, text)
            finally:
                self.under_way -= not batched
            self._budget.record_cost(reserved, 0.0)
            seconds = time.monotonic() - clock
            reason = trouble.reason
            self._note_sent(
                key, Sent(began, seconds, trouble.status, reason, None, None, 0.0, None), requests
            )
            self._budget.tell()
            if not trouble.passing:
                self._stop_if_fatal(trouble)
                if trouble.status is None or trouble.status < 400:
                    return f"no usable reply: {reason}"
                # others may have found out meanwhile which form the server takes
                refused = [*refused, form]
                forms = [one for one in self._request_forms_to_try(request) if one not in refused]
                if not forms:
                    return f"refused by the server: {reason}"
                continue
            tries += 1
            if tries >= self._limits.request_tries:
                self._unanswered += 1
                if self._unanswered >= _DEAD:
                    self._budget.stopped = f"the server of judge {judge.name!r} does not answer ({reason})"
                    raise Stop(self._budget.stopped)
                return f"no reply in {tries} requests; the last: {reason}"
            await self._back_off(key, tries, trouble.after)

    def _request_forms_to_try(self, request: Request) -> list[Form]:
        """Forms to try in turn until the server does not refuse them: first those that it has answered."""
        schema, logprobs = wants = _requested_features(request)
        alike = [
            form
            for (one, logs), form in self._proven.items()
            if bool(one) == bool(schema) and logs == logprobs
        ]
        known = [self._proven[wants]] if wants in self._proven else alike[-1:]
        return list(dict.fromkeys([*known, *_forms_to_try(self._first, bool(schema), logprobs)]))

    def _mean_cost(self) -> float:
        """Of this judge's replies so far."""
        return self._paid / self._replies if self._replies else 0.0

    def _stop_if_fatal(self, trouble: NoReply) -> None:
        """Stop at what no further question to this judge can bring right."""
        judge = self._judge
        remedies = {
            401: f"check the key in {judge.api_key_env or 'api_key_env'}",
            403: f"check the key in {judge.api_key_env or 'api_key_env'} and what it may use",
            404: f"check model {judge.model!r} and base_url",
            **dict.fromkeys(
                (301, 302, 303, 307, 308), "redirects are not followed; if you trust it, name it in base_url"
            ),
        }
        if trouble.status in remedies:
            stopped = f"judge {judge.name!r} at {self._client.address}: {trouble.reason}"
            self._budget.stopped = stopped
            raise InputError(f"{stopped}; {remedies[trouble.status]}")

    async def _wait_for_server(self) -> None:
        """Sleep until the server may be asked again, unless the run stops first."""
        while True:
            self._budget.raise_if_stopped()
            left = self._not_before - time.monotonic()
            if left <= 0:
                return
            await asyncio.sleep(min(left, 1.0))

    async def _back_off(self, key: Key, tries: int, after: float | None) -> None:
        """Wait before the next try; where the server says how long, all its questions wait."""
        if after is not None:
            self._not_before = max(self._not_before, time.monotonic() + min(after, _LONGEST_WAIT))
            return
        drawn = np.random.Generator(np.random.PCG64(_question_seed(tries, key, 0))).random()
        pause = min(self._limits.backoff * 2.0 ** (tries - 1), _LONGEST_WAIT) * (0.5 + drawn)
        end = time.monotonic() + pause
        while (left := end - time.monotonic()) > 0:
            self._budget.raise_if_stopped()
            await asyncio.sleep(min(left, 1.0))


def _forms_to_try(first: Form, schema: bool, logprobs: bool) -> list[Form]:
    """Forms to try in turn, until a server does not refuse them."""
    schemas = [first.schema, "text"] if schema and first.schema == "json_schema" else [first.schema]
    return [Form(one, wanted) for wanted in ([True, False] if logprobs else [True]) for one in schemas]


def _requested_features(request: Request) -> tuple[str, bool]:
    schema = "" if request.schema is None else json.dumps(request.schema, sort_keys=True, default=dict)
    return schema, request.logprobs


def _question_seed(seed: int, key: Key, number: int) -> int:
    """A seed of its own for each question and try, the same at every run."""
    digest = hashlib.sha256(f"{seed}|{key_text(key)}|{number}".encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1


def _writable_text(text: str) -> str:
    """Text that UTF-8 can write."""
    return text.encode("utf-8", "replace").decode("utf-8")
