"""Where the values of keys and headers are that settings name: the environment, the vault, the system's keychain.

Layer: providers. The keychain is read through the library ``keyring``, which is imported where it is used: a person who
wants it installs the extra. Reading an entry may wait for the person to unlock the keychain, so it is for a thread.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping

from stead.domain.ports import Secrets
from stead.providers.failures import Broken, Failure

KEYCHAIN = "keychain:"
"""How the place of such a key begins; the name of a service, "/" and the name of an entry follow."""
_ANSWER_S = 20
"""How long a keychain may take, with the person who unlocks it."""


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
        """Those of the places that are entries of the keychain and were not read, or were not there."""
        return {place for place in places if place.startswith(KEYCHAIN)} - set(self.read)

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

    It is asked in a thread of its own, which is left behind where a locked keychain waits for a person.

    Raises:
        Broken: the library is not installed, or there is no keychain that can be read; the text says which.
    """
    answers: list[str | Broken] = []
    thread = threading.Thread(target=lambda: answers.append(_asked(place)), name="stead-keychain", daemon=True)
    thread.start()
    thread.join(_ANSWER_S)
    answer = answers[0] if answers else _broken("the keychain gave no answer; unlock it and try again")
    if isinstance(answer, Broken):
        raise answer
    return answer


def _asked(place: str) -> str | Broken:
    service, _, name = place.removeprefix(KEYCHAIN).partition("/")
    try:
        import keyring
        from keyring.errors import KeyringError
    except ImportError:
        return _broken("its key is in the keychain, which needs the extra: install 'stead[keyring]'")
    try:
        return keyring.get_password(service, name) or ""
    except (KeyringError, ImportError, AttributeError, RuntimeError, OSError, ValueError, EOFError) as error:
        return _broken(
            f"the keychain cannot be read ({type(error).__name__}); unlock it, or set up one for this account"
        )


def _broken(said: str) -> Broken:
    return Broken(Failure("unconfigured", said, charged=False))
