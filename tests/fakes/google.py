"""Google's wire, as strict as Google: a request's form, and a reply's events. See ``fakes/wire.py``.

Sources: Google, Gemini API reference, "Generating content", "Function calling", "Thought signatures".
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tests.providers.chains import NAME

if TYPE_CHECKING:
    from tests.fakes.wire import Turn

Json = dict[str, Any]
PIECE = 16
SIGNATURE = "c2lnbmVk"
"""What a scripted call carries, and has to carry again."""


def google_events(turn: Turn, model: str, at: int = 0) -> Iterator[bytes]:
    """The reply as events of ``streamGenerateContent``. ``at``: see ``openai_events``."""

    def event(*parts: Json, **fields: Any) -> bytes:
        candidate = {"index": 0, "content": {"role": "model", "parts": list(parts)}, **fields}
        return _data({"candidates": [candidate], "modelVersion": model})

    for piece in _pieces(turn.thinking):
        yield event({"text": piece, "thought": True})
    for piece in _pieces(turn.text):
        yield event({"text": piece})
    for index, call in enumerate(turn.calls):
        made = {"name": call.tool, "args": json.loads(call.text), "id": f"call_x{at}_{index}"}
        yield event({"functionCall": made, **({} if index else {"thoughtSignature": SIGNATURE})})
    if turn.usage is not None:
        taken, given, cached, _ = turn.usage
        counts = {"promptTokenCount": taken, "candidatesTokenCount": given, "cachedContentTokenCount": cached}
        yield _data({"candidates": [], "usageMetadata": {**counts, "totalTokenCount": taken + given}})
    if turn.stop != "none":
        yield event(finishReason=turn.stop or "STOP")


def google_error(turn: Turn) -> bytes:
    """An error's body."""
    words = {429: "RESOURCE_EXHAUSTED", 401: "UNAUTHENTICATED", 503: "UNAVAILABLE"}
    said = {"code": turn.status, "message": turn.error, "status": words.get(turn.status, "INVALID_ARGUMENT")}
    return json.dumps({"error": said}).encode()


def google_flaws(body: Json) -> list[str]:
    """What ``generateContent``, at its strictest, would refuse in a request."""
    flaws = []
    if not isinstance(body.get("generationConfig", {}).get("maxOutputTokens"), int):
        flaws.append("no cap on the output")
    for tool in body.get("tools", []):
        for function in tool.get("functionDeclarations", []):
            schema = function.get("parametersJsonSchema", {})
            if not NAME.fullmatch(function.get("name", "")) or schema.get("type") != "object":
                flaws.append(f"tool {function.get('name')!r} is not well formed")
    return flaws + google_problems(body)


def google_problems(body: Json) -> list[str]:
    """What is wrong with a request's conversation."""
    problems: list[str] = []
    last, open_calls, seen = "model", list[str](), set[str]()
    for at, content in enumerate(body.get("contents", [])):
        role, parts = content.get("role"), content.get("parts") or []
        where = f"contents.{at} ({role})"
        if role not in ("user", "model") or role == last:
            problems.append(f"{where}: roles must alternate, and the user's comes first")
        if not parts:
            problems.append(f"{where}: parts must not be empty")
        answers = [str(part["functionResponse"].get("id")) for part in parts if "functionResponse" in part]
        if answers != open_calls:
            problems.append(f"{where}: has responses to {answers}, the content before calls {open_calls}")
        problems += [f"{where}: {what}" for part in parts for what in _part_problems(part, str(role))]
        calls = [part for part in parts if "functionCall" in part]
        if calls and not calls[0].get("thoughtSignature"):
            problems.append(f"{where}: the first call has no thought signature")
        open_calls = [str(part["functionCall"].get("id")) for part in calls]
        if seen & set(open_calls) or len(set(open_calls)) != len(open_calls):
            problems.append(f"{where}: the call's id is used twice")
        seen |= set(open_calls)
        last = str(role)
    if last != "user" or open_calls:
        problems.append(f"the last content is the {last}'s; calls without a response: {open_calls}")
    return problems


def _part_problems(part: Json, role: str) -> Iterator[str]:
    match part:
        case {"text": str(text)}:
            if not text.strip():
                yield "text must not be empty"
        case {"functionCall": {"name": str(name), "args": dict()}} if role == "model":
            if not NAME.fullmatch(name):
                yield f"the function's name {name!r} is malformed"
        case {"functionResponse": {"name": str(), "response": dict(response)}} if role == "user":
            if not str(response.get("output", response.get("error", ""))).strip():
                yield "the response is empty"
        case {"inlineData": {"mimeType": str(), "data": str(data)}} if role == "user":
            if not data:
                yield "the data is empty"
        case _:
            yield f"a part of the form {sorted(part)} does not belong here"


def _pieces(text: str) -> Iterator[str]:
    return (text[at : at + PIECE] for at in range(0, len(text), PIECE))


def _data(value: object) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\r\n\r\n"
