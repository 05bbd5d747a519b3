"""What people say about directives. Only the person reaches this: no tool and no model does.

Layer: domain. A part of the union of ``domain.commands``.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from stead.domain.bounds import AnyFolder, Text, bounds
from stead.domain.directives import DirectiveId, DirectiveKind

DirectiveTitle = Annotated[Text, bounds(maxLength=80)]
DirectiveText = Annotated[Text, bounds(maxLength=20_000)]


class SetDirective(msgspec.Struct, frozen=True, tag="directive.write", forbid_unknown_fields=True):
    """Write a directive, or another text of one. The answer's text ends with its id.

    Args:
        kind: see ``Directive``.
        title: 1 to 80 characters, one line.
        text: Markdown, 1 to 20,000 characters.
        directory: the folder that it holds for, absolute; "" for every one.
        enabled: whether it is part of the instructions that models get.
        id: of the one to change; "" makes a new one, which comes last.
        version: the one that the text was made from; 0 for whatever there is. Another one is a conflict.
        why: a note on what changed, up to 500 characters.
    """

    kind: DirectiveKind
    title: DirectiveTitle
    text: DirectiveText
    directory: AnyFolder = ""
    enabled: bool = True
    id: str = ""
    version: int = 0
    why: Annotated[str, bounds(maxLength=500)] = ""


class SwitchDirective(msgspec.Struct, frozen=True, tag="directive.switch", forbid_unknown_fields=True):
    """Put a directive into the models' instructions, or take it out, without removing it."""

    id: DirectiveId
    enabled: bool


class RemoveDirective(msgspec.Struct, frozen=True, tag="directive.remove", forbid_unknown_fields=True):
    """Take a directive away. Its versions stay on record and can be restored."""

    id: DirectiveId


class OrderDirectives(msgspec.Struct, frozen=True, tag="directives.order", forbid_unknown_fields=True):
    """Put these directives first, in this order; the others follow in the order that they have."""

    ids: Annotated[tuple[DirectiveId, ...], bounds(minItems=1, uniqueItems=True)]


class RestoreDirective(msgspec.Struct, frozen=True, tag="directive.restore", forbid_unknown_fields=True):
    """Restore an older version of a directive as its newest; one that was removed comes back in its old place."""

    id: DirectiveId
    version: int


DirectiveCommand = SetDirective | SwitchDirective | RemoveDirective | OrderDirectives | RestoreDirective
