"""The OpenAPI document: whole, true to the types, and enough to write a client by."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, get_args

import pytest

from stead.domain import commands as cmd
from stead.domain.events import Body
from stead.domain.live import Transient
from tests.web.door import Door, Json


@pytest.fixture
async def document(door: Door) -> Json:
    async with door.cli() as cli:
        answer = await cli.get("/api/v1/openapi.json")
        assert answer.status_code == 200
        found: Json = answer.json()
    async with door.client({}) as stranger:
        assert (await stranger.get("/api/v1/openapi.json")).status_code == 401
    return found


def operations(document: Json) -> Iterator[tuple[str, str, Json]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield method, path, operation


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for name, item in value.items():
            if name == "$ref":
                yield item
            else:
                yield from references(item)
    elif isinstance(value, list):
        for item in value:
            yield from references(item)


async def test_every_reference_leads_somewhere_and_no_component_is_left_over(document: Json) -> None:
    schemas = document["components"]["schemas"]
    wanted = {reference.rpartition("/")[2] for reference in references(document)}
    mapped = re.findall(r"#/components/schemas/(\w+)", str(document))
    assert wanted | set(mapped) == set(schemas)


async def test_every_operation_says_what_it_gives_and_how_it_is_refused(document: Json) -> None:
    names = [operation["operationId"] for _, _, operation in operations(document)]
    assert len(names) == len(set(names)) >= 30
    for method, path, operation in operations(document):
        assert operation["description"], path
        successes = [status for status in operation["responses"] if status.startswith("2")]
        assert len(successes) == 1, (method, path)
        assert set(operation["responses"]) == {successes[0], "default"}


async def test_every_command_has_an_operation_with_an_idempotency_key(document: Json) -> None:
    keyed = [
        path
        for _, path, operation in operations(document)
        if any(
            parameter["name"] == "Idempotency-Key" and parameter["required"]
            for parameter in operation.get("parameters", ())
        )
    ]
    # Stop has three: of an objective, of a session, of all. So have five more of a session one of an objective each.
    # Writing a directive and changing it are one command. A device pairs and signs in without one: what it
    # bears, a code or a challenge, counts once.
    assert len(keyed) == len(get_args(cmd.Command)) + 9 - 2


async def test_an_envelope_has_every_kind_of_event_told_apart_by_its_type(document: Json) -> None:
    schemas = document["components"]["schemas"]
    for name, kinds in (("Envelope", get_args(Body)), ("TransientEnvelope", get_args(Transient))):
        body = schemas[name]["properties"]["body"]
        assert body["discriminator"]["propertyName"] == "type"
        tags = {str(kind.__struct_config__.tag) for kind in kinds}
        assert tags <= set(body["discriminator"]["mapping"])
        for reference in body["discriminator"]["mapping"].values():
            assert "type" in schemas[reference.rpartition("/")[2]]["required"]


async def test_bodies_have_no_tag_and_take_nothing_unknown(document: Json) -> None:
    schemas = document["components"]["schemas"]
    for method, path, operation in operations(document):
        if "requestBody" not in operation:
            assert method in ("get", "delete"), path
            continue
        schema = schemas[operation["requestBody"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]]
        assert schema["additionalProperties"] is False
        assert "type" not in schema["properties"]
