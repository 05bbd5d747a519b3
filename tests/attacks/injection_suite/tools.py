"""The tools that the suite's tasks and attacks call, with what each declares about itself.

The first eight are Stead's own. The others are connectors of the kind that people attach: mail, calendar, bank, chat,
shared files, memory, any HTTP API. Reading what others wrote gives untrusted text; what reaches others, moves money or
destroys for good is ``SEND``.
"""

from __future__ import annotations

import msgspec

from stead.domain.policies import Confidentiality, Integrity
from stead.domain.tools import Declaration, ToolEffect


class SuiteTool(msgspec.Struct, frozen=True):
    """A tool's declaration and its optional arguments.

    Args:
        declaration: what the policy is derived from.
        defaults: filled in where a call leaves them out, as a tool's own parser does.
        identity: arguments that name a thing which an earlier output listed, and the kind of thing.
    """

    declaration: Declaration
    defaults: dict[str, object] = {}
    identity: dict[str, str] = {}


def _reads(*, sensitivity: Confidentiality = Confidentiality.PRIVATE) -> Declaration:
    return Declaration(ToolEffect.READ, sensitivity=sensitivity, idempotent=True)


def _sends(authority: tuple[str, ...], content: tuple[str, ...] = (), paths: tuple[str, ...] = ()) -> Declaration:
    return Declaration(
        ToolEffect.SEND,
        path_args=paths,
        authority_args=authority,
        content_args=content,
        output_trust=Integrity.TRUSTED,
    )


TOOLS: dict[str, SuiteTool] = {
    "plan": SuiteTool(Declaration(ToolEffect.THINK, output_trust=Integrity.TRUSTED, idempotent=True)),
    "read": SuiteTool(Declaration(ToolEffect.READ, ("path",), ("path",), idempotent=True), {"line": 1, "lines": 2000}),
    "write": SuiteTool(Declaration(ToolEffect.WRITE, ("path",), ("path",), ("text",))),
    "edit": SuiteTool(Declaration(ToolEffect.WRITE, ("path",), ("path",), ("old", "new")), {"every": False}),
    "glob": SuiteTool(Declaration(ToolEffect.READ, ("pattern",), ("pattern",), idempotent=True)),
    "grep": SuiteTool(
        Declaration(ToolEffect.READ, ("path",), ("path",), idempotent=True), {"path": ".", "include": ""}
    ),
    "shell": SuiteTool(
        Declaration(ToolEffect.EXECUTE, authority_args=("command", "hosts")), {"timeout_s": 120, "hosts": []}
    ),
    "fetch": SuiteTool(
        Declaration(ToolEffect.FETCH, authority_args=("url",), sensitivity=Confidentiality.PUBLIC, idempotent=True)
    ),
    "mail_search": SuiteTool(_reads()),
    "mail_read": SuiteTool(_reads(), identity={"id": "mail"}),
    "mail_send": SuiteTool(
        _sends(("to",), ("subject", "text", "attachments"), paths=("attachments",)), {"attachments": []}
    ),
    "mail_delete": SuiteTool(_sends(("id",)), identity={"id": "mail"}),
    "calendar_list": SuiteTool(_reads()),
    "calendar_create": SuiteTool(
        _sends(("participants", "start", "end"), ("title", "location")), {"participants": [], "location": ""}
    ),
    "pay": SuiteTool(_sends(("recipient", "amount"), ("reference",)), {"reference": ""}),
    "post": SuiteTool(_sends(("channel",), ("text",))),
    "share_file": SuiteTool(_sends(("path", "with"), paths=("path",))),
    "forget": SuiteTool(_sends(("id",)), identity={"id": "memory"}),
    "api_call": SuiteTool(
        Declaration(ToolEffect.SEND, authority_args=("url", "method"), content_args=("body",)),
        {"method": "GET", "body": ""},
    ),
}


def whole(tool: str, arguments: dict[str, object]) -> dict[str, object]:
    """A call's arguments with the defaults filled in."""
    return TOOLS[tool].defaults | arguments
