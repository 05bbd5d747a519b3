"""What servers answer, as a text.

Layer: mcp. Pure. Nothing is parsed but the protocol's own frame; what is no text is named and left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from stead.domain.mcp import Json

_LINE_CHARS = 300
_MOST_ROWS = 500


def rendered(result: Json) -> tuple[str, bool]:
    """The text of a tool's, a resource's or a prompt's result, and whether it says that it failed."""
    parts = [_part(part) for part in _list(result, "content")]
    parts += [_resource(part) for part in _list(result, "contents")]
    parts += [f"{row.get('role', '?')}: {_part(_object(row, 'content'))}" for row in _list(result, "messages")]
    structured = result.get("structuredContent")
    if structured is not None and not any(part.strip() for part in parts):
        parts.append(msgspec.json.encode(structured).decode())
    return "\n".join(parts) or "(nothing)", result.get("isError") is True


def listing(rows: Sequence[Json], names: Sequence[str]) -> str:
    """A list, a line for each row: what it is asked for by, and what its server says of it."""
    lines = []
    for row in rows[:_MOST_ROWS]:
        name = next((str(row[name]) for name in names if row.get(name)), "?")
        about = " ".join(str(row[key]) for key in ("title", "name", "description", "mimeType") if row.get(key))
        wanted = [str(one.get("name", "?")) for one in _list(row, "arguments")]
        needs = f" (arguments: {', '.join(wanted)})" if wanted else ""
        lines.append(f"{name}: {about}{needs}"[:_LINE_CHARS])
    return "\n".join(lines) or "(none)"


def asked(asks: Mapping[str, Json]) -> tuple[str, Json, str]:
    """Questions to the person: the text, the schema of the answer, and where they are to go ("" for nowhere)."""
    params = {key: _object(ask, "params") for key, ask in asks.items()}
    text = "\n".join(str(one.get("message", ""))[:2000] for one in params.values())
    url = next((str(one.get("url", ""))[:2000] for one in params.values() if one.get("mode") == "url"), "")
    schemas = {key: _object(one, "requestedSchema") for key, one in params.items()}
    [first, *others] = schemas.values()
    return text, ({"type": "object", "properties": schemas} if others else first), url


def _part(part: Json) -> str:
    match part.get("type"):
        case "text":
            return str(part.get("text", ""))
        case "resource":
            return _resource(_object(part, "resource"))
        case "resource_link":
            return f"[resource {str(part.get('uri'))[:500]}]"
        case kind:
            size = len(str(part.get("data", ""))) * 3 // 4
            return f"[{str(kind)[:20]} {str(part.get('mimeType', ''))[:60]}, {size} bytes, left out]"


def _resource(part: Json) -> str:
    if isinstance(part.get("text"), str):
        return f"[{str(part.get('uri'))[:500]}]\n{part['text']}"
    size = len(str(part.get("blob", ""))) * 3 // 4
    return f"[{str(part.get('uri'))[:500]} {str(part.get('mimeType', ''))[:60]}, {size} bytes, left out]"


def _list(message: Json, key: str) -> list[Json]:
    found = message.get(key)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _object(message: Json, key: str) -> Json:
    return found if isinstance(found := message.get(key), dict) else {}
