"""Calls that small models write nearly as they should, put right where what they mean is beyond doubt.

Layer: providers. Pure. One pass over a whole reply, by slips that are known: a fence around the JSON, a comma before a
closing bracket, Python's quotes and words, arguments that are a string of JSON, calls in the text between
``<tool_call>`` marks. Nothing is guessed: what a repair reads has to be one JSON object, and what is cut off or can be
read in two ways stays as it came, so that the gate refuses it and the model is asked once more. A call is judged by the
gate after its repair as any other is.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Sequence

import msgspec

from stead.domain.ids import CallKey, RequestNo
from stead.domain.messages import DEPTH, Repair, ReplyPart, Text, ToolCall, is_shallow

LIMIT_CHARS = 200_000
"""Longer arguments are left as they came."""
_FENCED = re.compile(r"\s*```(?:json)?\s*\n(.*?)\n?\s*```\s*", re.DOTALL | re.IGNORECASE)
_MARKED = re.compile(r"<tool_call>\s*(.*?)\s*</tool_call>", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_TRAILING = re.compile(r",(?=\s*[}\]])")


def repaired(
    parts: Sequence[ReplyPart], number: RequestNo, tools: Collection[str], *, in_text: bool
) -> tuple[tuple[ReplyPart, ...], tuple[Repair, ...]]:
    """The parts of a whole reply with their calls put right, and what was repaired.

    Args:
        parts: as the wire gave them.
        number: of the request; new calls are keyed by it.
        tools: the names of those that were offered.
        in_text: calls may stand in the text. Only for servers that are known to leave them there, since a text may
            also quote one.
    """
    found: tuple[ReplyPart, ...] = tuple(parts)
    repairs: list[Repair] = []
    if in_text and not any(isinstance(part, ToolCall) for part in parts):
        found, repairs = _from_text(parts, number, tools)
    made: list[ReplyPart] = []
    for part in found:
        if isinstance(part, ToolCall) and (right := arguments(part.arguments)):
            repairs.append(Repair(part.key, right[1], part.arguments))
            part = msgspec.structs.replace(part, arguments=right[0])
        made.append(part)
    return tuple(made), tuple(repairs)


def arguments(text: str) -> tuple[str, str] | None:
    """Arguments as the text of a JSON object, and the slips that were put right; nothing where none is to be."""
    if len(text) > LIMIT_CHARS or _object(text) is not None:
        return None
    slips: list[str] = []
    if fenced := _FENCED.fullmatch(text):
        text = fenced[1]
        slips.append("fence")
    if (value := _object(text)) is None:
        inner = _decoded(text)
        if isinstance(inner, str):
            text, value = inner, _object(inner)
            slips.append("string")
    if value is None:
        without = _outside_strings(text)
        if without != text and (value := _object(without)) is not None:
            slips.append("comma")
    if value is None and (value := _python(text)) is not None:
        slips.append("python")
    try:
        return (msgspec.json.encode(value).decode(), ", ".join(slips)) if value is not None else None
    except UnicodeEncodeError:  # a Python literal can hold half a surrogate pair, which JSON cannot
        return None


def _from_text(
    parts: Sequence[ReplyPart], number: RequestNo, tools: Collection[str]
) -> tuple[tuple[ReplyPart, ...], list[Repair]]:
    """Calls in place of a text that is nothing but calls between marks, each of a tool that was offered."""
    texts = [part.text for part in parts if isinstance(part, Text)]
    said = "".join(texts)
    blocks = _MARKED.findall(said) if len(said) <= LIMIT_CHARS else []
    if not blocks or _MARKED.sub("", said).strip():
        return tuple(parts), []
    made: list[ReplyPart] = [part for part in parts if not isinstance(part, Text)]
    repairs: list[Repair] = []
    for index, block in enumerate(blocks):
        right = arguments(block)
        call = _object(right[0] if right else block)
        if call is None or set(call) - {"name", "arguments"} or call.get("name") not in tools:
            return tuple(parts), []
        given, key = call.get("arguments", {}), CallKey(f"call_{number}_{index}")
        text = given if isinstance(given, str) else msgspec.json.encode(given).decode()
        made.append(ToolCall(key, str(call["name"]), text))
        repairs.append(Repair(key, "text", block))
    return tuple(made), repairs


def _decoded(text: str) -> object:
    try:
        return msgspec.json.decode(text)
    except (msgspec.MsgspecError, RecursionError, UnicodeEncodeError):
        return None


def _object(text: str) -> dict[str, object] | None:
    """The JSON object that a text is; nothing for any other."""
    value = _decoded(text)
    return value if isinstance(value, dict) and is_shallow(value) else None


def _outside_strings(text: str) -> str:
    """The text without commas before closing brackets, but for those within strings."""
    made, at = [], 0
    for string in _STRING.finditer(text):
        made += [_TRAILING.sub("", text[at : string.start()]), string[0]]
        at = string.end()
    return "".join([*made, _TRAILING.sub("", text[at:])])


def _python(text: str) -> dict[str, object] | None:
    """The object that a text is as a literal of Python's, whose keys are strings and whose values JSON has."""
    if sum(map(text.count, "([{")) > 10 * DEPTH:
        return None
    try:
        tree = ast.parse(text.strip(), mode="eval")
        value = ast.literal_eval(tree)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    if not isinstance(value, dict) or not is_shallow(value) or _has_twice(tree):
        return None
    return value if _is_plain(value) else None


def _has_twice(tree: ast.Expression) -> bool:
    """Whether a key stands twice in one object, so that it can be read in two ways; or texts stand side by side."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            keys = [ast.dump(key) if key else "**" for key in node.keys]
            if len(keys) != len(set(keys)):
                return True
        elif not isinstance(node, ast.Expression | ast.List | ast.Constant | ast.Load | ast.UnaryOp | ast.USub):
            return True
    return False


def _is_plain(value: object) -> bool:
    """Whether JSON has the value."""
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_plain(item) for key, item in value.items())
    if isinstance(value, list):
        return all(map(_is_plain, value))
    return value is None or (isinstance(value, str | bool | int | float) and value == value)
