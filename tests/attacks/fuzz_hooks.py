"""What Schemathesis is told beside the document: things that only this home knows. Loaded by it, in its own process.

Requests that are meant to be accepted name a folder that exists and a server on loopback. Requests that are meant to be
refused stay as they were made.
"""

from __future__ import annotations

import base64
import os
import zlib
from typing import Any

import schemathesis
from schemathesis.core.parameters import ParameterLocation
from schemathesis.generation.meta import CoveragePhaseData, CoverageScenario
from schemathesis.specs.openapi.checks import negative_data_rejection

from tests.fakes.pictures import png

_ASKS = "Run `ls` and report"
"""A goal whose work asks a question, so that there are questions to answer."""
_DIRECTIVE = {"kind": "custom", "title": "Dates", "text": "As 2031-05-04.", "enabled": False}
_ACCEPTABLE: dict[str, dict[str, Any]] = {
    "POST /providers": {"preset": "compatible", "base_url": "http://127.0.0.1:9/v1", "key": "none"},
    "POST /chain": {"chain": []},
    "POST /web-search": {"engine": "searxng", "url": "http://127.0.0.1:9/", "key": ""},
    "POST /egress/hosts": {"host": "docs.example.com", "directory": os.environ["FUZZ_FOLDER"]},
    "POST /egress/hosts/remove": {"host": "docs.example.com", "directory": os.environ["FUZZ_FOLDER"]},
    "POST /rules": {"text": "never change infra/", "directory": os.environ["FUZZ_FOLDER"], "confirmed": True},
    "POST /rules/preview": {
        "rule": {"id": "", "decision": "ask", "what": ["change"]},
        "text": "",
        "directory": os.environ["FUZZ_FOLDER"],
    },
    "POST /rules/simulate": {"add": [], "remove": [], "grants": []},
    "POST /attachments": {"data": base64.b64encode(png()).decode()},
    "POST /directives": {**_DIRECTIVE, "directory": os.environ["FUZZ_FOLDER"]},
    "PUT /directives/{id}": {**_DIRECTIVE, "directory": os.environ["FUZZ_FOLDER"], "version": 0},
    "POST /memories": {"items": [{"text": "Ada lives in Graz."}], "level": "global", "directory": ""},
    "POST /memories/forget/preview": {"nearly": "lives in Graz"},
    "POST /memories/import": {"name": "notes.md", "level": "global", "directory": ""},
    "POST /secrets": {"value": "an-invented-value"},
    "POST /secrets/{secret}/bindings": {"binding": {"type": "host", "host": "api.example.com"}},
}
"""What no schema can say: which words make a rule, which names are hosts, and what must not be called from a test."""
_NAMES = ("tools", "allow", "chain", "hosts", "secrets")
"""Lists of an objective or a session whose items must be known to this home."""
_NEEDED = {"base_url", "host", "rule", "url"}
"""These are put in even where they may be left out."""
_OTHER_TYPES = 3
"""After the first; fields that may have several types have no more wrong ones."""


_HEADERS_APART = 5
"""One reader of headers serves all operations: every fifth is sent wrong ones, and each one too few."""

_numbers: dict[str, int] = {}
"""Of each operation."""
_tried: dict[tuple[str, str], int] = {}
"""How many wrong types a field was given by the phase that tries bounds, by operation and the field's pointer."""


@schemathesis.hook
def filter_case(context: schemathesis.HookContext, case: schemathesis.Case[Any]) -> bool:
    """Of up to six wrong types for one field two are sent: the first, and another one that the field's name chooses.

    That a field has its type in the document and in the decoder shows at any wrong one, and one struct decodes all. The
    long form sends every one.
    """
    found = case.meta and case.meta.phase.data
    if "FUZZ_WHOLE" in os.environ or not isinstance(found, CoveragePhaseData):
        return True
    number = _numbers.setdefault(case.operation.label, len(_numbers))
    if found.parameter_location == ParameterLocation.HEADER and found.scenario != CoverageScenario.MISSING_PARAMETER:
        return number % _HEADERS_APART == 0
    if found.scenario != CoverageScenario.INCORRECT_TYPE:
        return True
    field = (case.operation.label, f"{found.parameter_location} {found.parameter} {found.location}")
    number = _tried[field] = _tried.get(field, -1) + 1
    return number in (0, 1 + zlib.crc32("".join(field).encode()) % _OTHER_TYPES)


@schemathesis.hook
def before_call(context: schemathesis.HookContext, case: schemathesis.Case[Any], kwargs: dict[str, Any]) -> None:
    """Make an acceptable body acceptable here, too."""
    if case.meta is None or not case.meta.generation.mode.is_positive:
        return
    if case.operation.label == "POST /secrets/{secret}/unbind":
        case.body = {"host": "api.example.com"}
        case.media_type = "application/json"
    if case.operation.label == "GET /folders" and case.query:  # a folder that an answer named may be Stead's own
        case.query = {**case.query, "path": os.environ["FUZZ_FOLDER"]}
    if not isinstance(case.body, dict):
        return
    if case.operation.label in ("POST /objectives", "POST /sessions"):
        known: dict[str, Any] = {name: [] for name in _NAMES}
        known |= {"directory": os.environ["FUZZ_FOLDER"], "profile": "default"}
        if case.operation.label == "POST /sessions":
            known["mode"] = "workspace"
        elif case.meta.phase.name == "stateful":
            known["goal"] = _ASKS
        case.body |= {name: value for name, value in known.items() if name in case.body}
    elif known := _ACCEPTABLE.get(case.operation.label, {}):
        case.body |= {name: value for name, value in known.items() if name in case.body or name in _NEEDED}


@schemathesis.check
def invalid_settings_are_named(
    context: schemathesis.CheckContext, response: schemathesis.Response, case: schemathesis.Case[Any]
) -> bool | None:
    """A plan for a settings file with invalid items is refused, or names at least one of them.

    It stands in for the rule that invalid data is answered with 4xx: ``schemathesis.toml`` switches that off here. An
    item that can be of one kind alone may leave out its ``type``, which the document asks of each.
    """
    if case.operation.label != "POST /settings/plan":
        return None
    found = case.meta and case.meta.phase.data
    if isinstance(found, CoveragePhaseData) and found.description.endswith("Missing required property: type"):
        return None
    if response.status_code == 200 and response.json()["problems"]:
        return None
    return negative_data_rejection(context, response, case)
