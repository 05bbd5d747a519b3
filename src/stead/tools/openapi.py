"""What an OpenAPI 3 document says of one request: which operation it is, and what must fit which schema.

Layer: tools. The document is a stranger's. It is read as plain JSON, by bounded walks that follow references inside the
document alone; whether a value fits a schema is ``checking``'s business.

Source: OpenAPI Specification 3.0.4 and 3.1.1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast
from urllib.parse import parse_qsl, unquote, urlsplit

import msgspec

from stead.domain.errors import ToolFault
from stead.domain.secrets import PLACEHOLDER
from stead.guardian.reach import Target
from stead.tools.checking import Draft, Pair

Json = dict[str, object]
_JUMPS = 10
"""How many references lead to one thing at most."""
_DEPTH = 60


@dataclass(frozen=True)
class Sent:
    """What is to be sent, as far as a document can speak of it. ``body`` none: there is none."""

    query: Mapping[str, object]
    headers: Mapping[str, str]
    body: object


class Document:
    """An OpenAPI 3 document.

    Args:
        text: its JSON.
        name: for what is said of it.

    Raises:
        ToolFault: it is none.
    """

    def __init__(self, text: str, name: str) -> None:
        try:
            whole = msgspec.json.decode(text)
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as error:
            way_out = "only JSON is read, so make JSON of YAML first"
            raise ToolFault(f"{name!r} is no OpenAPI document: {error}; {way_out}") from error
        version = whole.get("openapi") if isinstance(whole, dict) else None
        if not isinstance(version, str) or not version.startswith("3.") or not isinstance(whole.get("paths"), dict):
            raise ToolFault(f"{name!r} is no OpenAPI 3 document: it has no `openapi: 3.…` with `paths`")
        self.draft: Draft = "4" if version.startswith("3.0") else "2020-12"
        components = _map(whole.get("components"))
        kept = {"components": components, "paths": whole["paths"]}
        self.root: Json = cast("Json", _with_null(kept, 0)) if self.draft == "4" else kept
        self._name = name
        self._servers = [_map(server) for server in _list(whole.get("servers"))]

    def operation(self, method: str, target: Target) -> Operation:
        """The operation that a request is.

        Raises:
            ToolFault: the document has none for it.
        """
        path = target.path.partition("?")[0]
        for rest in self._below(target, path):
            found = sorted(
                (
                    (len(values), template, values)
                    for template in _map(self.root["paths"])
                    if (values := _matched(template, rest)) is not None
                ),
                key=lambda match: match[:2],
            )
            for _, template, values in found:
                item = self.resolved(_map(self.root["paths"])[template])
                if (declared := _map(item.get(method.lower()))) or method.lower() in item:
                    parameters = [*_list(item.get("parameters")), *_list(declared.get("parameters"))]
                    whole = [self.resolved(parameter) for parameter in parameters]
                    return Operation(self, f"{method} {template}", declared, whole, values)
        raise ToolFault(f"{self._name!r} has no {method} for {target.url.partition('?')[0]!r}; nothing was sent")

    def resolved(self, node: object) -> Json:
        """What a node is, or what it refers to.

        Raises:
            ToolFault: the reference leads nowhere in the document.
        """
        for _ in range(_JUMPS):
            if not isinstance(node, dict) or not isinstance(reference := node.get("$ref"), str):
                return _map(node)
            node = self._at(reference)
        raise ToolFault(f"{self._name!r} has a reference that leads to no end; nothing was sent")

    def _at(self, reference: str) -> object:
        node: object = self.root
        for part in reference.removeprefix("#/").split("/"):
            name = unquote(part).replace("~1", "/").replace("~0", "~")
            if not reference.startswith("#/") or not isinstance(node, dict) or name not in node:
                raise ToolFault(f"{self._name!r} refers to {reference[:100]!r}, which is not in it; nothing was sent")
            node = node[name]
        return node

    def _below(self, target: Target, path: str) -> Iterator[str]:
        """What is left of a path below each server of the document that the request goes to."""
        if not self._servers:
            yield path
        for server in self._servers:
            url = str(server.get("url", ""))
            for name, variable in _map(server.get("variables")).items():
                url = url.replace(f"{{{name}}}", str(_map(variable).get("default", "")))
            try:
                parts = urlsplit(url)
                host = parts.hostname
            except ValueError:
                continue
            base = parts.path.rstrip("/")
            if host in (None, target.host) and (path == base or path.startswith(base + "/")):
                yield path[len(base) :] or "/"


@dataclass(frozen=True)
class Operation:
    """One operation. ``values``: of the parameters in its path, as they stand in the URL."""

    document: Document
    name: str
    declared: Json
    parameters: Sequence[Json]
    values: Mapping[str, str]

    def of_request(self, sent: Sent, url_query: str) -> tuple[list[str], list[Pair]]:
        """What is wrong with a request by its shape alone, and what must fit which schema."""
        flaws: list[str] = []
        pairs: list[Pair] = []
        query = {**dict(parse_qsl(url_query, keep_blank_values=True)), **sent.query}
        headers = {name.lower(): value for name, value in sent.headers.items()}
        known: set[str] = set()
        for parameter in self.parameters:
            name, place = str(parameter.get("name", "")), parameter.get("in")
            given: Mapping[str, object] = {"path": self.values, "query": query, "header": headers}.get(str(place), {})
            key = name.lower() if place == "header" else name
            if place == "query":
                known.add(name)
            if key in given:
                pairs += self._of_value(f"{place} {name}", parameter, given[key])
            elif parameter.get("required") and place != "cookie":
                flaws.append(f"the {place} parameter {name!r} is missing")
        keys = _map(_map(self.document.root["components"]).get("securitySchemes"))
        known |= {str(scheme.get("name")) for scheme in map(_map, keys.values()) if scheme.get("in") == "query"}
        flaws += [f"{name!r} is no query parameter of {self.name}" for name in query if name not in known]
        more, pair = self._of_body(sent.body)
        return [*flaws, *more], [*pairs, *pair]

    def of_answer(self, status: int, media_type: str, value: object) -> tuple[list[str], list[Pair]]:
        """The same of an answer; ``value`` is its JSON, and counts when ``media_type`` is of JSON."""
        responses = _map(self.declared.get("responses"))
        key = next((key for key in (str(status), f"{status // 100}XX", "default") if key in responses), "")
        if not key:
            return [f"{self.name} has no answer {status} in the document"], []
        content = _map(self.document.resolved(responses[key]).get("content"))
        if not content:
            return [], []
        described = _json_of(content)
        if described is None:
            return ([] if media_type in content else [f"{media_type or 'no type'} is not among its types"]), []
        if not is_json(media_type):
            return [f"it is {media_type or 'of no type'} and should be JSON"], []
        return [], [Pair("", described["schema"], value)] if "schema" in described else []

    def _of_value(self, place: str, parameter: Json, value: object) -> list[Pair]:
        schema = parameter.get("schema")
        if schema is None or (isinstance(value, str) and PLACEHOLDER.search(value)):
            return []
        return [Pair(place, schema, _as_meant(value, self.document.resolved(schema)))]

    def _of_body(self, body: object) -> tuple[list[str], list[Pair]]:
        if "requestBody" not in self.declared:
            return ([f"{self.name} takes no body"] if body is not None else []), []
        wanted = self.document.resolved(self.declared["requestBody"])
        if body is None:
            return ([f"{self.name} wants a body"] if wanted.get("required") else []), []
        described = _json_of(_map(wanted.get("content")))
        if described is None:
            return [f"{self.name} takes no JSON"], []
        return [], [Pair("body", described["schema"], body)] if "schema" in described else []


def is_json(media_type: str) -> bool:
    """Whether a media type (lower case, without parameters) is of JSON."""
    return media_type == "application/json" or (media_type.startswith("application/") and media_type.endswith("+json"))


def _json_of(content: Json) -> Json | None:
    for media_type, described in content.items():
        plain = media_type.partition(";")[0].strip().lower()
        if is_json(plain) or plain in ("*/*", "application/*"):
            return _map(described)
    return None


def _matched(template: str, path: str) -> dict[str, str] | None:
    """The parameters of a path, when it is one of a template; a segment with several gives none of them."""
    wanted, given = template.split("/"), path.split("/")
    if len(wanted) != len(given):
        return None
    values: dict[str, str] = {}
    for segment, text in zip(wanted, given, strict=True):
        start, end = segment.find("{"), segment.rfind("}")
        if start < 0 or end < start:
            if segment not in (text, unquote(text)):
                return None
            continue
        head, tail = segment[:start], segment[end + 1 :]
        if len(text) <= len(head) + len(tail) or not (text.startswith(head) and text.endswith(tail)):
            return None
        if segment.count("{") == 1:
            values[segment[start + 1 : end]] = unquote(text[len(head) : len(text) - len(tail)])
    return values


def _as_meant(value: object, schema: Json) -> object:
    """What stands as text in a URL or a header, as the type that its schema wants, when it can be read so."""
    kinds = schema.get("type")
    wanted = set(kinds if isinstance(kinds, list) else [kinds])
    if not isinstance(value, str) or "string" in wanted or not wanted & {"integer", "number", "boolean"}:
        return value
    try:
        return msgspec.json.decode(value, type=int | float | bool)
    except msgspec.DecodeError:
        return value


def _with_null(node: object, depth: int) -> object:
    """A schema of OpenAPI 3.0 with ``nullable`` as JSON Schema says it.

    Raises:
        ToolFault: it is too deep.
    """
    if depth > _DEPTH:
        raise ToolFault(f"the OpenAPI document is nested more than {_DEPTH} deep; call without it")
    if isinstance(node, list):
        return [_with_null(item, depth + 1) for item in node]
    if not isinstance(node, dict):
        return node
    whole = {key: _with_null(value, depth + 1) for key, value in node.items()}
    if whole.get("nullable") is True and isinstance(kind := whole.get("type"), str):  # without a type it says nothing
        whole |= {"type": [kind, "null"]}
        whole |= {"enum": [*values, None]} if isinstance(values := whole.get("enum"), list) else {}
    return whole


def _map(node: object) -> Json:
    return node if isinstance(node, dict) else {}


def _list(node: object) -> list[object]:
    return node if isinstance(node, list) else []
