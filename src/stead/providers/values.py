"""Where the values of keys and headers are that settings name: the environment, the vault, the system's keychain.

Layer: providers. The keychain is read through the library ``keyring``, which is imported where it is used: a person who
wants it installs it. Reading an entry may wait for the person to unlock the keychain, so it is for a thread.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from stead.domain.ports import Secrets
from stead.providers.failures import Broken, Failure

KEYCHAIN = "keychain:"
"""How the place of such a key begins; the name of a service, "/" and the name of an entry follow."""


class Values:
    """The values of keys and headers, each by the place that a setting names.

    Args:
        environ: environment variables.
        secrets: the vault; nothing when there is none.
    """

    def __init__(self, environ: Mapping[str, str], secrets: Secrets | None) -> None:
        self._environ = environ
        self._secrets = secrets
        self._entries: dict[str, str] = {}

    def get(self, place: str, secret: str) -> str:
        """What is at a place, "" when nothing is there or its entry was not read. ``secret``: its name in the vault."""
        if place == "vault":
            return (self._secrets.get(secret) if self._secrets else None) or ""
        if place.startswith(KEYCHAIN):
            return self._entries.get(place, "")
        return self._environ.get(place.removeprefix("env:"), "")

    @property
    def read(self) -> dict[str, str]:
        """The values of entries that were read, by place."""
        return {place: value for place, value in self._entries.items() if value}

    def unread(self, places: Iterable[str]) -> set[str]:
        """Those of the places that are entries of the keychain and were not read."""
        return {place for place in places if place.startswith(KEYCHAIN)} - set(self._entries)

    def open(self, places: Iterable[str]) -> None:
        """Read entries of the keychain; for a thread.

        Raises:
            Broken: the keychain cannot be used; the text says why.
        """
        self._entries |= {place: _entry(place) for place in places}

    def forget(self) -> None:
        """Read every entry once more when it is needed."""
        self._entries.clear()


def _entry(place: str) -> str:
    """The value at a place, "" where the keychain has none.

    Raises:
        Broken: the library is not installed, or there is no keychain that can be read; the text says which.
    """
    try:
        import keyring
    except ImportError:
        said = "its key is in the keychain, and the library keyring is not installed (pip install keyring)"
        raise Broken(Failure("unconfigured", said, charged=False)) from None
    service, _, name = place.removeprefix(KEYCHAIN).partition("/")
    try:
        return keyring.get_password(service, name) or ""
    except keyring.errors.KeyringError as error:
        said = f"the keychain cannot be read ({type(error).__name__})"
        raise Broken(Failure("unconfigured", said, charged=False)) from None
