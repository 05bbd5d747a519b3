"""Keys in the system's keychain, through the library ``keyring``, which is an extra and imported where it is used.

Layer: providers. Reading an entry may wait for the person to unlock the keychain, so it is for a thread.
"""

from __future__ import annotations

from stead.providers.failures import Broken, Failure

KEYCHAIN = "keychain:"
"""How the place of such a key begins; the name of a service, "/" and the name of an entry follow."""


def entry(place: str) -> str:
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
