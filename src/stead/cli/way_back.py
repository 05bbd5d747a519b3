"""Back to the version of before: the home, and the program where it was installed from a release.

Layer: cli. Asked for by a person, or by a first start that failed.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from stead.cli import releases
from stead.cli.backups import passphrase_of_home
from stead.cli.invocation import Invocation

if TYPE_CHECKING:
    from stead.storage.upgrading import WentBack


def fall_back(invocation: Invocation) -> str:
    """After a first start that failed: the home, and the program, as they were before; what is said of it."""
    from stead.storage.upgrading import served

    last = served(invocation.home)
    said = ""
    if last and last.kept and not last.proven:
        put_back(invocation)
        said = f"the home is as it was before Stead {last.version}"
    root = releases.installation()
    if root and (root / "unproven").exists() and (before := releases.switch_back(root)):
        said += f"{'; ' if said else ''}Stead {before} is in its place again, run this once more"
    return said


def put_back(invocation: Invocation) -> WentBack | None:
    """The home as it was before the upgrade; None where it has no journal of then."""
    from stead.config import load_settings
    from stead.domain.errors import NotFound
    from stead.storage.keystore import open_keys
    from stead.storage.upgrading import back

    settings = load_settings(invocation.home)
    home = invocation.home.under(settings)
    keys = open_keys(home, "file", passphrase_of_home).keys
    try:
        return back(home, keys, Path(settings.audit_heads or home.heads))
    except NotFound:
        return None
