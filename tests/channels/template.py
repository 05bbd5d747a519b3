"""The template of one platform's processes, see ``tests.forks``.

``python -m tests.channels.template KIND [CONSTANT=SECONDS ...] NUMBER``; a constant is one of the platform's module.
"""

from __future__ import annotations

import gc
import socket
import sys

import stead.channels.worker  # noqa: F401 - so that a fork need not
from stead.channels.platforms import UNUSED, platform
from tests import forks

_AIOHTTP, _HTTP = ("aiohttp",), ("httpcore2", "anyio._backends._asyncio")
LIBRARIES = {
    "discord": _AIOHTTP,
    "email": ("aioimaplib", "aiosmtplib", "mailparser_reply"),
    "matrix": _HTTP,
    "signal": _HTTP,
    "slack": (*_AIOHTTP, "slack_sdk.web.async_client", "slack_sdk.signature"),
    "teams": (*_HTTP, "cryptography.hazmat.primitives.asymmetric.rsa"),
    "telegram": _HTTP,
    "webhook": _HTTP,
    "whatsapp": _HTTP,
}
"""What the process of each kind loads once it is connected."""

if __name__ == "__main__":
    kind, *constants, number = sys.argv[1:]
    sys.modules.update(dict.fromkeys(UNUSED))  # type: ignore[arg-type]  # as the worker does
    for name in LIBRARIES[kind]:
        __import__(name)
    for constant in constants:
        name, _, seconds = constant.partition("=")
        assert isinstance(getattr(sys.modules[platform(kind).__module__], name), float)
        setattr(sys.modules[platform(kind).__module__], name, float(seconds))
    gc.collect()
    gc.freeze()
    if asked := forks.serve(socket.socket(fileno=int(number))):
        forks.become(asked)
