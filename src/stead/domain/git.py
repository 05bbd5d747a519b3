"""What a repository's settings make git run, told from git's own listing of them.

Layer: domain. A file of attributes only selects a filter or a driver by name; the program behind the name stands in the
settings, so the settings decide. What is listed here runs nothing in commands that read, add or commit; every other
setting counts as naming a program, those that a later git invents too.
"""

from __future__ import annotations

import re

import msgspec

SETTINGS = """\
[safe]
\tbareRepository = explicit
[core]
\thooksPath = /dev/null
\tfsmonitor = false
"""
"""Of every machine, for the whole system in there: files of the workspace that look like a repository are none, and the
hooks of one do not run. A repository's own settings go before these, so they are read as well."""

_RUNS_NOTHING = re.compile(
    r"(user|branch|color|column|advice|init|push|pull|fetch|pack|index|rerere|rebase|lfs|gui|status|blame|grep|http|url)\..*"
    r"|core\.(repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf"
    r"|safecrlf|eol|quotepath|untrackedcache|preloadindex|abbrev|longpaths|whitespace|commentchar|protecthfs"
    r"|protectntfs|trustctime|checkstat|compression|bigfilethreshold|excludesfile|sharedrepository|commitgraph)"
    r"|remote\..*\.(url|pushurl|fetch|push|tagopt|prune|mirror|gh-resolved)|submodule\..*\.(url|active|branch)"
    r"|extensions\.(objectformat|refstorage|worktreeconfig)|gc\.(auto|autodetach|pruneexpire)|merge\.(ff|conflictstyle)"
    r"|log\.(date|decorate|abbrevcommit|follow|showroot)|commit\.(verbose|status|cleanup)"
    r"|diff\.(algorithm|renames|renamelimit|context|mnemonicprefix|noprefix|colormoved|indentheuristic)",
    re.DOTALL,
)


COMMITS = re.compile(
    r"\.git/(HEAD|ORIG_HEAD|COMMIT_EDITMSG|index|packed-refs|(objects/([0-9a-f]{2}|pack)|refs|logs)(/.*)?)", re.DOTALL
)
"""What a commit writes, and git reads as data alone. Not here: settings, hooks, attributes, other repositories, what
says where the repository is, and the steps of an unfinished rebase, which may be commands."""


def identity(name: str, email: str) -> str:
    """The settings that say whose commits they are; "" for what is empty or cannot be printed."""
    said = {"name": name, "email": email}
    quoted = {what: text.replace("\\", r"\\").replace('"', r"\"") for what, text in said.items() if text.isprintable()}
    return "[user]\n" + "".join(f'\t{what} = "{text}"\n' for what, text in quoted.items() if text)


class GitFacts(msgspec.Struct, frozen=True):
    """What git obeys in a folder.

    Args:
        read: whether the settings could be read, Stead's own among them.
        named: settings that are not known to run nothing, as git spells their names.
        hooks_path: where the settings say that the hooks are; "" when they do not.
        includes: files of further settings, conditional ones too, as they are named.
    """

    read: bool = False
    named: tuple[str, ...] = ()
    hooks_path: str = ""
    includes: tuple[str, ...] = ()

    @property
    def plain(self) -> bool:
        """Whether commands that read, add or commit run nothing but git."""
        return self.read and not self.named


def understand(listing: bytes) -> GitFacts:
    """Read what ``git config --list --includes --show-scope --show-origin -z`` printed.

    Args:
        listing: all of it; what is cut off, or is something else, counts as not read.
    """
    fields = listing.decode("utf-8", "surrogateescape").split("\0")
    scopes, settings = fields[0:-1:3], [field.partition("\n")[::2] for field in fields[2::3]]
    own = [setting for scope, setting in zip(scopes, settings, strict=False) if scope != "system"]
    ours = [setting for scope, setting in zip(scopes, settings, strict=False) if scope == "system"]
    return GitFacts(
        read=len(fields) % 3 == 1 and not fields[-1] and ("safe.barerepository", "explicit") in ours,
        named=tuple(name for name, _ in own if not _RUNS_NOTHING.fullmatch(name)),
        hooks_path=next((value for name, value in reversed(own) if name == "core.hookspath"), ""),
        includes=tuple(value for name, value in own if re.fullmatch(r"include(if\..*)?\.path", name, re.DOTALL)),
    )


def runs_nothing(name: str) -> bool:
    """Whether a setting is known to name no program and no further file."""
    return bool(_RUNS_NOTHING.fullmatch(name))
