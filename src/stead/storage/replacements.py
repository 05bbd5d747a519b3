"""What is read in the place of events whose words were forgotten.

Layer: storage. A reader asks for ``COLUMNS`` of ``READABLE`` and hardly notices. What is read instead is committed to
by the last ``content.redacted`` of the stream that names the event (``replacement_audit`` compares the two):

    commitment = HMAC-SHA256(salt, version in decimal ‖ ":" ‖ payload), hex

A bare hash would show a change as well. But an event can be redacted twice, and the hash of what stood there in
between, which the chain keeps for ever, would let the second words be guessed; without its salt it does not.
"""

from __future__ import annotations

import hashlib
import hmac

COLUMNS = """
    e.seq, e.session, e.session_seq, e.ts_ms, e.actor, e.cause, e.tag,
    CASE WHEN e.payload IS NULL THEN (SELECT r.version FROM replacements r WHERE r.seq = e.seq) ELSE e.version END,
    coalesce(e.payload, (SELECT r.payload FROM replacements r WHERE r.seq = e.seq))
"""
READABLE = "events e"
"""Events as they are read; the payload is null where nothing is. A join would be shorter, and makes reading slower."""
THERE = "(e.payload IS NOT NULL OR EXISTS (SELECT 1 FROM replacements r WHERE r.seq = e.seq))"


def committed(salt: bytes, version: int, payload: bytes) -> str:
    """The commitment (hex) to what is read in place of an event."""
    return hmac.digest(salt, b"%d:%b" % (version, payload), hashlib.sha256).hex()
