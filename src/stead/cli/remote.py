"""``remote``: the page from outside, and the devices that may use it.

Layer: cli. What a code is worth and who may come in is decided by the daemon.
"""

from __future__ import annotations

import io
import time
from argparse import Namespace

from stead.cli.forms import YES, Act, Listing, Row, arg, family
from stead.cli.invocation import OK, Invocation

_DEVICES = Listing(
    "/remote",
    "NAME: {name} | PAIRED: {paired_ms:age} | LAST SIGN-IN: {seen_ms:age|never}",
    "No device is paired. Pair one: stead remote pair NAME",
)


def _list(invocation: Invocation, arguments: Namespace) -> int:
    reach = invocation.client.get("/remote")
    out = invocation.out
    if not out.as_json:
        out.line(f"{reach['url']}, by a proxy that leads to {reach['proxy_to']}\n" if reach["url"] else _OFF)
    return _DEVICES.show(invocation, reach["devices"], arguments) if reach["url"] or reach["devices"] else OK


_OFF = (
    "The page has no public address. Set one in config.toml of Stead's home, and start Stead again:\n"
    '  public_url = "https://stead.example.com"'
)


def _pair(invocation: Invocation, arguments: Namespace) -> int:
    link = invocation.client.post("/remote/pairing", {"name": arguments.name})
    import segno  # of this command alone

    shown = io.StringIO()
    segno.make(link["url"], error="m", micro=False).terminal(shown, compact=True)
    until = time.strftime("%H:%M", time.localtime(link["expires_ms"] / 1000))
    said = f"Scan this with the camera of {arguments.name}, or open the link there, until {until}:\n{link['url']}"
    return invocation.report(link, f"{shown.getvalue()}\n{said}\nIt pairs one browser, once.")


_LETTERS = "a small letter, then up to 30 of a-z, 0-9 and -"
_NAME = arg("name NAME", _LETTERS)
_ROWS: dict[str, Row] = {
    "list": (
        "show the address, and the devices that may come in (the default)",
        (),
        _list,
    ),
    "pair": ("show a code that pairs one browser", (_NAME,), _pair),
    "rename": (
        "give a device another name",
        (_NAME, arg("to NEWNAME", _LETTERS)),
        Act("PUT /remote/devices/{name}", "{name} is now called {to}.", lambda given: {"to": given.to}),
    ),
    "remove": (
        "let a device in no more",
        (_NAME, YES),
        Act("DELETE /remote/devices/{name}", "{name} is removed.", confirm="The device {name} is signed out at once."),
    ),
}
COMMANDS = {"remote": family("remote", _ROWS, "list")}
