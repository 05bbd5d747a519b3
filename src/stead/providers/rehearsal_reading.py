"""How the rehearsal model reads in quarantine: lines of the form ``name: value``, and nothing else.

Layer: providers. Pure. What no such line says it answers with null: it never guesses. A name may be written in other
cases, and with spaces or hyphens for its underscores.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from stead.brain.reading import READING
from stead.domain.messages import UserMessage
from stead.domain.ports import ModelRequest


class _Order(msgspec.Struct, frozen=True):
    """The request's one message, as ``brain.reading.message`` makes it."""

    fields: dict[str, object]
    text: str


def answer(request: ModelRequest) -> str | None:
    """The answer to a reading, as JSON; nothing for a request of another kind."""
    if request.instructions != READING:
        return None
    (message,) = request.messages
    assert isinstance(message, UserMessage)
    order = msgspec.json.decode(message.text, type=_Order)
    fields = msgspec.convert(order.fields["properties"], dict[str, dict[str, object]])
    return msgspec.json.encode({name: _found(name, schema, order.text) for name, schema in fields.items()}).decode()


def _found(name: str, schema: Mapping[str, object], text: str) -> object:
    spelt = name.strip("_").replace("_", "[ _-]?")
    said = re.findall(rf"(?mi)^\W*{spelt}\s*[:=]\s*(\S.*)$", text)
    if schema.get("type") == "array":
        items = msgspec.convert(schema["items"], dict[str, object])
        return [value for line in said if (value := _value(items, line)) is not None]
    return _value(schema, said[0]) if said else None


def _value(schema: Mapping[str, object], said: str) -> object:
    """The first thing in what is said that the schema wants."""
    said = said.strip()
    if isinstance(options := schema.get("enum"), list):
        return next((option for option in options if str(option).casefold() == said.casefold()), None)
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if "boolean" in kinds:
        return {"yes": True, "true": True, "no": False, "false": False}.get(said.casefold())
    if "number" in kinds:
        found = re.search(r"-?[0-9]+(?:,[0-9]{3})*(?:\.[0-9]+)?", said)
        return _number(found[0]) if found else None
    found = re.search(_FORMS[str(schema["format"])], said)
    return found[0] if found else None


def _number(said: str) -> int | float:
    number = float(said.replace(",", ""))
    return int(number) if number.is_integer() else number


_FORMS = {
    "date": r"[0-9]{4}-[0-9]{2}-[0-9]{2}",
    "id": r"[A-Za-z0-9][A-Za-z0-9._-]*[A-Za-z0-9]|[A-Za-z0-9]",
    "email": r"[A-Za-z0-9][A-Za-z0-9._%+-]*@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+",
    "host": r"[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+",
}
