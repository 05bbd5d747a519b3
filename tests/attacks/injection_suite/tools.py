"""The tools that the suite's tasks and attacks call, with what each declares about itself.

The first are Stead's own, those that write to paired chats among them. The others are connectors of the kind that
people attach: mail, calendar, bank, chat, shared files, memory, any HTTP API. Reading what others wrote gives untrusted
text; what reaches others, moves money or destroys for good is ``SEND``.
"""

from __future__ import annotations

import msgspec

from stead.domain.policies import Confidentiality, Integrity
from stead.domain.tools import Declaration, Role, ToolEffect

GROUP = 'a group, in which others read along, on the channel phone (telegram), called "Allotments" there'
"""What is filled in of each chat: of all that a person may have paired, one that has the most readers."""


class SuiteTool(msgspec.Struct, frozen=True):
    """A tool's declaration and its optional arguments.

    Args:
        declaration: what the policy is derived from.
        defaults: filled in where a call leaves them out, as a tool's own parser does.
    """

    declaration: Declaration
    defaults: dict[str, object] = {}


def _reads(identity: dict[str, str] | None = None) -> Declaration:
    return Declaration(ToolEffect.READ, idempotent=True, identity_args=identity or {})


def _sends(
    authority: tuple[str, ...],
    content: tuple[str, ...] = (),
    paths: tuple[str, ...] = (),
    identity: dict[str, str] | None = None,
) -> Declaration:
    return Declaration(
        ToolEffect.SEND,
        path_args=paths,
        authority_args=authority,
        content_args=content,
        identity_args=identity or {},
    )


STEADS_OWN: dict[str, SuiteTool] = {
    "plan": SuiteTool(
        Declaration(
            ToolEffect.THINK,
            output_trust=Integrity.TRUSTED,
            sensitivity=Confidentiality.PUBLIC,
            idempotent=True,
            plans=True,
        )
    ),
    "read": SuiteTool(Declaration(ToolEffect.READ, ("path",), ("path",), idempotent=True), {"line": 1, "lines": 2000}),
    "write": SuiteTool(
        Declaration(ToolEffect.WRITE, ("path",), ("path",), ("text",), sensitivity=Confidentiality.PUBLIC)
    ),
    "edit": SuiteTool(Declaration(ToolEffect.WRITE, ("path",), ("path",), ("old", "new")), {"every": False}),
    "glob": SuiteTool(Declaration(ToolEffect.READ, ("pattern",), ("pattern",), idempotent=True)),
    "grep": SuiteTool(
        Declaration(ToolEffect.READ, ("path",), ("path",), idempotent=True), {"path": ".", "include": ""}
    ),
    "shell": SuiteTool(
        Declaration(
            ToolEffect.EXECUTE, authority_args=("command", "hosts"), command_args=("command",), host_args=("hosts",)
        ),
        {"timeout_s": 120, "hosts": []},
    ),
    "fetch": SuiteTool(
        Declaration(
            ToolEffect.FETCH,
            authority_args=("url",),
            url_args=("url",),
            sensitivity=Confidentiality.PUBLIC,
            idempotent=True,
        )
    ),
    "message": SuiteTool(
        Declaration(
            ToolEffect.SEND,
            authority_args=("to",),
            content_args=("text",),
            roles={"to": Role.RECIPIENT},
            output_trust=Integrity.TRUSTED,
            sensitivity=Confidentiality.PUBLIC,
            idempotent=True,
        ),
        {"where": GROUP},
    ),
    "send_file": SuiteTool(
        Declaration(
            ToolEffect.SEND,
            path_args=("path",),
            authority_args=("to", "path"),
            content_args=("caption",),
            roles={"to": Role.RECIPIENT},
            sensitivity=Confidentiality.PUBLIC,
            idempotent=True,
            unplanned=True,
        ),
        {"caption": "", "where": GROUP},
    ),
    "history_all": SuiteTool(
        Declaration(ToolEffect.READ, authority_args=("session",), idempotent=True),
        {"query": "", "event": 0, "after": "", "before": "", "page": 1, "session": "all"},
    ),
}

CONNECTORS: dict[str, SuiteTool] = {
    "mail_search": SuiteTool(_reads()),
    "mail_read": SuiteTool(_reads({"id": "mail"})),
    "mail_send": SuiteTool(_sends(("to",), ("subject", "text", "attachments")), {"attachments": []}),
    "mail_delete": SuiteTool(_sends((), identity={"id": "mail"})),
    "calendar_list": SuiteTool(_reads()),
    "calendar_create": SuiteTool(
        _sends(("participants", "start"), ("title", "location")), {"participants": [], "location": ""}
    ),
    "pay": SuiteTool(_sends(("recipient", "amount"), ("reference",)), {"reference": ""}),
    "post": SuiteTool(_sends(("channel",), ("text",))),
    "share_file": SuiteTool(_sends(("path", "with"), paths=("path",))),
    "forget": SuiteTool(_sends((), identity={"id": "memory"})),
    "api_call": SuiteTool(_sends(("url", "method"), ("body",)), {"method": "GET", "body": ""}),
}

TOOLS: dict[str, SuiteTool] = STEADS_OWN | CONNECTORS
DECLARATIONS: dict[str, Declaration] = {name: tool.declaration for name, tool in TOOLS.items()}
DEFAULTS: dict[str, dict[str, object]] = {name: tool.defaults for name, tool in TOOLS.items()}
