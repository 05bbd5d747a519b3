"""The OpenAPI document, written from the table of routes, so that it says what the code does.

Layer: a door. Bodies and answers are msgspec structs; each schema here is that of the struct that decodes or encodes.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import msgspec

from stead import __version__
from stead.domain.ports import REHEARSAL
from stead.web.errors import ErrorBody
from stead.web.routes import Key, Route

JsonObject = dict[str, Any]

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
_STEP = {"properties": {"title": {**_TEXT, "maxLength": 200}}}
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
    "WantedPlan": {"steps": {"maxItems": 30, "items": {"$ref": "#/components/schemas/PlanStep", **_STEP}}},
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
    "RetiredMemories": {"ids": _IDS},
    "RestoredMemories": {"ids": _IDS},
    "WantedMarks": {"ids": _IDS},
    "MemoryFile": {"text": {"maxLength": 10_000_000}, "directory": {"pattern": "^(/.*)?$"}},
    "WantedForgotten": _FOR_GOOD,
    "WantedGone": _FOR_GOOD,
}
"""What the runtime refuses beyond what the types say; stated in the document, so that nobody has to find out."""

_SECURITY = {
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


def document(routes: Sequence[Route], presets: Sequence[str]) -> bytes:
    """The whole document, as JSON.

    Args:
        routes: what it describes.
        presets: the providers that can be set up by name.
    """
    schemas = _Schemas()
    paths: dict[str, JsonObject] = {}
    for route in routes:
        paths.setdefault(route.shown_path, {})[route.method.lower()] = _operation(route, routes, schemas)
    schemas.named["NewProvider"]["properties"]["preset"] = {"enum": list(presets)}
    description = "One self-hosted agent: give it goals, watch it work, answer what it asks."
    whole = {
        "openapi": "3.1.0",
        "info": {"title": "Stead", "description": description, "version": __version__},
        "servers": [{"url": "/api/v1"}],
        "paths": paths,
        "components": {"schemas": dict(sorted(schemas.named.items())), "securitySchemes": _SECURITY},
        "security": [{"bearer": []}, {"browser": []}],
    }
    return msgspec.json.encode(whole)


class _Schemas:
    """The document's schemas; what has a name becomes a component."""

    def __init__(self) -> None:
        self.named: dict[str, JsonObject] = {}

    def of(self, kind: Any) -> JsonObject:
        """The JSON Schema of a type, with references to components.

        Raises:
            TypeError: another type has the same name.
        """
        (schema,), components = msgspec.json.schema_components([kind], ref_template="#/components/schemas/{name}")
        for name, component in components.items():
            if "description" in component:
                component["description"] = inspect.cleandoc(component["description"])
            for field, bounds in _BOUNDS.get(name, {}).items():
                component["properties"][field].update(bounds)
            if self.named.setdefault(name, component) != component:
                raise TypeError(f"two types are called {name!r}; the document has room for one: rename one of them")
        return schema


def _operation(route: Route, routes: Sequence[Route], schemas: _Schemas) -> JsonObject:
    gives, media_type = route.content
    several = (
        {"type": "array", "items": {"anyOf": [schemas.of(kind) for kind in gives]}} if type(gives) is tuple else {}
    )
    done: JsonObject = {"description": "Done.", "content": {media_type: {"schema": several or schemas.of(gives)}}}
    if route.leads_to:
        below = [other for other in routes if other.path.startswith(f"{route.path}/{{") and len(other.ids) == 1]
        done["links"] = {
            other.name: {"operationId": other.name, "parameters": dict.fromkeys(other.ids, route.leads_to)}
            for other in below
        }
    refused = {"application/json": {"schema": schemas.of(ErrorBody)}}
    parameters = [_parameter("path", name, kind, schemas) for name, kind in route.ids.items()]
    shown: JsonObject = {
        "summary": route.name.replace("_", " ").title(),
        "description": route.description,
        "operationId": route.name,
        "parameters": parameters,
        "responses": {
            str(route.status): done,
            "default": {"description": "Refused (4xx) or failed (5xx), and why.", "content": refused},
        },
    }
    fields = msgspec.structs.fields(route.takes)
    if route.in_query:
        parameters += [_parameter("query", found.name, found.type, schemas, found.default) for found in fields]
    else:
        content = {"application/json": {"schema": schemas.of(route.takes)}}
        shown["requestBody"] = {"required": any(found.required for found in fields), "content": content}
    if route.is_command:
        parameters.append(_parameter("header", "Idempotency-Key", Key, schemas))
    return shown


def _parameter(where: str, name: str, kind: Any, schemas: _Schemas, default: Any = msgspec.NODEFAULT) -> JsonObject:
    schema = schemas.of(kind)
    needed = default is msgspec.NODEFAULT
    parameter = {"name": name, "in": where, "required": needed, "schema": schema}
    if "description" in schema:
        parameter["description"] = schema["description"]
    if not needed:
        schema["default"] = default
    return parameter
