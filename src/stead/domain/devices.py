"""Browsers that may come in from outside, by the passkey that each made: devices, as events of the home.

Layer: domain. A device is a public key and a name; there is no secret in it. What was paired is known by its
credential, so that one that is paired again under an old name is another one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated

import msgspec
from msgspec.structs import replace

from stead.domain.bounds import bounds
from stead.domain.errors import Conflict, InvalidRequest, NotFound
from stead.domain.mcp import Name

MOST_DEVICES = 20
_KEY_CHARS = 3000
_NAME = re.compile(r"[a-z][a-z0-9-]{0,30}")


class Device(msgspec.Struct, frozen=True):
    """A browser whose passkey is known.

    Args:
        name: the person's own choice.
        credential: the passkey's id, base64url.
        public_key: COSE, base64url.
        sign_count: how often it has signed, as it says; 0 where it does not count.
        paired_ms: since when.
        seen_ms: its last sign-in; 0 for never.
    """

    name: str
    credential: str
    public_key: str
    sign_count: int = 0
    paired_ms: int = 0
    seen_ms: int = 0


Devices = Mapping[str, Device]
"""By their credentials."""


class DevicePaired(msgspec.Struct, frozen=True, tag="device.paired"):
    """A browser made a passkey, with a code that this computer had shown."""

    name: str
    credential: str
    public_key: str
    sign_count: int


class DeviceSignedIn(msgspec.Struct, frozen=True, tag="device.signed_in"):
    """A device signed in. ``sign_count``: see ``Device``."""

    name: str
    credential: str
    sign_count: int


class DeviceRemoved(msgspec.Struct, frozen=True, tag="device.removed"):
    """Its passkey counts no more, and its sessions have ended."""

    name: str
    credential: str
    door: str


class DeviceRenamed(msgspec.Struct, frozen=True, tag="device.renamed"):
    """It is called ``to`` from now on; its passkey and its sessions stay."""

    name: str
    to: str
    credential: str
    door: str


DeviceFact = DevicePaired | DeviceSignedIn | DeviceRemoved | DeviceRenamed


class PairDevice(msgspec.Struct, frozen=True, tag="device.pair", forbid_unknown_fields=True):
    """Let a browser in from now on, by a passkey whose making was checked."""

    name: Name
    credential: Annotated[str, bounds(minLength=1, maxLength=_KEY_CHARS)]
    public_key: Annotated[str, bounds(minLength=1, maxLength=_KEY_CHARS)]
    sign_count: Annotated[int, bounds(minimum=0)]


class SignInDevice(msgspec.Struct, frozen=True, tag="device.sign_in", forbid_unknown_fields=True):
    """Note that a device signed in, with a signature that was checked."""

    credential: str
    sign_count: Annotated[int, bounds(minimum=0)]


class RemoveDevice(msgspec.Struct, frozen=True, tag="device.remove", forbid_unknown_fields=True):
    """Let a device in no more, and end its sessions."""

    name: Name


class RenameDevice(msgspec.Struct, frozen=True, tag="device.rename", forbid_unknown_fields=True):
    """Give a device another name. What it did before stays on record under the old one."""

    name: Name
    to: Name


DeviceCommand = PairDevice | SignInDevice | RemoveDevice | RenameDevice


def fold_devices(devices: Devices, fact: DeviceFact, ts_ms: int) -> Devices:
    """The devices after one more fact about them."""
    others = {key: device for key, device in devices.items() if key != fact.credential}
    match fact:
        case DevicePaired():
            return {**others, fact.credential: Device(**msgspec.structs.asdict(fact), paired_ms=ts_ms)}
        case DeviceSignedIn(credential=credential) if credential in devices:
            return {**others, credential: replace(devices[credential], sign_count=fact.sign_count, seen_ms=ts_ms)}
        case DeviceRenamed(credential=credential, to=to) if credential in devices:
            return {**others, credential: replace(devices[credential], name=to)}
        case _:
            return others


def device_change(command: DeviceCommand, devices: Devices, door: str) -> DeviceFact:
    """The fact that a command makes.

    Raises:
        InvalidRequest: there are too many, or no device can be called so.
        Conflict: the name or the passkey is taken, or the passkey has signed this before: it was copied, or replayed.
        NotFound: there is none.
    """
    if isinstance(command, PairDevice):
        require_free(command.name, devices)
        if command.credential in devices:
            raise Conflict("this passkey is known already; sign in with it")
        return DevicePaired(**msgspec.structs.asdict(command))
    if isinstance(command, RemoveDevice | RenameDevice):
        found = next((device for device in devices.values() if device.name == command.name), None)
        if found is None:
            raise NotFound(f"there is no device {command.name[:80]!r}; see: stead remote list")
        if isinstance(command, RenameDevice):
            _require_name(command.to, devices)
            return DeviceRenamed(found.name, command.to, found.credential, door)
        return DeviceRemoved(found.name, found.credential, door)
    known = devices.get(command.credential)
    if known is None:
        raise NotFound("there is no such device")
    if known.sign_count >= command.sign_count and (known.sign_count or command.sign_count):
        raise Conflict("this passkey's count did not grow: it was copied, or this is a repeat")
    return DeviceSignedIn(known.name, command.credential, command.sign_count)


def require_free(name: str, devices: Devices) -> None:
    """Refuse a name: ``Conflict`` where a device has it, ``InvalidRequest`` where it cannot be or there is no room."""
    _require_name(name, devices)
    if len(devices) >= MOST_DEVICES:
        raise InvalidRequest(f"{MOST_DEVICES} devices are the most; remove one first: stead remote remove NAME")


def _require_name(name: str, devices: Devices) -> None:
    if not _NAME.fullmatch(name):
        raise InvalidRequest(f"the name {name[:80]!r} cannot be; a small letter, then up to 30 of a-z, 0-9, -")
    if any(device.name == name for device in devices.values()):
        raise Conflict(f"there is a device {name!r}; give another name, or remove it: stead remote remove {name}")
