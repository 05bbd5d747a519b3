"""Reading a command's arguments against what is known of it: options, their values, operands.

Layer: guardian. Pure; knows how options are written, not what they do.

Source: POSIX.1-2024, utility conventions; the GNU C library's manual, section on ``getopt_long``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from stead.guardian.shell_rules import Finding
from stead.guardian.shell_specs import ENVIRONMENT, Spec
from stead.guardian.shell_words import Word

_ENVIRONMENT = re.compile(ENVIRONMENT)
_SET = re.compile(r"([A-Za-z_]\w*)(\[.*\])?\+?=", re.DOTALL)


class Arguments(msgspec.Struct):
    """A command's arguments, sorted.

    Args:
        operands: words that are no options.
        given: options that were found, as ``-x`` or ``--long``, each with its value.
        findings: what is not known to be harmless.
    """

    operands: list[Word]
    given: list[tuple[str, str]]
    findings: list[Finding]

    def has(self, *names: str) -> bool:
        """Whether one of these options is there."""
        return any(name in names for name, _ in self.given)


def sort_arguments(spec: Spec, words: Sequence[Word]) -> Arguments:
    """Tell options from operands, as the program itself will.

    Args:
        spec: what is known of the program.
        words: its arguments.
    """
    found = Arguments([], [], [])
    queue = list(reversed(words))
    anything = "*" in spec.flags
    while queue:
        word = queue.pop()
        text = word.text or ""
        if word.glob and text[0] in "-*?[" and not anything:
            found.findings.append(Finding("shell-glob-option", word.source))
        elif text == "--":
            found.operands += reversed(queue)
            break
        elif len(text) < 2 or text[0] != "-":
            found.operands.append(word)
        elif anything:
            if "/" in text or ".." in text:
                found.findings.append(Finding("shell-unknown-option", text))
        elif text[1] == "-":
            _long(spec, text, queue, found)
        elif not ("#" in spec.flags and text[1:].isdecimal()):
            _letters(spec, text, queue, found)
    return found


def _long(spec: Spec, text: str, queue: list[Word], found: Arguments) -> None:
    name, equals, value = text.partition("=")
    if not equals and name[2:] in spec.longs:
        found.given.append((name, ""))
    elif name[2:] + "=" in spec.longs:
        found.given.append((name, value if equals else _next(text, queue, found)))
    elif name[2:] + "?" in spec.longs:
        found.given.append((name, value))
    else:
        found.findings.append(Finding("shell-unknown-option", text))


def _letters(spec: Spec, text: str, queue: list[Word], found: Arguments) -> None:
    for place, letter in enumerate(text[1:], start=2):
        if letter in spec.flags and letter not in "#*":
            found.given.append(("-" + letter, ""))
        elif letter in spec.valued and (spec.glued or not text[place:]):
            found.given.append(("-" + letter, text[place:] or _next(text, queue, found)))
            return
        else:
            found.findings.append(Finding("shell-unknown-option", text))
            return


def _next(option: str, queue: list[Word], found: Arguments) -> str:
    """The word that is an option's value.

    A value that looks like an option is refused, since some programs would take it for one; so is a pattern, which can
    stand for several words.
    """
    if not queue:
        return ""
    word = queue.pop()
    if word.text is None or word.glob or (len(word.text) > 1 and word.text[0] == "-"):
        found.findings.append(Finding("shell-unknown-option", f"{option} {word.source}"))
    return word.text or ""


def hijacks(name: str) -> bool:
    """Whether a variable decides which programs run, or what they load."""
    return bool(_ENVIRONMENT.fullmatch(name))


def sets(word: str) -> str:
    """The variable that ``NAME=value`` sets; "" when a word is none."""
    match = _SET.match(word)
    return match[1] if match else ""
