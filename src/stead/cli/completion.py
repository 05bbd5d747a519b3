"""``completion``: a script that lets the shell complete commands, options, their values, and ids.

Layer: cli. The shell asks ``stead completion words`` at each press, and the answer comes from the parsers themselves:
what may stand there, of this action alone. Ids come from a daemon that runs; none is started for them.
``install`` writes the script where the shell looks for completions of this account, and touches no start-up file.
"""

from __future__ import annotations

import os
from argparse import REMAINDER, Action, ArgumentParser, Namespace, _SubParsersAction
from collections.abc import Iterable
from pathlib import Path

from stead.cli.catalogue import SUMMARIES
from stead.cli.finding import Kind
from stead.cli.forms import arg, command
from stead.cli.invocation import FAILED, OK, CommandError, Invocation
from stead.cli.output import clean_line
from stead.cli.parsing import Parser

_SHELLS = {
    "bash": """# stead: completion for bash; use it with:  source <(stead completion bash)
_stead() {
  mapfile -t COMPREPLY < <(stead completion words -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _stead stead
""",
    "zsh": """#compdef stead
# stead: completion for zsh; use it with:  source <(stead completion zsh)
_stead() {
  local found=$(stead completion words -- "${(@)words[2,CURRENT]}" 2>/dev/null)
  if [[ -n $found ]]; then compadd -- "${(@f)found}"; else _default; fi
}
if [[ $funcstack[1] == _stead ]]; then _stead "$@"; else compdef _stead stead; fi
""",
    "fish": """# stead: completion for fish; use it with:  stead completion fish | source
complete -c stead -a '(stead completion words -- (commandline -opc)[2..-1] "$(commandline -ct)" 2>/dev/null)'
""",
}
_OURS = "# stead: completion for "
"""In the beginning of each script: a file without it belongs to others."""
_FIRST_BYTES = 200
_FOLDERS = {
    "bash": ("XDG_DATA_HOME", ".local/share", "bash-completion/completions/stead"),
    "zsh": ("XDG_DATA_HOME", ".local/share", "zsh/site-functions/_stead"),
    "fish": ("XDG_CONFIG_HOME", ".config", "fish/completions/stead.fish"),
}
"""Where a shell looks for completions of an account: the variable of the folder, its default, and the file."""
_NEXT = {
    "bash": "New shells have it, where the package bash-completion is installed.",
    "zsh": "In ~/.zshrc, before compinit, there must be: fpath=({folder} $fpath)",
    "fish": "New shells have it.",
}


def _completion(invocation: Invocation, arguments: Namespace) -> int:
    if arguments.shell in ("install", "uninstall"):
        return _install(invocation, _shell(arguments.words), remove=arguments.shell == "uninstall")
    if arguments.shell == "words":
        *before, typed = arguments.words or [""]
        invocation.out.lines(word for word in _words(invocation, arguments, before, typed) if word.startswith(typed))
        return OK
    script = _SHELLS[arguments.shell]
    return invocation.report({"shell": arguments.shell, "script": script}, script.removesuffix("\n"))


def _shell(words: list[str]) -> str:
    """The shell that is named, else the account's own; what is typed behind it may be an option of every command."""
    words = [word for word in words if not word.startswith("-")]
    if len(words) > 1:
        raise CommandError("one shell is installed at a time", "stead completion install [SHELL]")
    name = words[0] if words else os.path.basename(os.environ.get("SHELL", ""))
    if name not in _SHELLS:
        cause = f"there is no completion for {clean_line(name, 40)!r}" if name else "$SHELL does not say which shell"
        raise CommandError(cause, f"name one of: {', '.join(_SHELLS)}")
    return name


def _install(invocation: Invocation, shell: str, *, remove: bool) -> int:
    """Write the script to its file, or remove it; a file of that name that is not ours stays as it is."""
    variable, default, name = _FOLDERS[shell]
    chosen = os.environ.get(variable, "")
    file = (Path(chosen) if os.path.isabs(chosen) else Path.home() / default) / name
    there = file.read_bytes() if file.is_file() else None
    facts = {"shell": shell, "file": str(file)}
    if there is not None and _OURS.encode() not in there[:_FIRST_BYTES]:
        raise CommandError(f"{str(file)!r} is not Stead's", "move it away first", exit_code=FAILED)
    if remove:
        file.unlink(missing_ok=True)
        said = f"Removed {clean_line(str(file))}." if there is not None else f"Nothing is installed for {shell}."
        return invocation.report({**facts, "changed": there is not None}, said)
    script = _SHELLS[shell].encode()
    if there != script:
        file.parent.mkdir(parents=True, exist_ok=True)
        new = file.with_name(f".{file.name}.{os.getpid()}")
        new.write_bytes(script)
        new.replace(file)
    done = "Written to" if there is None else "Renewed:" if there != script else "It is there already:"
    following = _NEXT[shell].format(folder=clean_line(str(file.parent)))
    return invocation.report({**facts, "changed": there != script}, f"{done} {clean_line(str(file))}", following)


def _words(invocation: Invocation, arguments: Namespace, before: list[str], typed: str) -> Iterable[str]:
    """What may stand after the words before: values of an option, options where a dash is typed, else fixed words."""
    parser: ArgumentParser = Parser()
    named, place, option = False, 0, None
    for word in before:
        if option:
            if option.dest == "home":
                invocation = Invocation(Namespace(**{**vars(arguments), "home": word}), invocation.parser_of)
            option = None
        elif word.startswith("-"):
            found = parser._option_string_actions.get(word)
            option = found if found and found.nargs != 0 else None
        elif not named:
            if word not in SUMMARIES:
                return ()
            parser, named = invocation.parser_of(word), True
        elif place == 0 and (inner := _actions_of(parser).get(word)):
            parser = inner
        else:
            place += 1
    if option:
        return _values(invocation, option)
    if typed.startswith("-"):
        return sorted(name for name in parser._option_string_actions if name.startswith("--"))
    if not named:
        return SUMMARIES
    by_place = [action for action in parser._actions if not action.option_strings]
    return _values(invocation, by_place[min(place, len(by_place) - 1)]) if by_place else ()


def _actions_of(parser: ArgumentParser) -> dict[str, ArgumentParser]:
    found = (action.choices for action in parser._actions if isinstance(action, _SubParsersAction))
    return dict(next(found, {}))


def _values(invocation: Invocation, action: Action) -> Iterable[str]:
    if action.choices is not None:
        return map(str, action.choices)
    find = vars(action).get("find")
    return find.ids(invocation.client) if isinstance(find, Kind) else ()


_WHAT = (*_SHELLS, "install", "uninstall", "words")
COMMANDS = {
    "completion": command(
        _completion,
        arg("shell WHAT", "print a shell's script, install or uninstall it; words: what the shell asks", choices=_WHAT),
        arg("[words SHELL...]", "to install (else $SHELL); of words: what stands on the line", nargs=REMAINDER),
    )
}
