"""What a path in a command names: the workspace, a secret, a file that other programs obey, or elsewhere.

Layer: guardian. Pure: paths are read as text. Links are not its business; inside the machine there is nothing outside
the workspace for them to lead to, and what is protected is a mount point there.
"""

from __future__ import annotations

import posixpath
import re
from fnmatch import fnmatchcase

from stead.domain.obeyed import PATTERNS, kept
from stead.guardian.policy import WORKSPACE

_HARMLESS = re.compile(
    r"/work(/.*)?|/tmp(/.*)?|/usr(/.*)?|/dev/null|/proc/(cpuinfo|meminfo|version|loadavg|uptime|filesystems)", re.DOTALL
)
_WRITABLE = re.compile(r"/work/.+|/tmp/.+|/dev/null", re.DOTALL)

_SECRET = re.compile(
    r"(^|[/:])(\.env(\.[\w.-]+)?|\.ssh|\.gnupg|\.aws|\.azure|\.kube|\.docker|\.netrc|\.pgpass|\.npmrc|\.pypirc|\.vault-token"
    r"|\.git-credentials|id_(rsa|dsa|ecdsa|ed25519)(\.\w+)?|g?shadow-?|passwd-?|sudoers|credentials(\.json)?|secrets?\.\w+"
    r"|[^/]*\.(pem|key|p12|pfx|jks|keystore|kdbx|ppk|asc))(/|$)",
    re.IGNORECASE,
)
_GLOB = frozenset("*?[")
_PATTERN_LIMIT = 100
"""Longer patterns are taken to fit: matching them takes time."""
_SECRET_NAMES = (
    ".env",
    ".ssh",
    ".aws",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    ".gnupg",
    ".kube",
    ".docker",
)


def locate(path: str, cwd: str) -> str:
    """The whole path, without ``.`` and ``..``.

    Args:
        path: as a command names it.
        cwd: absolute.
    """
    whole = posixpath.normpath(posixpath.join(cwd, path))
    return whole[1:] if whole.startswith("//") else whole


def relative(whole: str) -> str:
    """As an approval names it: relative to the workspace where it is inside."""
    return whole.removeprefix(WORKSPACE + "/") if whole != WORKSPACE else "."


def harmless(whole: str) -> bool:
    """Whether reading there tells nothing but the workspace and the system's own files."""
    return bool(_HARMLESS.fullmatch(whole)) and not _may_climb(whole)


def writable(whole: str) -> bool:
    """Whether writing there stays in the workspace or the machine's temporary folder."""
    return bool(_WRITABLE.fullmatch(whole)) and not _may_climb(whole)


def obeyed(whole: str) -> bool:
    """Whether a command that writes there is to be asked: other programs obey hooks, start-up files, settings."""
    if kept(whole) in ("held", "asked"):
        return True
    parts = whole.casefold().split("/")
    return not _GLOB.isdisjoint(whole) and any(
        all(_may_be(part, name, first=not n) for n, (part, name) in enumerate(zip(parts[at:], names, strict=False)))
        for names, how in PATTERNS
        if how != "tools"
        for at in range(len(parts) - len(names) + 1)
    )


def secret(whole: str) -> bool:
    """Whether it is a usual place of keys, passwords and tokens."""
    return bool(_SECRET.search(whole)) or (
        "/." in whole and any(_is_pattern(part) and _is_one_of(part, _SECRET_NAMES) for part in whole.split("/"))
    )


def broad(whole: str, *, glob: bool) -> bool:
    """Whether removing there removes the workspace, much of it, or what is outside."""
    top = whole.removeprefix(WORKSPACE).strip("/")
    return not whole.startswith(WORKSPACE + "/") or not top or (glob and not re.match(r"[^*?\[]", top))


def _is_one_of(part: str, names: tuple[str, ...]) -> bool:
    return part in names or (_is_pattern(part) and any(_fits(name, part) for name in names))


def _may_be(part: str, name: str, *, first: bool) -> bool:
    return _fits(part, name) or (not _GLOB.isdisjoint(part) and (not first or _is_pattern(part)) and _fits(name, part))


def _may_climb(whole: str) -> bool:
    """Whether a pattern in it can stand for the folder above."""
    return "/." in whole and any(_is_pattern(part) and _fits("..", part) for part in whole.split("/"))


def _is_pattern(part: str) -> bool:
    """Whether it is a pattern that can stand for a name with a leading dot: no wildcard matches that dot."""
    return part.startswith(".") and not _GLOB.isdisjoint(part)


def _fits(name: str, pattern: str) -> bool:
    return len(pattern) > _PATTERN_LIMIT or fnmatchcase(name, pattern)
