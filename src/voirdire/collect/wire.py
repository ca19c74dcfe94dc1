"""Bytes that go over the wire: no header that the environment slips in, no redirect, no answer without an end.

The ``openai`` SDK sends by the HTTP client that is made here. A server gets the key that is meant for it and nothing
else of the user's: ``OPENAI_ORG_ID`` and ``OPENAI_PROJECT_ID`` go to OpenAI alone, cookies nowhere. An answer is
unpacked as it comes and dropped at 8 MB (512 MB for the answers of a batch), however small it was packed.
"""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import urlsplit

from voirdire.collect.allowed import is_loopback

#: Most bytes of an answer, unpacked, and of a file of them.
LARGEST, LARGEST_FILE = 8 * 1024 * 1024, 512 * 1024 * 1024
_SENT = ("host", "accept", "connection", "content-type", "content-length", "transfer-encoding", "user-agent")
_OPENAI = ("openai-organization", "openai-project")


class BadAnswer(Exception):
    """An answer that is not taken: the reason, and the HTTP status that it came with."""

    def __init__(self, reason: str, status: int = 200) -> None:
        super().__init__(reason)
        self.status = status


def http_client(base_url: str, key: str) -> Any:
    """An asynchronous HTTP client for one server, of the kind that the installed SDK uses."""
    from openai import DefaultAsyncHttpxClient

    host = urlsplit(base_url).hostname or ""
    kept = {*_SENT, *(_OPENAI if host == "api.openai.com" else ())}

    class Bounded(DefaultAsyncHttpxClient):  # type: ignore[misc,unused-ignore]
        async def send(self, request: Any, **_: Any) -> Any:
            notes = request.headers.copy()  # the SDK's to itself stand among them
            for name in {*request.headers} - kept:
                del request.headers[name]
            request.headers["Authorization"] = f"Bearer {key}"
            request.headers["Accept-Encoding"] = "gzip, deflate"
            response = await super().send(request, stream=True, follow_redirects=False)
            try:
                if response.is_redirect:
                    place = urlsplit(str(response.headers.get("location", "")))
                    shown = f"{place.scheme}://{place.hostname}{place.path}" if place.hostname else place.path
                    status = response.status_code
                    raise BadAnswer(f"HTTP {status}: it redirects to {shown or 'nowhere'}", status)
                encoding = response.headers.get("content-encoding", "identity").strip().lower()
                most = LARGEST_FILE if request.url.path.endswith("/content") else LARGEST
                content = await _read_bounded(response.aiter_raw(), encoding, most)
            finally:
                await response.aclose()
            headers = {"content-type": "application/json"}
            headers |= {
                name: response.headers[name]
                for name in ("retry-after", "retry-after-ms")
                if name in response.headers
            }
            request.headers = notes
            return type(response)(response.status_code, headers=headers, content=content, request=request)

    # a proxy named in the environment is not meant for servers on this machine
    return Bounded(trust_env=not is_loopback(host), follow_redirects=False)


async def _read_bounded(chunks: AsyncIterator[bytes], encoding: str, most: int = LARGEST) -> bytes:
    """All bytes of an answer, unpacked."""
    if encoding not in ("", "identity", "gzip", "x-gzip", "deflate"):
        raise BadAnswer(f"its answer is packed in a way that was not asked for ({encoding[:20]})")
    unpack = None
    found, taken = bytearray(), 0
    async for chunk in chunks:
        taken += len(chunk)
        if encoding in ("", "identity"):
            found += chunk
        else:
            if unpack is None:  # deflate comes with zlib's header, or without
                raw = encoding == "deflate" and chunk[:1] not in (b"\x78", b"\x58", b"\x08")
                unpack = zlib.decompressobj(-zlib.MAX_WBITS if raw else zlib.MAX_WBITS | 32)
            try:
                found += unpack.decompress(chunk, most + 1 - len(found))
            except zlib.error as error:
                raise BadAnswer(f"its answer cannot be unpacked ({error})") from None
        if len(found) > most or taken > most:
            raise BadAnswer(f"its answer is longer than {most // 1024**2} MB")
    return bytes(found)
