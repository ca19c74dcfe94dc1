"""Sending of one judge's requests to its server, with retries until there is a usable answer.

A request with a temporary failure (429, 5xx, timeout, closed connection) is sent again, at most ``request_tries``
times, after ``backoff * 2^n`` seconds with seeded jitter, or after the time of Retry-After. After an answer that does
not parse or breaks the schema, the question is asked again, at most ``answer_tries`` times; then it is recorded as
missing, with the reason.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np

from voirdire.collect.answers import usable_content
from voirdire.collect.batch import Batches
from voirdire.collect.budget import Budget, Stop, expected_cost, reply_cost
from voirdire.collect.client import Client, Form, Request
from voirdire.collect.journal import Journal, SentRequest
from voirdire.collect.panel import LOCAL_PREFIX
from voirdire.collect.protocol import Answer, Judge, Key, key_text
from voirdire.collect.replies import NoReply, Reply
from voirdire.errors import InputError

_MAX_WAIT = 300.0
#: Consecutive questions without a reply of the judge's server, at which the run stops.
_MAX_UNANSWERED = 10


class Sender:
    """Sender of requests to one judge's server; it keeps the state of that server during a run.

    Parameters
    ----------
    judge : Judge
    client : Client
    journal : Journal
        Journal that records every request.
    budget : Budget
    idle : callable
        Returns True if only requests in batches are pending.
    """

    def __init__(
        self, judge: Judge, client: Client, journal: Journal, budget: Budget, idle: Callable[[], bool]
    ) -> None:
        self._judge, self._client, self._journal = judge, client, journal
        self._budget, self._panel = budget, budget.panel
        #: Batches of the requests that are not sent singly.
        self.batches = Batches(judge, client, journal, budget, idle)
        #: The form of a schema that is tried first.
        self._first = "grammar" if judge.model.startswith(LOCAL_PREFIX) else "json_schema"
        #: The first form that was answered, by requested features: schema, log-probabilities.
        self._proven: dict[tuple[str, bool], Form] = {}
        #: Number of sent and unanswered requests, without those in batches.
        self.under_way = 0
        self._not_before = 0.0
        self._unanswered = 0
        #: Number of replies so far, and their total cost.
        self._replies, self._paid = 0, 0.0

    async def request_answer(self, key: Key, request: Request) -> tuple[Answer, list[SentRequest]]:
        """Ask until there is a usable answer or no try is left; return the answer and all its requests."""
        requests: list[SentRequest] = []
        reason = ""
        for number in range(self._panel.answer_tries):
            seed = None if request.seed is None else _question_seed(request.seed, key, number)
            outcome = await self._send_request(key, replace(request, seed=seed), requests)
            if isinstance(outcome, str):
                return Answer(None, outcome), requests
            reply, sent = outcome
            content, reason = usable_content(reply, request.schema, self._client.hide)
            if content is not None:
                requests.append(sent)
                return Answer(content, None, reply.logprobs if request.logprobs else ()), requests
            self._note_sent(key, replace(sent, error=reason), requests)
        failure = f"no usable answer in {self._panel.answer_tries} tries; the last: {reason}"
        return Answer(None, failure), requests

    def _note_sent(self, key: Key, sent: SentRequest, requests: list[SentRequest]) -> None:
        requests.append(sent)
        self._journal.note_sent(self._judge.name, key, len(requests), sent)

    async def _send_request(
        self, key: Key, request: Request, requests: list[SentRequest]
    ) -> tuple[Reply, SentRequest] | str:
        """Send a request until there is a reply; return the reply, or the reason why there is none."""
        judge = self._judge
        forms = self._request_forms_to_try(request)
        refused: list[Form] = []
        tries = 0
        while True:
            # the cost of a request that is in a batch already is reserved
            number = len(requests) + 1
            line = self.batches.rows.find_line(key, number)
            counted = line is not None and line.noted
            if line is None:
                form = forms[0]
                await self._wait_until()
                mean = self._paid / max(self._replies, 1)
                reserved = self._budget.reserve_cost(max(mean, expected_cost(judge, request)))
            else:
                form = line.form
                reserved = 0.0 if counted else line.expected
            batched = judge.batch or line is not None
            began, clock = datetime.now(UTC).isoformat(timespec="milliseconds"), time.monotonic()
            self.under_way += not batched
            try:
                if batched:
                    reply = await self.batches.send(key, number, request, form, reserved, line)
                else:
                    reply = await self._client.send(request, form, judge.timeout)
            except NoReply as error:
                trouble = error
            else:
                cost = reply_cost(replace(judge, batch=batched), request, reply)
                self._proven.setdefault(_requested_features(request), form)
                self._unanswered = 0
                self._replies, self._paid = self._replies + 1, self._paid + cost
                self._budget.settle_reserved_cost(reserved, 0.0 if counted else cost)
                usage = (reply.tokens_in, reply.tokens_out, cost)
                text = reply.text.encode("utf-8", "replace").decode()  # lone surrogates cannot be encoded
                return reply, SentRequest(began, time.monotonic() - clock, 200, None, *usage, text)
            finally:
                self.under_way -= not batched
            self._budget.settle_reserved_cost(reserved, 0.0)
            reason = trouble.reason
            self._note_sent(key, SentRequest(began, time.monotonic() - clock, trouble.status, reason), requests)
            self._budget.show_progress()
            if not trouble.passing:
                self._stop_if_fatal(trouble)
                if trouble.status is None or trouble.status < 400:
                    return f"no usable reply: {reason}"
                # another request may have found an accepted form meanwhile
                refused.append(form)
                forms = [candidate for candidate in self._request_forms_to_try(request) if candidate not in refused]
                if not forms:
                    return f"refused by the server: {reason}"
                continue
            tries += 1
            if tries >= self._panel.request_tries:
                self._unanswered += 1
                if self._unanswered >= _MAX_UNANSWERED:
                    self._budget.stopped = f"the server of judge {judge.name!r} does not answer ({reason})"
                    raise Stop(self._budget.stopped)
                return f"no reply in {tries} requests; the last: {reason}"
            await self._back_off(key, tries, trouble.after)

    def _request_forms_to_try(self, request: Request) -> list[Form]:
        """Return the forms to try in turn, those that the server has answered first."""
        schema, logprobs = features = _requested_features(request)
        feature_kind = bool(schema), logprobs
        similar_forms = [
            form
            for (form_schema, form_logprobs), form in self._proven.items()
            if (bool(form_schema), form_logprobs) == feature_kind
        ]
        answered_forms = [self._proven[features]] if features in self._proven else similar_forms[-1:]
        schemas = [self._first, *(["text"] if schema and self._first == "json_schema" else [])]
        others = [
            Form(form_schema, with_logprobs)
            for with_logprobs in ([True, False] if logprobs else [True])
            for form_schema in schemas
        ]
        return list(dict.fromkeys([*answered_forms, *others]))

    def _stop_if_fatal(self, trouble: NoReply) -> None:
        """Stop the run at a fault that would repeat at every question to this judge."""
        judge = self._judge
        remedies = {
            401: f"check the key in {judge.api_key_env or 'api_key_env'}",
            403: f"check the key in {judge.api_key_env or 'api_key_env'} and what it may use",
            404: f"check model {judge.model!r} and base_url",
        }
        redirect_remedy = "redirects are not followed; if you trust it, name it in base_url"
        remedies |= dict.fromkeys((301, 302, 303, 307, 308), redirect_remedy)
        if trouble.status in remedies:
            stopped = f"judge {judge.name!r} at {self._client.address}: {trouble.reason}"
            self._budget.stopped = stopped
            raise InputError(f"{stopped}; {remedies[trouble.status]}")

    async def _wait_until(self, end: float = 0.0) -> None:
        """Sleep until ``end`` and until the server may be asked again, unless the run stops first."""
        self._budget.raise_if_stopped()
        while (seconds := max(end, self._not_before) - time.monotonic()) > 0:
            await asyncio.sleep(min(seconds, 1.0))
            self._budget.raise_if_stopped()

    async def _back_off(self, key: Key, tries: int, after: float | None) -> None:
        """Wait before the next try; a wait that the server demands (``after``) holds for all its questions."""
        if after is not None:
            self._not_before = max(self._not_before, time.monotonic() + min(after, _MAX_WAIT))
            return
        jitter = np.random.Generator(np.random.PCG64(_question_seed(tries, key, 0))).random()
        pause = min(self._panel.backoff * 2.0 ** (tries - 1), _MAX_WAIT) * (0.5 + jitter)
        await self._wait_until(time.monotonic() + pause)


def _requested_features(request: Request) -> tuple[str, bool]:
    schema = "" if request.schema is None else json.dumps(request.schema, sort_keys=True, default=dict)
    return schema, request.logprobs


def _question_seed(seed: int, key: Key, number: int) -> int:
    """Return a separate seed for each question and try, the same in every run."""
    digest = hashlib.sha256(f"{seed}|{key_text(key)}|{number}".encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1
