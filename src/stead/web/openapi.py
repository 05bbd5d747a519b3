"""How operations are described, so that the OpenAPI document says what the code does.

Layer: a door. Bodies and answers are msgspec structs; FastAPI knows nothing of them, so each operation is declared with
the schema of its structs, and a body is decoded by the same struct that describes it.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import msgspec
from fastapi import Depends, FastAPI, Request
from fastapi.responses import Response

from stead.domain.errors import InvalidRequest
from stead.domain.ports import REHEARSAL
from stead.web.errors import ErrorBody

JsonObject = dict[str, Any]
_T = TypeVar("_T")

_FIGURE = {"anyOf": [{"type": "integer", "minimum": 1}, {"enum": ["unlimited"]}]}
_TEXT: JsonObject = {"minLength": 1, "pattern": r"\S"}
_DIRECTIVE: dict[str, JsonObject] = {
    "title": {**_TEXT, "maxLength": 80},
    "text": {**_TEXT, "maxLength": 20_000},
    "directory": {"pattern": "^(/.*)?$"},
    "why": {"maxLength": 500},
}
_IDS: JsonObject = {"minItems": 1, "maxItems": 1000, "items": {"type": "string", "pattern": "^m_[0-9a-f]{16}$"}}
_STATEMENT: dict[str, JsonObject] = {"text": {**_TEXT, "maxLength": 4000}, "value": {"maxLength": 4000}}
_ALIASES: JsonObject = {"maxItems": 20, "items": {"type": "string", "maxLength": 120}}
_TIME = {"minimum": 0, "maximum": 253_402_300_799_999}
_DAYS = {"minimum": 0, "maximum": 36_500}
_FOR_GOOD: dict[str, JsonObject] = {
    "memories": {**_IDS, "minItems": 0},
    "events": {"items": {"type": "integer", "minimum": 1, "maximum": 2**53}},
    "words": {"maxItems": 1000, "items": {"type": "string", "minLength": 3, "maxLength": 20_000, "pattern": r"^\w{3}"}},
}
_BOUNDS: dict[str, dict[str, JsonObject]] = {
    "Budget": {"tokens": _FIGURE, "usd_micros": _FIGURE},
    "Limits": {
        "iterations": {"minimum": 1, "maximum": 1000},
        "stall": {"minimum": 2, "maximum": 100},
        "repetition": {"minimum": 2, "maximum": 100},
        "wall_s": {"minimum": 1, "maximum": 30 * 24 * 3600},
        "send_backs": {"minimum": 0, "maximum": 100},
    },
    "NewObjective": {"goal": _TEXT, "directory": {"pattern": "^/"}, "constraints": {"maxItems": 100}},
    "NewSession": {
        "directory": {"pattern": "^/"},
        "ignore": {"maxItems": 100, "items": {"type": "string", **_TEXT}},
    },
    "Fork": {"directory": {"pattern": "^(/.*)?$"}},
    "WantedPlan": {"steps": {"maxItems": 30, "items": {"$ref": "#/components/schemas/WantedStep"}}},
    "WantedStep": {"title": {**_TEXT, "maxLength": 200}},
    "WantedBudget": {"tokens": _FIGURE, "usd_micros": _FIGURE},
    "Said": {"text": _TEXT},
    "NewProvider": {
        "name": {"pattern": "^[a-z0-9-]{1,32}$", "not": {"const": REHEARSAL}},
        "key": {"pattern": "^(none|vault|env:[A-Z0-9_]+)$"},
    },
    "ProviderKey": {"key": {**_TEXT, "maxLength": 10_000}},
    "NewSecret": {
        "name": {"pattern": "^(?!provider-|env-)[a-z][a-z0-9_-]{0,63}$"},
        "value": {"minLength": 4, "maxLength": 8000, "pattern": r"\S{4}"},
    },
    "Words": {"text": _TEXT},
    "NewDirective": _DIRECTIVE,
    "ChangedDirective": _DIRECTIVE,
    "Draft": {"title": _DIRECTIVE["title"], "text": _DIRECTIVE["text"]},
    "WantedOrder": {"ids": {"minItems": 1, "uniqueItems": True}},
    "NewMemory": {
        **_STATEMENT,
        "key": {"maxLength": 120},
        "aliases": _ALIASES,
        "ttl_days": _DAYS,
        "valid_from_ms": _TIME,
    },
    "WantedMemories": {"items": {"minItems": 1, "maxItems": 1000}, "directory": {"pattern": "^(/.*)?$"}},
    "WantedWords": {**_STATEMENT, "valid_from_ms": _TIME},
    "NamedMemories": {"ids": _IDS},
    "WantedMarks": {"ids": _IDS},
    "MemoryFile": {"text": {"maxLength": 10_000_000}, "directory": {"pattern": "^(/.*)?$"}},
    "WantedForgotten": _FOR_GOOD,
    "WantedGone": _FOR_GOOD,
}
"""What the runtime refuses beside what the types say; told in the document, so that nobody has to find out."""

_components: dict[str, JsonObject] = {}


def schema_of(kind: Any) -> JsonObject:
    """The JSON Schema of a type; what has a name becomes a component of the document, and a reference here."""
    (schema,), components = msgspec.json.schema_components([kind], ref_template="#/components/schemas/{name}")
    for name, component in components.items():
        if "description" in component:
            component["description"] = inspect.cleandoc(component["description"])
        for field, bounds in _BOUNDS.get(name, {}).items():
            component["properties"][field].update(bounds)
        if _components.setdefault(name, component) != component:
            raise TypeError(f"two types are called {name!r}; the document has room for one: rename one of them")
    return schema


def array_of(*kinds: Any) -> JsonObject:
    """The schema of an array whose items are of any of these types."""
    return {"type": "array", "items": {"anyOf": [schema_of(kind) for kind in kinds]}}


def operation(
    gives: Any,
    *,
    takes: Any = None,
    status: int = 200,
    media_type: str = "application/json",
    leads_to: Mapping[str, str] | None = None,
) -> JsonObject:
    """The arguments of a route: what it takes and gives, and that everything else is an ``ErrorBody``.

    Args:
        gives: the type of its answer, or the answer's schema.
        takes: the type of its body; none for no body.
        status: of its success.
        media_type: of its answer.
        leads_to: operations that its success makes possible, and where their one path parameter is found, such as
            ``{"show_objective": "session=$response.body#/session"}``; they become the document's links.
    """
    answer = gives if isinstance(gives, dict) else schema_of(gives)
    links = {name: _link(name, found) for name, found in (leads_to or {}).items()}
    route: JsonObject = {
        "status_code": status,
        "response_class": Response,
        "response_model": None,
        "responses": {
            status: {"description": "Done.", "content": {media_type: {"schema": answer}}}
            | ({"links": links} if links else {}),
            "default": {
                "description": "Refused (4xx) or failed (5xx), and why.",
                "content": {"application/json": {"schema": schema_of(ErrorBody)}},
            },
        },
    }
    if takes is not None:
        content = {"application/json": {"schema": schema_of(takes)}}
        required = any(field.required for field in msgspec.structs.fields(takes))
        route["openapi_extra"] = {"requestBody": {"required": required, "content": content}}
    return route


def body_of(kind: type[_T]) -> Any:
    """A parameter that is the request's body, decoded; no body at all counts as an empty object."""
    decoder = msgspec.json.Decoder(kind)

    async def read(request: Request) -> _T:
        raw = await request.body() or b"{}"
        try:
            try:
                return decoder.decode(raw)
            except msgspec.ValidationError:
                # For JSON Schema 5.0 is an integer, and some languages write all their numbers so.
                return msgspec.convert(_with_integers(msgspec.json.decode(raw)), kind)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise InvalidRequest(f"the body is not what is taken here: {error}; see /api/v1/openapi.json") from error

    return Depends(read)


def document(app: FastAPI, presets: Sequence[str]) -> bytes:
    """The whole document, as JSON.

    Args:
        app: whose operations it describes.
        presets: the providers that can be set up by name.
    """
    whole = app.openapi()
    _components["NewProvider"]["properties"]["preset"] = {"enum": list(presets)}
    components = whole.setdefault("components", {})
    components["schemas"] = dict(sorted(_components.items()))
    components["securitySchemes"] = {
        "bearer": {
            "type": "http",
            "scheme": "bearer",
            "description": "On 127.0.0.1: the bearer of run/daemon.json in Stead's home.",
        },
        "browser": {
            "type": "apiKey",
            "in": "cookie",
            "name": "stead",
            "description": "On the page's own host, after POST /sign-in; what changes something needs X-Stead: 1 too.",
        },
    }
    whole["security"] = [{"bearer": []}, {"browser": []}]
    return msgspec.json.encode(whole)


def _link(operation_id: str, found: str) -> JsonObject:
    parameter, _, expression = found.partition("=")
    return {"operationId": operation_id, "parameters": {parameter: expression}}


def _with_integers(value: Any) -> Any:
    """Plain data, its floats without a fraction as integers."""
    match value:
        case float() if value.is_integer():
            return int(value)
        case dict():
            return {name: _with_integers(item) for name, item in value.items()}
        case list():
            return [_with_integers(item) for item in value]
        case _:
            return value
