"""Facts about directives, in the home's stream.

Layer: domain. A part of the tagged union of ``domain.events``, whose rules for changes hold here too.
"""

from __future__ import annotations

import msgspec

from stead.domain.directives import Directive, DirectiveId


class DirectiveSet(msgspec.Struct, frozen=True, tag="directive.set"):
    """A directive is this from now on; it is new, or a later version of the one of its id.

    Args:
        directive: all of it.
        door: where it was said; "stead" for one that Stead brought.
        why: a note on what changed, or "".
    """

    directive: Directive
    door: str
    why: str


class DirectiveRemoved(msgspec.Struct, frozen=True, tag="directive.removed"):
    """The person took a directive away; its versions can be restored."""

    id: DirectiveId
    door: str


class DirectivesOrdered(msgspec.Struct, frozen=True, tag="directives.ordered"):
    """These come first from now on, in this order, and the others after them, as they were."""

    ids: tuple[DirectiveId, ...]
    door: str


DirectiveBody = DirectiveSet | DirectiveRemoved | DirectivesOrdered
"""In the order in which docs/generated lists them."""
