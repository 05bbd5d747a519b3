"""The settings and abilities of each platform, as ``manifests.toml`` has them.

Layer: channels.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from stead.domain.channel_wire import Manifest


class _Table(msgspec.Struct, forbid_unknown_fields=True):
    platforms: tuple[Manifest, ...]


_TABLE = msgspec.toml.decode(Path(__file__).with_suffix(".toml").read_bytes(), type=_Table)
MANIFESTS = {one.kind: one for one in _TABLE.platforms}
"""By kind."""
