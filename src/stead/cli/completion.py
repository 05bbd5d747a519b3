"""``completion``: a script that lets the shell complete commands and options.

Layer: cli. The words come from the parsers themselves, so that they cannot be out of date.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace, _SubParsersAction
from collections.abc import Callable
from functools import partial

from stead.cli.catalogue import SUMMARIES
from stead.cli.forms import arg, command
from stead.cli.invocation import Invocation

_BASH = """# stead: completion for bash; use it with:  source <(stead completion bash)
_stead() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} command= i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${{COMP_WORDS[i]}} in -*) ;; *) command=${{COMP_WORDS[i]}}; break ;; esac
  done
  local words
  case $command in
{cases}
    *) words='{commands}' ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}}
complete -o default -F _stead stead
"""
_ZSH = """#compdef stead
# stead: completion for zsh; use it with:  source <(stead completion zsh)
_stead() {{
  local command= word
  for word in ${{words[2,CURRENT-1]}}; do
    [[ $word == -* ]] || {{ command=$word; break }}
  done
  case $command in
{cases}
    *) compadd -- {commands} ;;
  esac
  _default
}}
compdef _stead stead
"""


def _completion(invocation: Invocation, arguments: Namespace) -> int:
    words = {name: _words(invocation.parser_of(name)) for name in SUMMARIES}
    script = _SHELLS[arguments.shell](words)
    return invocation.report({"shell": arguments.shell, "script": script}, script.removesuffix("\n"))


def _words(parser: ArgumentParser) -> list[str]:
    """The options and fixed words of a command."""
    found: list[str] = []
    for action in parser._actions:
        found += action.option_strings
        if action.choices is not None and not action.option_strings:
            found += list(action.choices)
        if isinstance(action, _SubParsersAction):
            for inner in action.choices.values():
                found += [option for choice in inner._actions for option in choice.option_strings]
    return sorted({word for word in found if not (word.startswith("-") and not word.startswith("--"))})


def _cases(script: str, case: str, words: dict[str, list[str]]) -> str:
    cases = "\n".join(case.format(name=name, words=" ".join(options)) for name, options in words.items())
    return script.format(cases=cases, commands=" ".join(words))


def _fish(words: dict[str, list[str]]) -> str:
    lines = ["# stead: completion for fish; use it with:  stead completion fish | source"]
    for name, options in words.items():
        summary = SUMMARIES[name].replace("'", "\\'")
        lines.append(f"complete -c stead -n __fish_use_subcommand -f -a {name} -d '{summary}'")
        lines.append(f"complete -c stead -n '__fish_seen_subcommand_from {name}' -a '{' '.join(options)}'")
    return "\n".join(lines) + "\n"


_SHELLS: dict[str, Callable[[dict[str, list[str]]], str]] = {
    "bash": partial(_cases, _BASH, "    {name}) words='{words}' ;;"),
    "zsh": partial(_cases, _ZSH, "    {name}) compadd -- {words} ;;"),
    "fish": _fish,
}
COMMANDS = {"completion": command(_completion, arg("shell SHELL", "of which one", choices=tuple(_SHELLS)))}
