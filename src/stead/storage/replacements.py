"""What is read in the place of events whose words were forgotten.

Layer: storage. A reader hardly notices (``event_rows``). What is read instead is committed to by the last
``content.redacted`` of the stream that names the event (``replacement_audit`` compares the two):

    commitment = HMAC-SHA256(salt, version in decimal ‖ ":" ‖ payload), hex

A bare hash would show a change as well. But an event can be redacted twice, and the hash of what stood there in
between, which the chain keeps for ever, would let the second words be guessed; without its salt it does not.
"""

from __future__ import annotations

import hashlib
import hmac


def committed(salt: bytes, version: int, payload: bytes) -> str:
    """The commitment (hex) to what is read in place of an event."""
    return hmac.digest(salt, b"%d:%b" % (version, payload), hashlib.sha256).hex()
