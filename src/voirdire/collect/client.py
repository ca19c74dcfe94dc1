"""Client for one OpenAI-compatible server: single requests by the ``openai`` SDK, without the SDK's retries.

The SDK uses the HTTP client defined here. A server receives its own key and no other data of the user:
``OPENAI_ORG_ID`` and ``OPENAI_PROJECT_ID`` go to OpenAI only, cookies and other headers from the environment nowhere.
Redirects are not followed. An answer is decompressed while it is read, and refused above 8 MB decompressed (512 MB for
the answers of a batch).
"""

from __future__ import annotations

import asyncio
import json
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

from voirdire.collect.allowed_hosts import is_loopback
from voirdire.collect.local import schema_grammar
from voirdire.collect.redact import Redactor
from voirdire.collect.replies import (
    WAIT_HEADERS,
    NoReply,
    Reply,
    error_message,
    may_succeed_later,
    read_reply,
    retry_after,
)

#: Most bytes of a decompressed answer, and of a file of answers.
MAX_ANSWER_BYTES, MAX_FILE_BYTES = 8 * 1024 * 1024, 512 * 1024 * 1024
_ALLOWED_HEADERS = ("host", "accept", "connection", "content-type", "content-length", "transfer-encoding", "user-agent")
_OPENAI_HEADERS = ("openai-organization", "openai-project")


def http_client(base_url: str, key: str) -> Any:
    """Return an asynchronous HTTP client for one server, of the class that the installed SDK uses."""
    from openai import DefaultAsyncHttpxClient

    host = urlsplit(base_url).hostname or ""
    allowed = {*_ALLOWED_HEADERS, *(_OPENAI_HEADERS if host == "api.openai.com" else ())}

    class Bounded(DefaultAsyncHttpxClient):  # type: ignore[misc,unused-ignore]
        async def send(self, request: Any, **_: Any) -> Any:
            sdk_headers = request.headers.copy()  # includes headers that the SDK reads back
            for name in {*request.headers} - allowed:
                del request.headers[name]
            request.headers["Authorization"] = f"Bearer {key}"
            request.headers["Accept-Encoding"] = "gzip, deflate"
            response = await super().send(request, stream=True, follow_redirects=False)
            try:
                if response.is_redirect:
                    target = urlsplit(str(response.headers.get("location", "")))
                    shown = f"{target.scheme}://{target.hostname}{target.path}" if target.hostname else target.path
                    status = response.status_code
                    reason = f"HTTP {status}: it redirects to {shown or 'nowhere'}"
                    raise NoReply(reason, status=status, passing=False)
                encoding = response.headers.get("content-encoding", "identity").strip().lower()
                max_bytes = MAX_FILE_BYTES if request.url.path.endswith("/content") else MAX_ANSWER_BYTES
                content = await _read_bounded(response.aiter_raw(), encoding, max_bytes)
            finally:
                await response.aclose()
            headers = {"content-type": "application/json"}
            headers |= {name: response.headers[name] for name in WAIT_HEADERS if name in response.headers}
            request.headers = sdk_headers
            return type(response)(response.status_code, headers=headers, content=content, request=request)

    # servers on this machine are not reached through a proxy of the environment
    return Bounded(trust_env=not is_loopback(host), follow_redirects=False)


async def _read_bounded(chunks: AsyncIterator[bytes], encoding: str, max_bytes: int = MAX_ANSWER_BYTES) -> bytes:
    """Read and decompress all bytes of an answer."""

    def refusal(reason: str) -> NoReply:
        return NoReply(f"its answer {reason}", status=200, passing=False)

    packed = encoding not in ("", "identity")
    if packed and encoding not in ("gzip", "x-gzip", "deflate"):
        raise refusal(f"is packed in a way that was not asked for ({encoding[:20]})")
    unpack = None
    content, bytes_read = bytearray(), 0
    async for chunk in chunks:
        bytes_read += len(chunk)
        if unpack is None and packed:  # deflate with or without zlib's header
            raw = encoding == "deflate" and chunk[:1] not in (b"\x78", b"\x58", b"\x08")
            unpack = zlib.decompressobj(-zlib.MAX_WBITS if raw else zlib.MAX_WBITS | 32)
        try:
            content += unpack.decompress(chunk, max_bytes + 1 - len(content)) if unpack else chunk
        except zlib.error as error:
            raise refusal(f"cannot be unpacked ({error})") from None
        if len(content) > max_bytes or bytes_read > max_bytes:
            raise refusal(f"is longer than {max_bytes // 1024**2} MB")
    return bytes(content)


_PLACEHOLDER_KEY = "none"
_MAX_SHOWN_CHARS = 300
_TOP_LOGPROBS = 20


@dataclass(frozen=True)
class Request:
    """A request, independent of the form in which the server accepts a schema.

    Examples
    --------
    >>> Request("m", "You judge.", "Which?").schema is None
    True
    """

    model: str
    system: str
    user: str
    schema: Mapping[str, Any] | None = None
    logprobs: bool = False
    temperature: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Form:
    """Form of requests that a server accepts, found at the first request.

    ``schema`` is ``"json_schema"`` (response_format), ``"grammar"`` (llama.cpp in this process) or ``"text"`` (schema
    in the prompt).

    Examples
    --------
    >>> Form().schema
    'json_schema'
    """

    schema: str = "json_schema"
    logprobs: bool = True


def request_body(request: Request, form: Form) -> dict[str, Any]:
    """Return the request's JSON body.

    Examples
    --------
    >>> request_body(Request("m", "", "Which?", temperature=0.0), Form())
    {'model': 'm', 'messages': [{'role': 'user', 'content': 'Which?'}], 'temperature': 0.0}
    """
    user = request.user
    body: dict[str, Any] = {}
    if request.schema is not None:
        if form.schema == "text":
            user += "\n\nAnswer with one JSON value that fits this JSON schema, and with nothing else:\n" + json.dumps(
                request.schema, ensure_ascii=False
            )
        elif form.schema == "grammar":
            body["grammar"] = schema_grammar(request.schema)
        else:
            answer_schema = {"name": "answer", "schema": request.schema, "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": answer_schema}
    if request.logprobs and form.logprobs:
        body |= {"logprobs": True, "top_logprobs": _TOP_LOGPROBS}
    for name in ("temperature", "max_tokens", "seed"):
        value = getattr(request, name)
        if value is not None:
            body[name] = value
    messages = [{"role": "user", "content": user}]
    if request.system:
        messages.insert(0, {"role": "system", "content": request.system})
    return {"model": request.model, "messages": messages, **body, **request.extra}


class Client:
    """A connection to one server.

    Parameters
    ----------
    base_url : str
    key : str
        Key of the server; empty if it needs none.
    hide : Redactor, optional
        Redacts keys in all texts of the server; by default ``key``.
    local : str, optional
        Name of a model in this process; messages show it instead of the address.

    Examples
    --------
    >>> Client("http://127.0.0.1:1/v1").base_url
    'http://127.0.0.1:1/v1'
    """

    def __init__(self, base_url: str, key: str = "", hide: Redactor | None = None, local: str | None = None) -> None:
        self.base_url, self._local = base_url, local
        #: Name of the server in messages.
        self.address = local or base_url
        self.hide = hide or Redactor([key])
        self._key = key or _PLACEHOLDER_KEY
        self._sdk: Any = None

    def _client(self) -> Any:
        if self._sdk is None:
            from openai import AsyncOpenAI

            self._sdk = AsyncOpenAI(
                base_url=self.base_url,
                api_key=self._key,
                max_retries=0,
                http_client=http_client(self.base_url, self._key),
            )
        return self._sdk

    async def close(self) -> None:
        """Close all connections."""
        if self._sdk is not None:
            await self._sdk.close()
            self._sdk = None

    async def unreachable_reason(self, timeout: float) -> str | None:
        """Return the reason why the server cannot be used; None if it answers, or runs in this process."""
        if self._local:
            return None
        try:
            async with asyncio.timeout(timeout):
                await self._client().models.with_raw_response.list(timeout=timeout)
        except Exception as error:
            trouble = self._describe_trouble(error, timeout)
            if trouble.status is None:
                return trouble.reason
            if trouble.status in (401, 403):
                return f"the key was refused ({trouble.reason})"
        return None

    async def send(self, request: Request, form: Form, timeout: float) -> Reply:
        """Send a request once.

        Raises
        ------
        NoReply
            There is no answer, or none that is a chat completion.
        """
        body = request_body(request, form)
        content = await self.response_bytes(
            # extra_body is sent unchanged: the SDK would inspect every entry of messages, slow for a schema
            lambda sdk: sdk.chat.completions.with_raw_response.create(
                model=request.model, messages=[], extra_body=body, timeout=timeout
            ),
            timeout,
        )
        return self.parse_reply(content)

    async def response_bytes(self, ask: Callable[[Any], Awaitable[Any]], timeout: float) -> bytes:
        """Return the bytes of the server's answer to a raw-response call of the SDK.

        Raises
        ------
        NoReply
            There is no answer.
        """
        try:
            async with asyncio.timeout(timeout):
                raw = await ask(self._client())
                content: bytes = raw.http_response.content
                return content
        except Exception as error:
            raise self._describe_trouble(error, timeout) from None

    def parse_reply(self, content: bytes) -> Reply:
        """Parse a chat completion, and redact keys in it.

        Raises
        ------
        NoReply
            The content is no chat completion.
        """
        reply = read_reply(content)
        if reply is None:
            start = self.one_line(content.decode("utf-8", "replace"))[:60]
            raise NoReply(f"the server's answer is no chat completion: {start!r}", passing=True)
        return self._hide_keys(reply)

    def _hide_keys(self, reply: Reply) -> Reply:
        """Redact keys in a reply; drop the log-probabilities if their tokens together contain a key."""
        finish = reply.finish and self.one_line(reply.finish)
        logprobs, alternatives = reply.logprobs, json.loads(json.dumps(reply.logprobs))
        if (
            self.hide.contains_key("".join(token for token, _ in logprobs))
            or self.hide.redact_value(alternatives) != alternatives
        ):
            logprobs = ()
        return replace(reply, text=self.hide.redact_text(reply.text), finish=finish, logprobs=logprobs)

    def _describe_trouble(self, error: Exception, timeout: float) -> NoReply:
        """Convert an exception to a NoReply whose text contains no key."""
        import openai

        if isinstance(error, TimeoutError | openai.APITimeoutError):
            return NoReply(f"no answer within {timeout:g} s", passing=True)
        no_reply = error if isinstance(error, NoReply) else error.__cause__  # some versions of the SDK wrap it
        if isinstance(no_reply, NoReply):
            return NoReply(self.one_line(no_reply.reason), status=no_reply.status, passing=False)
        if isinstance(error, openai.APIStatusError):
            status, after = error.status_code, retry_after(error.response.headers)
            message = error_message(error.body) or error.response.text or "no reason given"
            reason = self.one_line(f"HTTP {status}: {message}")
            return NoReply(reason, status=status, passing=may_succeed_later(status), after=after)
        if isinstance(error, openai.APIConnectionError):
            cause = error.__cause__ or error
            detail = str(cause) or type(cause).__name__
            return NoReply(self.one_line(f"connection failed ({detail})"), passing=True)
        return NoReply(self.one_line(f"{type(error).__name__}: {error}"), passing=False)

    def one_line(self, text: str) -> str:
        """Return a server's text on one line, shortened, with keys redacted."""
        text = self.hide.redact_text(" ".join(text.split()))
        text = text.encode("utf-8", "replace").decode()
        return text if len(text) <= _MAX_SHOWN_CHARS else text[:_MAX_SHOWN_CHARS] + "..."
