"""Whether values fit JSON Schemas, found out in a process of its own.

Layer: tools. A schema and the value may both be a stranger's, and small ones can take for ever to check: each schema
that names another one twice doubles the work. So a child does it, that has nothing, and is killed when its time is up.
It resolves no reference out of the schema and takes patterns of linear time alone.

Run as a module it is that child: pairs in on standard input, misfits out on standard output, both JSON.
"""

from __future__ import annotations

import asyncio
import contextlib
import resource
import sys
from collections.abc import Sequence
from typing import Literal

import msgspec

from stead.domain.errors import ToolFault

TIME_LIMIT_S = 5.0
_MEMORY_BYTES = 1 << 30
_MISFITS = 5
_MISFIT_CHARS = 200

Draft = Literal["4", "2020-12"]


class Pair(msgspec.Struct, frozen=True):
    """A value and what it should fit. ``place`` is what a misfit is said to be in; "" for the value itself."""

    place: str
    schema: object
    value: object


class Question(msgspec.Struct, frozen=True):
    """What the child is asked. ``schema``s may refer into ``root``, like ``{"$ref": "#/components/schemas/Item"}``."""

    draft: Draft
    root: dict[str, object]
    """Also a schema itself, if it says more than definitions: every value must fit it too."""
    pairs: tuple[Pair, ...]


async def misfits(
    draft: Draft, root: dict[str, object], pairs: Sequence[Pair], timeout_s: float = TIME_LIMIT_S
) -> tuple[str, ...]:
    """What does not fit, a few short sentences at most; empty when all fits.

    Raises:
        ToolFault: a schema cannot be used, or takes too long.
    """
    if not pairs:
        return ()
    asked = msgspec.json.encode(Question(draft, root, tuple(pairs)))
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-m", __name__),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env={},
    )
    try:
        async with asyncio.timeout(timeout_s):
            said, _ = await child.communicate(asked)
    except TimeoutError as error:
        raise ToolFault(f"the schema takes longer than {timeout_s:g} s to check; call without it") from error
    finally:
        with contextlib.suppress(ProcessLookupError):
            child.kill()
        await child.wait()
    if child.returncode != 0:
        raise ToolFault("the schema could not be used; is it a JSON Schema, and not too large? call without it")
    found = msgspec.json.decode(said, type=Found)
    if found.unusable:
        raise ToolFault(f"the schema cannot be used: {found.unusable}; mend it, or call without it")
    return found.misfits


class Found(msgspec.Struct, frozen=True):
    """What the child answers. ``unusable``: why a schema is none; "" when all were used."""

    misfits: tuple[str, ...] = ()
    unusable: str = ""


def answer(asked: bytes) -> bytes:
    """What the child says to a question."""
    import jsonschema_rs

    question = msgspec.json.decode(asked, type=Question)
    validator = jsonschema_rs.Draft4Validator if question.draft == "4" else jsonschema_rs.Draft202012Validator
    found: list[str] = []
    for pair in question.pairs:
        own = question.root.get("allOf")
        schema = {**question.root, "allOf": [*(own if isinstance(own, list) else ()), pair.schema]}
        try:
            checks = validator(schema, offline=True, pattern_options=jsonschema_rs.RegexOptions())
        except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError) as error:
            return msgspec.json.encode(Found(unusable=_line(getattr(error, "message", "") or str(error))))
        for flaw in checks.iter_errors(pair.value):
            place = "/".join((pair.place, *map(str, flaw.instance_path))).strip("/")
            found.append(_line(f"{place or 'it'}: {flaw.message}"))
            if len(found) == _MISFITS:
                return msgspec.json.encode(Found(tuple(found)))
    return msgspec.json.encode(Found(tuple(found)))


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _MISFIT_CHARS else line[: _MISFIT_CHARS - 1] + "…"


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (10, 10))
    sys.stdout.buffer.write(answer(sys.stdin.buffer.read()))
