"""The picture on the person's clipboard, read by whatever program of their desktop there is.

Layer: cli. A terminal pastes text alone. What a program gives counts if it is a PNG; it is kept in a private folder
until the chat ends, under a name that can stand in a line.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
from contextlib import suppress
from itertools import count

from stead.cli.attachments import MOST_BYTES
from stead.cli.invocation import CommandError

_PNG = b"\x89PNG\r\n\x1a\n"
_PROGRAMS = (
    ("wl-paste", "--no-newline", "--type", "image/png"),
    ("xclip", "-selection", "clipboard", "-t", "image/png", "-o"),
    ("pngpaste", "-"),
    ("osascript", "-e", "get the clipboard as «class PNGf»"),
)
"""Of Wayland, X11 and macOS."""
_IN_WORDS = re.compile("«data PNGf([0-9A-Fa-f]+)»".encode())
"""How AppleScript writes it."""
_WAIT_S = 5.0
_MOST_READ = 2 * MOST_BYTES + 100
"""Of what can be attached, as AppleScript writes it; a program that writes more is cut off."""


class Clipboard:
    """Pictures that were pasted in one chat."""

    def __init__(self) -> None:
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    @property
    def folders(self) -> list[str]:
        """Where they are, if there are any."""
        return [self._folder.name] if self._folder else []

    def close(self) -> None:
        """Forget them."""
        if self._folder:
            self._folder.cleanup()

    def take(self, directory: str) -> str:
        """Keep the picture that is there now; gives the name to write after ``@``, one that the folder has no file of.

        Raises:
            CommandError: there is none, or nothing here can read it.
        """
        data = _picture()
        self._folder = self._folder or tempfile.TemporaryDirectory(prefix="stead-chat-")
        places = (directory, self._folder.name)
        names = (f"clipboard-{at}.png" for at in count(1))
        name = next(name for name in names if not any(os.path.lexists(os.path.join(place, name)) for place in places))
        with open(os.path.join(self._folder.name, name), "xb") as file:
            file.write(data)
        return name


def _picture() -> bytes:
    programs = [(path, *words) for program, *words in _PROGRAMS if (path := shutil.which(program))]
    if not programs:
        way = "install wl-clipboard (Wayland), xclip (X11) or pngpaste (macOS); or drop the file on the terminal"
        raise CommandError("no program that reads the clipboard was found", way)
    for program in programs:
        data = _output(program)
        if words := _IN_WORDS.search(data):
            data = bytes.fromhex(words[1].decode())
        if data.startswith(_PNG):
            return data
    raise CommandError("there is no picture on the clipboard", "copy one; or drop its file on the terminal")


def _output(command: tuple[str, ...]) -> bytes:
    """What a program prints; b"" where it fails, takes too long or prints without end."""
    try:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
        )
    except OSError:
        return b""  # there is a next one, or the person reads that there is no picture
    with process:
        alarm = threading.Timer(_WAIT_S, _kill, (process,))
        alarm.start()
        try:
            assert process.stdout is not None
            data = process.stdout.read(_MOST_READ)
            process.stdout.close()  # one that still writes ends by that
            return data if process.wait() == 0 else b""
        finally:
            alarm.cancel()


def _kill(process: subprocess.Popen[bytes]) -> None:
    """With all that it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
