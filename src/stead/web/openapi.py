"""The OpenAPI document, written from the table of routes, so that it says what the code does.

Layer: a door. Bodies and answers are msgspec structs; each schema here is that of the struct that decodes or encodes.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import msgspec

from stead import __version__
from stead.web.errors import ErrorBody
from stead.web.routes import Key, Route

JsonObject = dict[str, Any]

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
        self._of: dict[Any, JsonObject] = {}

    def of(self, kind: Any) -> JsonObject:
        """The JSON Schema of a type, with references to components.

        Raises:
            TypeError: another type has the same name.
        """
        if kind in self._of:
            return dict(self._of[kind])
        (schema,), components = msgspec.json.schema_components([kind], ref_template="#/components/schemas/{name}")
        for name, component in components.items():
            if "description" in component:
                component["description"] = inspect.cleandoc(component["description"])
            if self.named.setdefault(name, component) != component:
                raise TypeError(f"two types are called {name!r}; the document has room for one: rename one of them")
        self._of[kind] = schema
        return dict(schema)


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
