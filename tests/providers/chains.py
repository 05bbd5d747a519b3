"""What makes a conversation valid on each vendor's wire, over the JSON body as it was sent.

One sentence a problem, none for a body that the vendor takes at its strictest: where a vendor has become lenient (it
merges two messages of one role), servers of the same wire have not. Sources: the vendors' references of their messages
and chat completions APIs and their guides to tool use and prompt caching, and the words of their own refusals, which
the sentences follow.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
ANTHROPIC_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
OPENAI_ID = re.compile(r"[a-zA-Z0-9_-]{1,40}")
MOST_MARKS = 4


def anthropic_problems(body: Json) -> list[str]:
    """What the messages API would refuse in a request's conversation."""
    messages = [{**message, "content": blocks(message.get("content"))} for message in body.get("messages", [])]
    problems = list(_mark_problems({**body, "messages": messages}))
    if any(not _text(block) for block in blocks(body.get("system", "-"))):
        problems.append("system: text must not be empty")
    last, open_calls, seen = "assistant", list[str](), set[str]()
    for at, message in enumerate(messages):
        role, content = message.get("role"), message["content"]
        where = f"messages.{at} ({role})"
        if role not in ("user", "assistant"):
            problems.append(f"{where}: there is no such role")
        if role == last:
            problems.append(f"{where}: roles must alternate, and the user's comes first")
        if not content:
            problems.append(f"{where}: content must not be empty")
        answers = [block.get("tool_use_id") for block in content if block.get("type") == "tool_result"]
        if sorted(map(str, answers)) != sorted(open_calls):
            problems.append(f"{where}: has results for {answers}, the message before calls {open_calls}")
        if answers and any(block.get("type") != "tool_result" for block in content[: len(answers)]):
            problems.append(f"{where}: results must come first")
        for block in content:
            problems += [f"{where}: {what}" for what in _block_problems(block, str(role), seen)]
        open_calls = [str(block.get("id")) for block in content if block.get("type") == "tool_use"]
        last = str(role)
    if last != "user" or open_calls:
        problems.append(f"the last message is the {last}'s; calls without a result: {open_calls}")
    return problems


def blocks(content: object) -> list[Json]:
    """Content as blocks; plain text is short for one."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def _block_problems(block: Json, role: str, seen: set[str]) -> Iterator[str]:
    match block.get("type"):
        case "text":
            if not _text(block):
                yield "text must not be empty"
        case "thinking" if role == "assistant":
            if not block.get("signature") or not isinstance(block.get("thinking"), str):
                yield "thinking must have its signature"
        case "tool_use" if role == "assistant":
            id, name = str(block.get("id")), str(block.get("name"))
            if not ANTHROPIC_ID.fullmatch(id) or id in seen:
                yield f"the call's id {id!r} is malformed or used twice"
            if not NAME.fullmatch(name):
                yield f"the tool's name {name!r} is malformed"
            if not isinstance(block.get("input"), dict):
                yield f"the input of {id!r} is no object"
            seen.add(id)
        case "tool_result" if role == "user":
            content = blocks(block.get("content"))
            if not content or any(not _text(inner) for inner in content if inner.get("type") == "text"):
                yield f"the result of {block.get('tool_use_id')!r} is empty"
        case "image" | "document" as kind if role == "user":
            source = block.get("source", {})
            known = ("application/pdf",) if kind == "document" else ("image/png", "image/jpeg")
            if source.get("type") != "base64" or source.get("media_type") not in known or not source.get("data"):
                yield f"the source of a block of type {kind!r} is malformed"
        case kind:
            yield f"a block of type {kind!r} does not belong here"


def _text(block: Json) -> str:
    return str(block.get("text", "")).strip()


def _mark_problems(body: Json) -> Iterator[str]:
    """Cache marks: at most four, none that lives longer after one that lives shorter, none on what is not cached."""
    system = body.get("system", [])
    marked = [block for block in body.get("tools", []) if block.get("cache_control")]
    marked += [block for block in (system if isinstance(system, list) else []) if block.get("cache_control")]
    marked += [block for message in body["messages"] for block in message["content"] if block.get("cache_control")]
    lives = [block["cache_control"].get("ttl", "5m") for block in marked]
    if len(lives) > MOST_MARKS:
        yield f"{len(lives)} cache marks; at most {MOST_MARKS} are allowed"
    if set(lives) - {"5m", "1h"} or any(block["cache_control"].get("type") != "ephemeral" for block in marked):
        yield "a cache mark of a kind that there is not"
    if "5m" in lives and "1h" in lives[lives.index("5m") :]:
        yield "a cache mark for an hour comes after one for five minutes"
    if any(block.get("type") == "thinking" for block in marked):
        yield "thinking cannot have a cache mark"


def openai_problems(body: Json) -> list[str]:
    """What the chat completions API, or a server that speaks it, would refuse in a request's conversation."""
    problems: list[str] = []
    last, open_calls, seen = "", list[str](), set[str]()
    for at, message in enumerate(body.get("messages", [])):
        role, content = str(message.get("role")), message.get("content")
        where = f"messages.{at} ({role})"
        if open_calls and role != "tool":
            problems.append(f"{where}: calls must be followed by their results; missing are {open_calls}")
            open_calls = []
        match role:
            case "system":
                if at:
                    problems.append(f"{where}: must be the first")
            case "user":
                if last == "user":
                    problems.append(f"{where}: roles must alternate")
            case "assistant":
                if last in ("", "system", "assistant"):
                    problems.append(f"{where}: must follow the user's, or results")
                problems += [f"{where}: {what}" for what in _said_problems(message, seen)]
                open_calls = [str(call.get("id")) for call in message.get("tool_calls", [])]
            case "tool":
                id = str(message.get("tool_call_id"))
                if id in open_calls:
                    open_calls.remove(id)
                else:
                    problems.append(f"{where}: {id!r} is no call of the message before, or has its result")
            case _:
                problems.append(f"{where}: there is no such role")
        if role != "assistant" and not any(map(_text, blocks(content))):
            problems.append(f"{where}: content must not be empty")
        last = role
    if open_calls:
        problems.append(f"calls without a result: {open_calls}")
    if last not in ("user", "tool"):
        problems.append("the last message is not the user's or a result")
    return problems


def _said_problems(message: Json, seen: set[str]) -> Iterator[str]:
    calls = message.get("tool_calls")
    if calls is not None and not calls:
        yield "a list of calls must not be empty"
    if not calls and not any(map(_text, blocks(message.get("content")))):
        yield "content must not be empty"
    for call in calls or ():
        id, function = str(call.get("id")), call.get("function", {})
        if not OPENAI_ID.fullmatch(id) or id in seen:
            yield f"the call's id {id!r} is malformed or used twice"
        seen.add(id)
        if call.get("type") != "function" or not NAME.fullmatch(function.get("name", "")):
            yield f"the tool's name {function.get('name')!r} is malformed"
        if not _is_object(function.get("arguments")):
            yield f"the arguments of {id!r} are no JSON object"


def _is_object(text: object) -> bool:
    try:
        return isinstance(text, str) and isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False
