"""What a lasting yes covers: a shape that is worked out from the call as it was understood, never a prefix of its text.

Layer: guardian. Pure. A shape is one of: ``any`` (every call of the tool), ``changes`` (shell commands that do no more
than change files of the workspace in plain ways), ``shell:…`` (exactly this parsed command), ``net:… $ …`` (the same
with these hosts), ``host:…`` (requests to this host), or the canonical arguments of the one call that it repeats. ""
stands for what must be asked each time.

A command that runs code from files does whatever those hold then, so a lasting yes to one is bound: to the session,
whose person watches, and to the files that it names, as they were. It lapses when one changes, by any hand.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping, Sequence

from stead.domain.permits import canonical
from stead.domain.policies import Level, Risk
from stead.domain.sessions import Grant
from stead.domain.tools import Declaration, ToolEffect
from stead.guardian.flow import kinds
from stead.guardian.permits import Circumstances
from stead.guardian.shell import ShellRisk

ANY = "any"
CHANGES = "changes"
UNTOLD = "untold"
_FIXED = ("/usr/", "/bin/", "/sbin/", "/lib", "/etc/", "/dev/null")
"""Where a machine can change nothing."""


def shapes(
    declaration: Declaration,
    arguments: Mapping[str, object],
    level: Level,
    shell: ShellRisk | None,
    hosts: Sequence[str],
) -> tuple[str, ...]:
    """Every shape that covers the call. The first is what a person is offered to allow from now on.

    Args:
        declaration: the tool's.
        arguments: the call's.
        level: how often such a call is asked; one that is confirmed each time has no shape.
        shell: what its command was understood as, if it has one.
        hosts: that the call reaches and the session may not reach anyway; a shape names them.
    """
    if level is Level.CONFIRM:
        return ()
    exact = canonical(arguments).decode()
    if declaration.effect is ToolEffect.FETCH:
        # All of them in one: who allowed one host has not said that another page may be loaded with it.
        named = (f"host:{' '.join(sorted(set(hosts)))}",) if hosts else ()
        return (*named, ANY, exact)
    if shell is None:
        return (ANY, exact) if level is Level.SESSION else (exact, ANY)
    if hosts:
        # Leave for a tool is no leave for the network.
        return (f"net:{' '.join(sorted(set(hosts)))} $ {shell.shape}", exact) if shell.shape else (exact,)
    own = f"shell:{shell.shape}" if shell.shape else exact
    return (CHANGES, own, exact, ANY) if shell.risk is Risk.MEDIUM else (own, exact, ANY)


def bound_to(shell: ShellRisk | None, at: Circumstances, digest_key: bytes) -> str:
    """What a lasting yes to a call is bound to; "" for nothing, ``UNTOLD`` when its files cannot all be read.

    Args:
        shell: what its command was understood as, if it has one.
        at: the session, and the files that the call names.
        digest_key: 32 bytes of the home.
    """
    if shell is None or shell.risk is not Risk.HIGH:
        return ""
    if shell.shape and all(reason.rule != "shell-runs-code" for reason in shell.reasons):
        return ""
    changeable = [path for path in shell.paths if not path.startswith(_FIXED)]
    if "unreadable" in at.files.values() or any(path not in at.files for path in changeable):
        return UNTOLD
    place = canonical({"session": at.session, "files": at.files})
    return hmac.new(digest_key, place, hashlib.sha256).hexdigest()


def covers(grant: Grant, tool: str, shapes: Sequence[str], sources: tuple[str, ...], bound: str) -> bool:
    """Whether a grant covers a call of these shapes, and so bound, in a session that has read these untrusted sources.

    A grant of the whole tool, which a person makes by its name, is bound to nothing.
    """
    if grant.shape != ANY and (bound == UNTOLD or grant.bound != bound):
        return False
    return grant.tool == tool and grant.shape in shapes and set(kinds(sources)) <= set(grant.sources)
