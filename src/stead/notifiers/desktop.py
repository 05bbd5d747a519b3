"""Notifications on the desktop of this computer, by the program that each system has for them.

Layer: notifiers. The texts are arguments of their own, never part of a script; servers that read markup get none.

Source: Desktop Notifications Specification 1.3.
"""

from __future__ import annotations

import asyncio
import html
import os
import shutil
import sys
from pathlib import Path

from stead.domain.notifications import Message, Undelivered

_PASSED = ("PATH", "HOME", "LANG", "DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS")
_SCRIPT = ("on run argv", "display notification (item 2 of argv) with title (item 1 of argv)", "end run")


def command(message: Message) -> list[str]:
    """The program and its arguments; raises ``Undelivered`` where there is no desktop."""
    text = "\n".join([*message.lines, message.link])
    if sys.platform == "darwin":
        script = [word for line in _SCRIPT for word in ("-e", line)]
        return ["osascript", *script, message.title, text]
    bus = Path(os.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}") / "bus"
    if "DBUS_SESSION_BUS_ADDRESS" not in os.environ and not bus.exists():
        raise Undelivered("no desktop of this computer is in use: there is no session bus")
    urgency = "critical" if message.kind == "question" else "normal"
    words = ["--app-name=Stead", f"--urgency={urgency}", "--", message.title, html.escape(text, quote=False)]
    return ["notify-send", *words]


async def show(message: Message) -> None:
    """Show it; raises ``Undelivered``."""
    program, *words = command(message)
    if not (found := shutil.which(program)):
        raise Undelivered(f"there is no {program}; install libnotify (Debian: libnotify-bin)")
    silent = asyncio.subprocess.DEVNULL
    env = {name: os.environ[name] for name in _PASSED if name in os.environ}  # and no key of a provider's
    process = await asyncio.create_subprocess_exec(
        found, *words, stdin=silent, stdout=silent, stderr=asyncio.subprocess.PIPE, env=env
    )
    try:
        _, said = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
    if process.returncode:
        raise Undelivered(f"{program} failed: {' '.join(said.decode('utf-8', 'replace').split())[:200]}")
