"""``completion``: a script that lets the shell complete commands, options, their values, and ids.

Layer: cli. The shell asks ``stead completion words`` at each press, and the answer comes from the parsers themselves:
what may stand there, of this action alone. Ids come from a daemon that runs; none is started for them.
"""

from __future__ import annotations

from argparse import REMAINDER, Action, ArgumentParser, Namespace, _SubParsersAction
from collections.abc import Iterable

from stead.cli.catalogue import SUMMARIES
from stead.cli.finding import Kind
from stead.cli.forms import arg, command
from stead.cli.invocation import OK, Invocation
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
compdef _stead stead
""",
    "fish": """# stead: completion for fish; use it with:  stead completion fish | source
complete -c stead -a '(stead completion words -- (commandline -opc)[2..-1] "$(commandline -ct)" 2>/dev/null)'
""",
}


def _completion(invocation: Invocation, arguments: Namespace) -> int:
    if arguments.shell == "words":
        *before, typed = arguments.words or [""]
        invocation.out.lines(word for word in _words(invocation, arguments, before, typed) if word.startswith(typed))
        return OK
    script = _SHELLS[arguments.shell]
    return invocation.report({"shell": arguments.shell, "script": script}, script.removesuffix("\n"))


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


COMMANDS = {
    "completion": command(
        _completion,
        arg("shell SHELL", "of which one; words: what the shell itself asks for", choices=(*_SHELLS, "words")),
        arg("[words WORD...]", "what stands on the line, to the word that is typed", nargs=REMAINDER),
    )
}
