"""Verify what `stead audit export` wrote, without Stead and without its keys: Python and `cryptography` are enough.

    python verify_export.py EXPORT [--key HEX] [--head FILE]

`--key` is the public key as its owner told it; without it, the key in the file is believed, and only a later change is
found. `--head` is an older signed head: the journal must have grown from it. The format is told in docs/audit.md.
"""

from __future__ import annotations

import argparse
import hashlib
import hmac
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

Json = dict[str, Any]


class Refused(Exception):
    """It is not what it claims to be."""


def sha256(*parts: bytes) -> bytes:
    """The hash of the parts, one after another."""
    return hashlib.sha256(b"".join(parts)).digest()


def compact(value: Any) -> bytes:
    """JSON without spaces, UTF-8."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def require(good: bool, why: str) -> None:
    """Raise unless it is so."""
    if not good:
        raise Refused(why)


def check_head(head: Json, key: str) -> None:
    """Raise unless the key has signed the head."""
    fields = [head[name] for name in ("journal", "size", "root", "chain", "ts_ms")]
    require(head["key"] == key, f"the head of {head['size']} events names another key")
    try:
        signer = Ed25519PublicKey.from_public_bytes(bytes.fromhex(key))
        signer.verify(bytes.fromhex(head["signature"]), b"stead head 1\n" + compact(fields))
    except InvalidSignature:
        raise Refused(f"the head of {head['size']} events is not signed by this key") from None


def included(leaf: bytes, index: int, size: int, path: Sequence[bytes], root: bytes) -> bool:
    """Whether a leaf stands at an index (from 0) of the tree: RFC 9162, section 2.1.3.2."""
    if not 0 <= index < size:
        return False
    at, last = index, size - 1
    for sibling in path:
        if last == 0:
            return False
        if at & 1 or at == last:
            leaf = sha256(b"\x01", sibling, leaf)
            while not at & 1 and at:
                at, last = at >> 1, last >> 1
        else:
            leaf = sha256(b"\x01", leaf, sibling)
        at, last = at >> 1, last >> 1
    return last == 0 and leaf == root


def consistent(older: int, before: bytes, size: int, root: bytes, path: Sequence[bytes]) -> bool:
    """Whether the tree of `older` leaves is the beginning of that of `size` leaves: RFC 9162, section 2.1.4.2."""
    if older == size:
        return not path and before == root
    if not 0 < older < size or not path:
        return False
    steps = [before, *path] if older & (older - 1) == 0 else list(path)
    at, last = older - 1, size - 1
    while at & 1:
        at, last = at >> 1, last >> 1
    first = second = steps[0]
    for sibling in steps[1:]:
        if last == 0:
            return False
        if at & 1 or at == last:
            first, second = sha256(b"\x01", sibling, first), sha256(b"\x01", sibling, second)
            while not at & 1 and at:
                at, last = at >> 1, last >> 1
        else:
            second = sha256(b"\x01", second, sibling)
        at, last = at >> 1, last >> 1
    return last == 0 and first == before and second == root


def root_of(leaves: Sequence[bytes]) -> bytes:
    """The root over all leaves: pairs are joined, an odd one goes up as it is."""
    level = list(leaves)
    while len(level) > 1:
        pairs = [sha256(b"\x01", *level[at : at + 2]) for at in range(0, len(level) - 1, 2)]
        level = pairs + level[len(pairs) * 2 :]
    return level[0]


def verify(lines: Sequence[str], key: str = "", older: Json | None = None) -> str:
    """What was verified, in one sentence.

    Raises:
        Refused: the export is not what was signed; the text says where.
    """
    about, *rows = map(json.loads, lines)
    head, key = about["head"], key or about["head"]["key"]
    size, root = head["size"], bytes.fromhex(head["root"])
    check_head(head, key)
    require(len(rows) == about["rows"], f"{about['rows']} rows were exported and {len(rows)} are here")
    if older:
        check_head(older, key)
        require(older["journal"] == head["journal"], "the older head is of another journal")
        path = [bytes.fromhex(text) for text in about["consistency"]]
        grown = consistent(older["size"], bytes.fromhex(older["root"]), size, root, path)
        require(grown, "the journal did not grow from the older head, or the proof is for another one")
    leaves, chain, payloads, last, place = [], bytes(32), 0, 0, 0
    for row in rows:
        header, commitment = row["header"], bytes.fromhex(row["commitment"])
        seq = header[0]
        require(seq > last, f"event {seq} is out of order")
        last, place = seq, place + 1
        if about["session"]:
            require(header[1] == about["session"], f"event {seq} is of another session")
            require(about["since_ms"] or header[2] == place, f"events of the session are missing before {seq}")
        covered = compact(header) + commitment
        leaves.append(sha256(b"\x00", covered))
        chain = sha256(chain, covered)
        if "proof" in row:
            path = [bytes.fromhex(text) for text in row["proof"]]
            require(included(leaves[-1], seq - 1, size, path, root), f"event {seq} is not what was signed")
        if row.get("payload") is not None:
            payloads += 1
            found = hmac.digest(bytes.fromhex(row["salt"]), row["payload"].encode(), "sha256")
            require(found == commitment, f"event {seq} had another payload")
    if not all("proof" in row for row in rows):
        require(len(rows) == size and root_of(leaves) == root, "the rows are not those that were signed")
        require(chain.hex() == head["chain"], "the chain does not end as the head says")
    return f"{len(rows)} of {size} events, {payloads} with payload, are those that the key {key} signed for"


def main() -> int:
    """0 when all is verified, 1 when it is not."""
    parser = argparse.ArgumentParser(description="Verify what stead audit export wrote.")
    parser.add_argument("export", type=Path)
    parser.add_argument("--key", default="", help="the public key, hex, as its owner told it")
    parser.add_argument("--head", type=Path, help="an older signed head")
    chosen = parser.parse_args()
    try:
        older = json.loads(chosen.head.read_text("utf-8").splitlines()[-1]) if chosen.head else None
        print(verify(chosen.export.read_text("utf-8").split("\n")[:-1], chosen.key, older))
    except (Refused, ValueError, KeyError, TypeError, IndexError) as error:
        print(f"NOT VERIFIED: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
