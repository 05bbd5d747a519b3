"""What an approval is bound to: one digest over everything that makes a call the call it is.

Layer: guardian. Pure. The digest is an HMAC under a key of the home, because plain hashes of short arguments (a phone
number, a file name) could be guessed from an exported journal.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping

import msgspec

from stead.domain.ids import CallDigest, CallKey, SessionId
from stead.domain.permits import canonical


class Circumstances(msgspec.Struct, frozen=True):
    """Where and when a call would run.

    Args:
        session: whose call it is.
        key: which call of it.
        directory: real path of the workspace folder.
        revision: how many calls of the session may have changed the workspace before.
        files: fingerprint of each workspace file that the call names; empty for calls that change nothing.
        sources: the untrusted sources that the session had read.
    """

    session: SessionId
    key: CallKey
    directory: str
    revision: int
    files: Mapping[str, str]
    sources: tuple[str, ...] = ()


def call_digest(
    digest_key: bytes, tool: str, arguments: Mapping[str, object], circumstances: Circumstances
) -> CallDigest:
    """Name one call under its circumstances; any change of tool, arguments, place or named files changes it.

    Args:
        digest_key: 32 bytes of the home.
        tool: the tool's name.
        arguments: plain data as ``Tool.parse`` gives it.
        circumstances: under which it was judged; see ``Circumstances``.
    """
    parts = [
        tool.encode(),
        canonical(arguments),
        circumstances.session.encode(),
        circumstances.key.encode(),
        circumstances.directory.encode(),
        str(circumstances.revision).encode(),
        canonical(circumstances.files),
        canonical({"sources": circumstances.sources}),
    ]
    # Each part goes in with its length, so that no two lists of parts read as the same bytes.
    mac = hmac.new(digest_key, digestmod=hashlib.sha256)
    for part in parts:
        mac.update(len(part).to_bytes(8, "big") + part)
    return CallDigest(mac.hexdigest())
