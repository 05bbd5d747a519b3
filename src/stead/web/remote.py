"""Reaching the page from outside, in the table of routes: pairing a browser, signing in by passkey, the devices.

Layer: a door. What is checked of a passkey is in ``passkeys.py``, who may ask in ``auth.py``. What a browser gives and
takes is the JSON of the Web Authentication API, passed on as text.
"""

from __future__ import annotations

import asyncio
from secrets import token_urlsafe
from typing import Annotated

import msgspec
from msgspec import Meta
from starlette.responses import Response

from stead.domain.bounds import Name
from stead.domain.devices import Device, PairDevice, RemoveDevice, RenameDevice, SignInDevice, require_free
from stead.domain.errors import Conflict, NotFound
from stead.domain.ids import CommandId
from stead.web.errors import Json, Problem, answer
from stead.web.passkeys import Passkeys
from stead.web.routes import Content, Context, Route, get, post

_Code = Annotated[str, Meta(max_length=200)]
_Json = Annotated[str, Meta(max_length=20_000, description="Of the Web Authentication API, as JSON.")]


class RemoteReach(msgspec.Struct, frozen=True):
    """How the page is reached from outside.

    Args:
        url: where; "" for not at all.
        proxy_to: what the proxy leads to, "127.0.0.1:PORT"; "" where there is no url.
        devices: those that may come in, the oldest first.
    """

    url: str
    proxy_to: str
    devices: tuple[Device, ...]


class PairingLink(msgspec.Struct, frozen=True):
    """A link that pairs one browser, once. ``qr``: the same as a picture, a ``data:`` URL of an SVG."""

    name: str
    url: str
    qr: str
    expires_ms: int


class PasskeyOptions(msgspec.Struct, frozen=True):
    """What a browser makes a passkey by, or signs by: JSON of the Web Authentication API."""

    options: str


class DeviceDone(msgspec.Struct, frozen=True):
    """It was done. ``name``: of the device."""

    name: str


def show_remote(context: Context) -> RemoteReach:
    """How the page is reached from outside, and which devices may come in."""
    passkeys = context.behind.auth.passkeys
    devices = tuple(sorted(context.behind.home().devices.values(), key=lambda device: device.paired_ms))
    url, proxy_to = (passkeys.origin, f"127.0.0.1:{passkeys.port}") if passkeys else ("", "")
    return RemoteReach(url, proxy_to, devices)


def make_pairing(context: Context, name: Name) -> PairingLink:
    """A link that pairs one browser with Stead, within ten minutes. On this computer alone."""
    passkeys = context.behind.auth.passkeys
    if passkeys is None:
        raise Conflict(
            'the page has no public address; set public_url = "https://HOST" in config.toml, then: stead down, stead up'
        )
    require_free(name, context.behind.home().devices)
    import segno  # 20 ms, for the few who pair a device

    url, expires_ms = passkeys.make_code(name)
    qr = segno.make(url, error="m", micro=False).svg_data_uri(scale=5, light="white", omitsize=False)
    return PairingLink(name, url, qr, expires_ms)


async def begin_pairing(context: Context, code: _Code) -> Response:
    """What a browser makes its passkey by, for the code of a pairing link. At the public address."""
    return _shown(await asyncio.to_thread(_passkeys(context).creation, code))


async def finish_pairing(context: Context, code: _Code, credential: _Json) -> Response:
    """Know a browser by the passkey that it made. The code is spent, whatever comes of it. At the public address."""
    made = await asyncio.to_thread(_passkeys(context).created, code, credential)
    if isinstance(made, PairDevice):
        await _carry(context, made)
        return Json(DeviceDone(made.name))
    return answer(made)


async def begin_sign_in(context: Context) -> Response:
    """What a browser signs by to sign in. At the public address."""
    return _shown(_passkeys(context).request())


async def finish_sign_in(context: Context, credential: _Json) -> Response:
    """Sign a browser in by its passkey: the cookie of the answer is its session. At the public address."""
    passkeys, auth = _passkeys(context), context.behind.auth
    signed = await asyncio.to_thread(passkeys.signed_in, credential)
    if isinstance(signed, Problem):
        return answer(signed)
    try:
        await _carry(context, signed)
    except (NotFound, Conflict) as refused:  # it was removed, or signed in twice at the same time
        return answer(Problem(401, "auth", str(refused)))
    cookie = await auth.sign_in_device(signed.credential)
    return Json(DeviceDone(passkeys.name_of(signed.credential)), headers={"set-cookie": cookie})


def _passkeys(context: Context) -> Passkeys:
    passkeys = context.behind.auth.passkeys
    if passkeys is None or context.caller.door != "remote":
        raise NotFound("passkeys count at the page's public address alone; see: stead remote")
    return passkeys


def _shown(options: str | Problem) -> Response:
    return answer(options) if isinstance(options, Problem) else Json(PasskeyOptions(options))


async def _carry(context: Context, command: PairDevice | SignInDevice) -> None:
    """Record it under an id of its own: the code, or the challenge, is what makes it happen once."""
    await context.behind.service.handle(command, id=CommandId(token_urlsafe(24)), door=context.caller.name)


REMOTE_ROUTES = (
    get("/remote", "show_remote", show_remote),
    post("/remote/pairing", "make_pairing", make_pairing, "NewDevice"),
    post("/remote/pair", "begin_pairing", begin_pairing, "DeviceCode", gives=Content(PasskeyOptions)),
    post("/remote/pair/finish", "finish_pairing", finish_pairing, "NewPasskey", gives=Content(DeviceDone)),
    post("/remote/challenge", "begin_sign_in", begin_sign_in, gives=Content(PasskeyOptions)),
    post("/remote/sign-in", "finish_sign_in", finish_sign_in, "SignedPasskey", gives=Content(DeviceDone)),
    Route("DELETE", "/remote/devices/{name:schedule}", "remove_device", RemoveDevice),
    Route("PUT", "/remote/devices/{name:schedule}", "rename_device", RenameDevice, "NewDeviceName"),
)
