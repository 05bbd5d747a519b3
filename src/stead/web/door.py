"""Where the daemon is found: its port, its name, and the file that tells the command line of it.

Layer: a door.
"""

from __future__ import annotations

import json
import logging
import os
import secrets
import socket
from dataclasses import dataclass
from pathlib import Path

from stead import __version__
from stead.config import Home, Settings, code_id
from stead.domain.errors import Conflict
from stead.web.server import listen

log = logging.getLogger("stead")


@dataclass(frozen=True)
class Door:
    """Where the daemon is found.

    Args:
        port: on 127.0.0.1; kept from start to start.
        name: the page's own host name is ``NAME.localhost``; kept, so that browsers stay signed in.
        bearer: what the command line shows; new with every start.
        public_port: to which the person's proxy leads, on 127.0.0.1; 0 for none.
    """

    port: int
    name: str
    bearer: str
    public_port: int = 0


def open_door(home: Home, settings: Settings) -> tuple[list[socket.socket], Door]:
    """Take the home's port; a new home gets a free one and a random name, and both are kept.

    With a public URL there is a second port, for the proxy that leads there; it is kept as the first.

    Raises:
        Conflict: a port that the settings name is in use.
    """
    path = home.root / "door.json"
    kept = json.loads(path.read_text("utf-8")) if path.exists() else {}
    listeners = [_listener(settings.port, int(kept.get("port", 0)), "older links to the page are dead")]
    if settings.public_url:
        public = int(kept.get("public_port", 0))
        listeners.append(_listener(settings.public_port, public, "what leads to the older one is dead"))
    port, public_port = (*(listener.getsockname()[1] for listener in listeners), 0)[:2]
    name = str(kept.get("name") or f"stead-{secrets.token_hex(6)}")
    ports = {"port": port, "public_port": public_port or int(kept.get("public_port", 0))}
    write_private(path, json.dumps({**ports, "name": name}))
    return listeners, Door(port, name, secrets.token_urlsafe(32), public_port)


def _listener(wanted: int, kept: int, loss: str) -> socket.socket:
    try:
        return listen(wanted or kept)
    except Conflict as taken:
        if wanted:
            raise
        log.warning("%s; a new port is taken, so %s", taken, loss)
        return listen(0)


def write_private(path: Path, text: str) -> None:
    """Replace a file at once, readable by its owner alone."""
    fresh = path.with_name(f".{path.name}.new")
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    fresh.replace(path)


def address_of(door: Door, home: Home, now_ms: int, service: str) -> str:
    """What the command line needs to know, as JSON; ``service`` runs the daemon, "" for none."""
    return json.dumps(
        {
            "pid": os.getpid(),
            "port": door.port,
            "name": door.name,
            "bearer": door.bearer,
            "version": __version__,
            "started_ms": now_ms,
            "code": code_id(),
            "lock": home.lock.stat().st_ino,
            "service": service,
        }
    )
