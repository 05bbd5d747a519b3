"""Looking for model servers on this machine, quickly and without a library.

Layer: providers. Anything may listen on these ports, so only an answer that looks like a list of models counts, and
little of it is read.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from urllib.parse import urlsplit

import msgspec

from stead.providers.presets import LOCAL_SERVERS, Preset

PROBE_S = 0.5
ANSWER_LIMIT_BYTES = 256 * 1024
MODELS_LIMIT = 200


class Found(msgspec.Struct, frozen=True):
    """A server that answered.

    Args:
        preset: what kind it is, by its port.
        models: what it serves, its first choice first; never empty.
        window_tokens: of its first model, 0 when it does not say.
    """

    preset: Preset
    models: tuple[str, ...]
    window_tokens: int


class _Meta(msgspec.Struct):
    n_ctx: int = 0


class _Listed(msgspec.Struct):
    id: str
    max_model_len: int | None = None
    """vLLM says its window here."""
    meta: _Meta | None = None
    """llama.cpp says it here."""


class _List(msgspec.Struct):
    data: list[_Listed]


async def discover(servers: Sequence[Preset] = LOCAL_SERVERS) -> tuple[Found, ...]:
    """The servers that answer within half a second, in the order given. Never raises."""
    probes = [_probe(preset) for preset in servers]
    return tuple(found for found in await asyncio.gather(*probes) if found is not None)


async def _probe(preset: Preset) -> Found | None:
    parts = urlsplit(preset.base_url)
    try:
        async with asyncio.timeout(PROBE_S):
            answer = await _get(parts.hostname or "", parts.port or 80, f"{parts.path}/models")
        listed = msgspec.json.decode(answer, type=_List).data
    except (OSError, EOFError, TimeoutError, ValueError, msgspec.MsgspecError, asyncio.LimitOverrunError):
        return None
    names = tuple(model.id for model in listed[:MODELS_LIMIT] if model.id.isprintable() and 0 < len(model.id) <= 200)
    if not names:
        return None
    first = listed[0]
    window_tokens = first.max_model_len or (first.meta.n_ctx if first.meta else 0)
    return Found(preset, names, max(0, window_tokens))


async def _get(host: str, port: int, path: str) -> bytes:
    """The body of a GET, by HTTP/1.0, so that it comes whole: to its length, or to the end of the connection.

    Raises:
        OSError, ValueError: nobody answers, or not 200.
    """
    reader, writer = await asyncio.open_connection(host, port)
    try:
        writer.write(f"GET {path} HTTP/1.0\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n".encode())
        head = await reader.readuntil(b"\r\n\r\n")
        if head.split(b" ", 2)[1:2] != [b"200"]:
            raise ValueError("no list of models there")
        length = _LENGTH.search(head)
        wanted = min(int(length.group(1)) if length else ANSWER_LIMIT_BYTES, ANSWER_LIMIT_BYTES)
        body = b""
        while len(body) < wanted and (piece := await reader.read(wanted - len(body))):
            body += piece
        return body
    finally:
        writer.close()


_LENGTH = re.compile(rb"\r\ncontent-length: *(\d{1,9})\r\n", re.IGNORECASE)
