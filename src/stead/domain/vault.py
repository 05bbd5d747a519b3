"""The vault's port: the store of the values of secrets.

Layer: domain. A port alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from stead.domain.ports import Secrets


class Vault(Secrets, Protocol):
    """Values by name, with versions that only rise: a record of an older version was put back."""

    def opened(self, name: str) -> tuple[int, str] | None:
        """The version and the value, or nothing.

        Raises:
            StorageFault: the record was changed, or the file cannot be read.
        """

    def names(self, prefix: str) -> Sequence[str]:
        """The names that begin so; opens no value."""
