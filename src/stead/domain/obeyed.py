"""Names that other programs obey: hooks, start-up files, settings of editors, orders of agents.

Layer: domain. One table for two readers. The guardian asks, as of something critical, before a call writes any of them.
A machine shows those of ``SHIELDED`` read-only and moves out what was planted there; the others are too often an
ordinary part of a project, or are obeyed only in a home, to be kept from every command.
"""

from __future__ import annotations

SHIELDED = frozenset(
    {
        *(".git", ".gitattributes", ".gitmodules", ".husky", ".pre-commit-config.yaml"),
        *(".bashrc", ".bash_profile", ".bash_login", ".profile", ".zshrc", ".zshenv", ".zprofile", ".envrc"),
        *(".vscode", ".idea", ".cursor", ".cursorrules", ".claude", ".codex", ".mcp.json", "AGENTS.md", "CLAUDE.md"),
        *(".npmrc", ".pypirc", "pip.conf"),
    }
)
"""Files, and folders with everything in them, as they are spelt."""

SHIELDED_PAIRS = frozenset({(".github", "workflows")})
"""Folders that count by the name of the one above, too."""


def shielded_above(path: str) -> str:
    """The folder in which a path lies and which is shown read-only as a whole; "" when there is none."""
    parts = path.strip("/").split("/")
    for at, part in enumerate(parts[:-1]):
        if part in SHIELDED or (at and (parts[at - 1], part) in SHIELDED_PAIRS):
            return "/".join(parts[: at + 1])
    return ""


_ALSO = (
    # folders: everything in them counts
    ".hg .svn .bzr .fleet .zed .gemini .continue .windsurf .devcontainer .ssh .gnupg .aws .kube .docker .config "
    ".local .cargo .direnv "
    # files
    ".bash_logout .bash_aliases .zlogin .zlogout .kshrc .cshrc .tcshrc .login .inputrc .env.local mcp.json "
    "gemini.md .windsurfrules .clinerules .goosehints copilot-instructions.md .gitconfig .yarnrc .yarnrc.yml "
    ".pythonrc .pythonstartup .netrc .curlrc .wgetrc .vimrc .exrc .nvimrc .viminfo .emacs .gdbinit .lldbinit "
    ".tmux.conf .screenrc .sudo_as_admin_successful .rgignore .ripgreprc .dircolors .xinitrc .xprofile .xsession "
    ".psqlrc .sqliterc .irbrc .pryrc .rprofile .octaverc .terraformrc .tool-versions .mise.toml .python-version "
    "sitecustomize.py usercustomize.py authorized_keys"
)
OBEYED = frozenset(name.casefold() for name in SHIELDED) | frozenset(_ALSO.split())
"""All of them, in small letters: a file system may not tell letters' cases apart."""
