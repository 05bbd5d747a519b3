"""The policy that follows from a tool's declaration. There is none written for a single tool.

Layer: guardian. Strict and small: reads of the workspace are free, and so is, in the profile ``work``, what a machine
does without a new host. Else writes are asked once a session, programs by the risk of their command line. The network
is asked each time, and what leaves for good is confirmed with its parameters shown.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from stead.domain.policies import Confidentiality, Level, Risk
from stead.domain.tools import Declaration, ToolEffect
from stead.guardian.reach import Reach, Target

WORKSPACE = "/work"
"""Where every machine shows its workspace."""


_RISKS = {
    ToolEffect.THINK: Risk.LOW,
    ToolEffect.READ: Risk.LOW,
    ToolEffect.WRITE: Risk.MEDIUM,
    ToolEffect.EXECUTE: Risk.HIGH,
    ToolEffect.FETCH: Risk.HIGH,
    ToolEffect.SEND: Risk.CRITICAL,
}
_LEVELS = {Risk.LOW: Level.AUTO, Risk.MEDIUM: Level.SESSION, Risk.HIGH: Level.EACH, Risk.CRITICAL: Level.CONFIRM}


def level_of(declaration: Declaration, risk: Risk, *, free: bool) -> Level:
    """How often the person is asked about a call.

    Args:
        declaration: the tool's.
        risk: of a program, as its command line was understood; for any other call its effect says it.
        free: whatever the call does in a machine may be done unasked.
    """
    effect = declaration.effect
    if free and effect in (ToolEffect.WRITE, ToolEffect.EXECUTE) and needs_machine(declaration):
        return Level.AUTO
    return _LEVELS[risk if effect is ToolEffect.EXECUTE else _RISKS[effect]]


def risk_of(declaration: Declaration) -> Risk:
    """How bad a call of such a tool could be, before its arguments are understood."""
    return _RISKS[declaration.effect]


def needs_machine(declaration: Declaration) -> bool:
    """Whether calls of the tool do their work in the sandbox, on the workspace."""
    return bool(declaration.path_args or declaration.command_args)


def shows_folder(declaration: Declaration, arguments: Mapping[str, object]) -> bool:
    """Whether a call's output holds something of the folder; one that sends requests does where it names a file."""
    return needs_machine(declaration) and (not declaration.url_args or any(paths(declaration, arguments)))


def in_machine(declaration: Declaration, arguments: Mapping[str, object]) -> bool:
    """Whether what a call says went through a machine, and may be from whatever its folder was connected to."""
    browses = bool(declaration.host_args) or (bool(declaration.url_args) and declaration.effect is ToolEffect.READ)
    return browses or shows_folder(declaration, arguments)


def reads_account(declaration: Declaration) -> bool:
    """Whether the tool reads something private that lies elsewhere than in the workspace: mail, a calendar."""
    private = declaration.sensitivity is not Confidentiality.PUBLIC
    return declaration.effect is ToolEffect.READ and private and not needs_machine(declaration)


def changes(declaration: Declaration) -> bool:
    """Whether calls of the tool may change anything outside Stead."""
    return declaration.effect not in (ToolEffect.THINK, ToolEffect.READ)


def changes_files(declaration: Declaration) -> bool:
    """Whether a call may change the workspace: it writes there, or runs something, be that said to look only."""
    return declaration.effect is ToolEffect.EXECUTE or (changes(declaration) and needs_machine(declaration))


def reaches_out(declaration: Declaration) -> bool:
    """Whether a call leaves the machine, so that where its target came from is what matters most."""
    return declaration.effect in (ToolEffect.FETCH, ToolEffect.SEND) or bool(declaration.host_args)


def requested(declaration: Declaration, arguments: Mapping[str, object], reach: Reach) -> tuple[str, ...]:
    """The hosts that a call sends requests to: those of its URLs, and of a service that the person set up."""
    targets = [reach.check_url(str(arguments.get(name, ""))) for name in declaration.url_args]
    services = [str(arguments[name]) for name in declaration.service_args if arguments.get(name)]
    return (*(target.host for target in targets if isinstance(target, Target)), *services)


def outside(declaration: Declaration, arguments: Mapping[str, object]) -> str | None:
    """The first path argument that points out of the workspace, read as text; nothing when all stay inside.

    Links are not this function's business: inside the machine nothing else exists for them to lead to.
    """
    for path in paths(declaration, arguments):
        if not isinstance(path, str) or "\0" in path:
            return repr(path)
        whole = posixpath.normpath(posixpath.join(WORKSPACE, path))
        if whole != WORKSPACE and not whole.startswith(WORKSPACE + "/"):
            return path
        if ".." in path.split("/"):
            return path
    return None


@lru_cache(maxsize=4096)
def below(path: str) -> str:
    """A path as text, relative to the workspace; ``..`` stands in it only where it leads out."""
    return posixpath.relpath(posixpath.join(WORKSPACE, path), WORKSPACE)


def paths(declaration: Declaration, arguments: Mapping[str, object]) -> Iterator[object]:
    """What stands in the path arguments, one by one where an argument is a list."""
    return values(declaration.path_args, arguments)


def values(names: Sequence[str], arguments: Mapping[str, object]) -> Iterator[object]:
    """What stands in the arguments of these names, one by one where one is a list; "" where one is left out."""
    for name in names:
        value = arguments.get(name, "")
        if isinstance(value, list | tuple):
            yield from value
        else:
            yield value
