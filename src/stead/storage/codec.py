"""Events to bytes and back, every version that was ever written included.

Layer: storage. The current form of an event is its struct in ``domain/events.py``. When that changes, its number in
``VERSIONS`` goes up and an upcast from the number before is added here; old rows are never rewritten.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

import msgspec

from stead.domain.errors import StorageFault
from stead.domain.events import RETIRED, VERSIONS, Body

Upcast = Callable[[dict[str, Any]], dict[str, Any]]

_PROFILES = {"default": "ask", "trusted-project": "work"}


def _with_profile(plain: dict[str, Any]) -> dict[str, Any]:
    """The opening of a session with its profile's name of today; what it released of a folder says nothing any more."""
    return {**plain, "profile": _PROFILES.get(plain["profile"], plain["profile"])}


def _as_session(plain: dict[str, Any]) -> dict[str, Any]:
    """The opening of an objective as that of a session with a contract."""
    contract = {"goal": plain["goal"], "evidence": plain["evidence"]}
    return {**plain, "type": "session.opened", "contract": contract}


def _as_fact(plain: dict[str, Any]) -> dict[str, Any]:
    """The end of an objective under today's names: nothing that counts had checked what was called completed."""
    stopped = plain["reason"] in ("budget", "context", "iterations", "wall_time", "evidence", "unmet", "denied")
    status = "incomplete" if plain["status"] == "failed" and stopped else plain["status"]
    return {**plain, "status": "unverified" if status == "completed" else status}


_CLASSES = {"read": "read", "write": "change", "execute": "run", "fetch": "leave", "send": "send"}


def _with_typed_rule(plain: dict[str, Any]) -> dict[str, Any]:
    """A rule of a sentence's patterns as one of conditions; it holds as before until the person has confirmed it."""
    old = plain["rule"]
    effects, changing = old.get("effects", ()), old.get("changing", False)
    paths, programs, hosts = (tuple(old.get(key, ())) for key in ("paths", "programs", "hosts"))
    if changing:
        what = ["change"]
    elif hosts or "fetch" in effects:
        what = ["leave"]
    else:
        # A path of a rule on reading was kept from every command and change too.
        what = [_CLASSES[effect] for effect in effects if not (paths and effect == "execute")]
    if old["verdict"] == "allow" and "execute" in effects and "run" not in what:
        what.append("run")
    everywhere = "*" in hosts and old["verdict"] != "allow"
    named = {
        "path": tuple(path if "/" in path or "*" not in path else f"./{path}" for path in paths),
        "command": programs,
        "host": () if everywhere else tuple(host if host[:1] == "*" else f"={host}" for host in hosts),
    }
    side = "outside" if old.get("elsewhere") else "inside"
    where = [{"role": role, "side": side, "values": values} for role, values in named.items() if values]
    kept = {key: old[key] for key in ("id", "text", "tools", "directory") if key in old}
    rule = {**kept, "decision": old["verdict"], "what": what, "where": where, "confirmed": False}
    return {**plain, "rule": rule}


UPCASTS: dict[tuple[str, int], Upcast] = {
    ("objective.created", 1): _with_profile,
    ("objective.created", 2): _as_session,
    ("objective.ended", 1): _as_fact,
    ("rule.made", 1): _with_typed_rule,
    ("session.opened", 1): _with_profile,
    ("session.opened", 2): dict,  # it had no contract, and has none
}
"""From (tag, version) to the plain data of the version after it."""

_encoder = msgspec.json.Encoder()
_decoder: msgspec.json.Decoder[Body] = msgspec.json.Decoder(Body)


def tag_of(body: type[Body] | Body) -> str:
    """The name of an event's type."""
    return str(body.__struct_config__.tag)


CURRENT: dict[str, int] = {tag_of(kind): VERSIONS.get(tag_of(kind), 1) for kind in get_args(Body)}
"""Every tag with the version that is written now."""


def successor(tag: str) -> str:
    """The tag under which events of a tag are written now: its own, unless it is retired."""
    return RETIRED.get(tag, tag)


def encode(body: Body) -> tuple[str, int, bytes]:
    """(tag, version, payload) of an event."""
    tag = tag_of(body)
    return tag, CURRENT[tag], _encoder.encode(body)


def decode(tag: str, version: int, payload: bytes) -> Body:
    """The event in its current form.

    Args:
        tag: of its header; a retired one stays there, whatever is read in the event's place.
        version: of the payload.
        payload: as it is stored.

    Raises:
        StorageFault: a newer Stead wrote it, or it is damaged.
    """
    try:
        if CURRENT.get(tag) == version:
            return _decoder.decode(payload)
        return _raise_version(tag, version, payload)
    except msgspec.DecodeError as error:  # ValidationError included
        raise StorageFault(
            f"an event {tag!r} (version {version}) cannot be read: {error}; restore a backup, or install the version "
            "of Stead that wrote it"
        ) from error


def _raise_version(tag: str, version: int, payload: bytes) -> Body:
    current = CURRENT.get(successor(tag), 0)
    if not (0 < version < current or (version == current and tag in RETIRED)):
        raise StorageFault(f"an event {tag!r} (version {version}) is of a newer Stead; install that version again")
    plain = msgspec.json.decode(payload, type=dict[str, Any])
    for number in range(version, current):
        plain = UPCASTS[plain["type"], number](plain)
    body: Body = msgspec.convert(plain, Body)
    return body
