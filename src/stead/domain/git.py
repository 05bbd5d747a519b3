"""What a repository's settings make git run, read from git's own listing of them.

Layer: domain. A file of attributes only selects a filter or a driver by name; the program behind the name stands in the
settings, so the settings decide. What is listed here runs nothing in commands that read, add or commit; every other
setting counts as naming a program, those that a later git invents too.
"""

from __future__ import annotations

import re

from stead.domain.lazy_patterns import lazy_pattern

SETTINGS = """\
[safe]
\tbareRepository = explicit
[core]
\thooksPath = /dev/null
\tfsmonitor = false
"""
"""Of every machine, for the whole system in there: files of the workspace that look like a repository are none, and the
hooks of one do not run. A repository's own settings go before these, so they are read as well."""

RUNS_NOTHING = lazy_pattern(
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
"""The names of settings that are known to name no program and no further file, as git spells them."""

DATA = lazy_pattern(
    r"(?s)(HEAD|ORIG_HEAD|FETCH_HEAD|MERGE_HEAD|MERGE_MODE|MERGE_MSG|MERGE_RR|AUTO_MERGE|SQUASH_MSG|CHERRY_PICK_HEAD"
    r"|REVERT_HEAD|REBASE_HEAD|COMMIT_EDITMSG|TAG_EDITMSG|index|packed-refs|rr-cache|shallow"
    r"|objects/([0-9a-f]{2}|pack|info/(packs|commit-graphs?))|refs|logs)(/.*)?"
)
"""What commits, branches and merges write below ``.git``, and git reads as data alone. Not here: settings, hooks,
attributes, other repositories, what says where the repository is, and the steps of an unfinished rebase, which may be
commands."""
UNFINISHED = ("rebase-merge", "rebase-apply", "sequencer", "BISECT_LOG")
"""What is below ``.git`` while steps are under way that git goes on with by itself."""

HARMLESS = lazy_pattern(
    r"user\.(name|email)\n[^\n]+"
    r"|branch\.[\w./+@-]+\.(remote\n(\.|[\w-]+)|merge\nrefs/heads/[\w./+@-]+|rebase\n(true|false|merges))"
    r"|(pull\.(rebase|ff)|push\.autosetupremote|rerere\.enabled)\n(true|false|only|merges)",
    re.ASCII,
)
"""Settings that a machine may change in a repository without a question, each as its name, a line's end and its value.

Source: git-config(1). None names a program, a further file, a host or a rule for where data goes: so no ``remote.*``
(its address may be a program, ``ext::``, or a stranger's host), no ``url.*``, no ``core.*``, no ``alias.*``.
"""


def identity(name: str, email: str) -> str:
    """The settings that say whose commits they are; "" for what is empty or cannot be printed."""
    said = {"name": name, "email": email}
    quoted = {what: text.replace("\\", r"\\").replace('"', r"\"") for what, text in said.items() if text.isprintable()}
    return "[user]\n" + "".join(f'\t{what} = "{text}"\n' for what, text in quoted.items() if text)
