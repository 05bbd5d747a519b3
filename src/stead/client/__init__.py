"""How a terminal client talks to the daemon: the HTTP API of ``web/``, and nothing else.

Layer: a door. It knows addresses, requests and envelopes as plain JSON; it must not know domain types, the runtime or
storage. Standard library only, and little of it, because a command line is started hundreds of times a day.
"""

from stead.client.address import Address, ApiError, Json, NoDaemon, find_address, is_alive
from stead.client.api import Client
from stead.client.stream import Stream

__all__ = ["Address", "ApiError", "Client", "Json", "NoDaemon", "Stream", "find_address", "is_alive"]
