"""What leaves for a person or a channel.

Layer: screen. Knows nothing of policy or of channels.
"""

from __future__ import annotations

from stead.screen.links import links

__all__ = ["links"]
