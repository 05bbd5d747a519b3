"""Judging one simple command at a time: what it reads, writes and runs, by what is known of the program.

Layer: guardian. Pure; knows words, not the shell's grammar. What is not known is a finding, so that a person is asked.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from stead.guardian import shell_paths as paths
from stead.guardian import shell_specs as specs
from stead.guardian.policy import WORKSPACE
from stead.guardian.shell_options import hijacks, sets
from stead.guardian.shell_programs import sort
from stead.guardian.shell_rules import RULES, Finding
from stead.guardian.shell_words import Word

_PLAIN_NAME = re.compile(r"[\w./+-]+|\[|:", re.ASCII)
_WHOLE_QUOTE = re.compile(r"""'[^'"\\$`]+'|"[^'"\\$`]+"|\\[\w.-]+|\$\w+|\$\{\w+\}|"\$\w+"|"\$\{\w+\}\"""")
_SYSTEM = re.compile(r"/(usr/)?s?bin/([^/]+)")
_DESTROYERS = re.compile(specs.DESTROYERS)
_NETWORK_DEVICE = re.compile(r"/dev/(tcp|udp)\b")
_SET_ID = re.compile(r"[0-7]*[2-7][0-7]{3}|.*[+=][rwxXt]*s.*")


_NESTING = 8
"""How many wrappers within each other are followed."""
_SAID_LIMIT = 4_000
_FOLDERS = 8


class Judge:
    """Judges the commands of one text, in their order: a ``cd`` counts for what follows.

    After ``judge`` and ``judge_redirect``, ``findings`` says what was met, ``named`` which paths, ``commands``
    what is started with which words, and ``nested`` which texts a shell would run in turn.
    """

    def __init__(self) -> None:
        self.findings: list[Finding] = []
        self.named: dict[str, None] = {}
        self.commands: dict[tuple[str, ...], None] = {}
        self.nested: list[str] = []
        self.folders = [WORKSPACE]
        self._depth = 0

    def judge(self, words: Sequence[Word], *, piped: bool = False, fed: bool = False) -> None:
        """Judge one command.

        Args:
            words: its name and arguments.
            piped: its input is another command's output.
            fed: its arguments are.
        """
        if self._depth == _NESTING:
            self.find("shell-too-long")
            return
        self._depth += 1
        met = len(self.findings)
        name = self._name(words[0])
        arguments = words[1:]
        program = name or words[0].source
        self.commands[program, *(word.source if word.text is None else word.text for word in arguments)] = None
        if name:
            self._known(name, arguments, piped, fed)
        for word in arguments:
            if word.text is None:
                self.find("shell-dynamic-word", word.source)
        # What does not only read may write whatever it names, however it names it.
        changes = any(RULES[finding.rule].changes for finding in self.findings[met:])
        if changes and not _is_staging(name, arguments):
            for word in arguments:
                if any(self._obeyed(text) for text in _spellings(word)):
                    self.find("shell-protected-path", word.source)
        self._depth -= 1

    def judge_redirect(self, operator: str, target: Word) -> None:
        """Judge where a stream comes from or goes to."""
        text = target.text
        if _NETWORK_DEVICE.search(text or target.source):
            self.find("shell-network-device", target.source)
        if operator == ">&" and text in ("1", "2"):
            return
        if text is None or target.glob:
            self.find("shell-dynamic-word", target.source)
            if any(self._obeyed(spelling) for spelling in _spellings(target)):
                self.find("shell-protected-path", target.source)
        elif operator == "<":
            self.read(target)
        elif text != "/dev/null":
            self.find("shell-redirect", text)
            self.commands[operator, text] = None
            self.write(target)

    def find(self, rule: str, thing: str = "") -> None:
        """Note a finding."""
        self.findings.append(Finding(rule, thing))

    def read(self, word: Word) -> None:
        """Note a path that is read."""
        wholes = self._note(word)
        if not all(paths.harmless(whole) for whole in wholes):
            self.find("shell-path-outside", word.source)
        if any(paths.secret(whole) for whole in wholes):
            self.find("shell-secret-path", word.source)

    def write(self, word: Word) -> None:
        """Note a path that is written."""
        wholes = self._note(word)
        if not all(paths.writable(whole) for whole in wholes):
            self.find("shell-write-outside", word.source)
        if any(paths.obeyed(whole) for whole in wholes):
            self.find("shell-protected-path", word.source)

    def move(self, word: Word) -> None:
        """Note a ``cd``. It may fail, or happen in a subshell: what follows may start from any folder so far."""
        wholes = self._wholes(word.text or "")
        if word.glob or not all((whole + "/").startswith(WORKSPACE + "/") for whole in wholes):
            self.find("shell-path-outside", word.source)
        self.folders += [whole for whole in dict.fromkeys(wholes) if whole not in self.folders]
        if len(self.folders) > _FOLDERS:
            self.find("shell-too-long")
            del self.folders[_FOLDERS:]

    def _note(self, word: Word) -> list[str]:
        if word.text is None:
            return []
        wholes = self._wholes(word.text)
        if not word.glob:
            self.named.update((paths.relative(whole), None) for whole in wholes if whole != "/dev/null")
        return wholes

    def _wholes(self, text: str) -> list[str]:
        """Where a path may lead, by the folders that the command may be in."""
        if len(self.folders) == 1 or text.startswith("/"):
            return [paths.locate(text, WORKSPACE)]
        return [paths.locate(text, folder) for folder in self.folders]

    def _obeyed(self, text: str) -> bool:
        return any(paths.obeyed(whole) for whole in self._wholes(text))

    def _name(self, word: Word) -> str:
        """The program's name; "" when it is not plain, or is a file of the workspace."""
        if not _PLAIN_NAME.fullmatch(word.source):
            plain = _WHOLE_QUOTE.fullmatch(word.source)
            self.find("shell-dynamic-command" if plain else "shell-disguised-command", word.source)
            return ""
        if system := _SYSTEM.fullmatch(word.source):
            return system[2]
        if "/" in word.source:
            self.find("shell-runs-code", word.source)
            self._note(word)
            return ""
        return word.source

    def _known(self, name: str, arguments: Sequence[Word], piped: bool, fed: bool) -> None:
        self._harms(name, arguments)
        version = len(arguments) == 1 and arguments[0].text == "--version"
        if version and name in specs.VERSIONS:
            return
        if name in specs.WRAPPERS:
            self._wrapper(name, arguments, piped)
        elif name in specs.INTERPRETERS:
            self._interpreter(name, arguments, piped, fed)
        elif name in specs.EVALUATORS:
            self._evaluator(name, arguments)
        elif spec := specs.READS.get(name) or specs.WRITES.get(name):
            sort(self, name, spec, arguments)
        elif name in specs.REMOVERS:
            self._remover(name, arguments)
        elif name in specs.NETWORKERS:
            self.find("shell-network", name)
            if leak := next((word for word in arguments for text in _spellings(word) if paths.secret(text)), None):
                self.find("shell-secret-sent", leak.source)
        elif name in specs.RUNNERS:
            self.find("shell-runs-code", name)
            for word in arguments:
                self._note(word)
        else:
            self.find("shell-unknown-command", name)

    def _harms(self, name: str, arguments: Sequence[Word]) -> None:
        """What is critical by the name of the program and the text of its arguments."""
        said = " ".join(word.text if word.text is not None else word.source for word in arguments)
        if _NETWORK_DEVICE.search(said):
            self.find("shell-network-device", said)
        if _DESTROYERS.fullmatch(name):
            self.find("shell-destroys", name)
        if name in specs.DESTRUCTIVE and len(said) > _SAID_LIMIT:
            self.find("shell-too-long")
            return
        if name in specs.DESTRUCTIVE and re.search(specs.DESTRUCTIVE[name], said):
            self.find("shell-destroys", f"{name} {said}")
        if name in specs.HIJACKS and re.search(specs.HIJACKS[name], said):
            self.find("shell-hijack", f"{name} {said}")
        if name in specs.SETTERS:
            for word in arguments:
                target = sets(word.text or "") or word.text or ""
                if hijacks(target) and (name != "printf" or (arguments[0].text or "").startswith("-v")):
                    self.find("shell-environment", f"{name} {target}")
        if name in ("test", "[") and re.search(r"(^| )-[vR] ", said) and "[" in said.removesuffix("]"):
            self.find("shell-dynamic-code", said)
        if name in ("chmod", "install") and any(_SET_ID.fullmatch(word.text or "") for word in arguments[:2]):
            self.find("shell-set-id", said)

    def _wrapper(self, name: str, arguments: Sequence[Word], piped: bool) -> None:
        flags, valued, operands, asked = specs.WRAPPERS[name]
        if asked:
            self.find("shell-wrapper", name)
        if name == "command" and arguments and arguments[0].text in ("-v", "-V"):
            return
        inner = list(arguments)
        while inner and (text := inner[0].text or inner[0].source):
            if name in ("env", "sudo") and (variable := sets(text)):
                self.find("shell-environment" if hijacks(variable) else "shell-assignment", text)
            elif text[0] == "-" and len(text) > 1:
                self._wrapper_option(name, flags, valued, inner)
            elif operands:
                operands -= 1
                if inner[0].glob:
                    self.find("shell-glob-option", inner[0].source)
            else:
                break
            inner = inner[1:]
        fed = name in specs.FEEDERS
        if name == "watch":
            self.nested.append(" ".join(word.text or word.source for word in inner))
        elif inner:
            self.judge(inner, piped=piped, fed=fed)
        elif fed and piped and name != "xargs":
            self.find("shell-piped-code", name)

    def _wrapper_option(self, name: str, flags: str, valued: str, inner: list[Word]) -> None:
        """Step over one option; its value, when it stands apart, is taken out of ``inner``."""
        text = inner[0].text or ""
        letter = text[1:2]
        if name == "env" and letter in ("i", "u"):
            dropped = text[2:] or (inner[1].text or "" if len(inner) > 1 else "")
            decides = letter == "i" or hijacks(dropped)
            self.find("shell-environment" if decides else "shell-assignment", f"env {text}")
        if name == "env" and letter == "S":
            self.nested.append(text[2:] or (inner[1].text or "" if len(inner) > 1 else ""))
        if letter and letter in valued:
            if len(text) == 2 and len(inner) > 1:
                self._wrapper_value(inner.pop(1))
        elif not (("#" in flags and text[1:].isdecimal()) or all(char in flags for char in text[1:])):
            self.find("shell-unknown-option", inner[0].source)

    def _wrapper_value(self, word: Word) -> None:
        if word.glob or word.text is None or word.text.startswith("-"):
            self.find("shell-unknown-option", word.source)

    def _interpreter(self, name: str, arguments: Sequence[Word], piped: bool, fed: bool) -> None:
        operands = [word for word in arguments if not (word.text or "").startswith("-") or word.text == "-"]
        letters = {word.text or "" for word in arguments if (word.text or "").startswith("-")}
        shell = name in specs.SHELLS
        inline = any("c" in text[1:] for text in letters if text[:2] != "--") if shell else _is_inline(letters)
        script = operands[0] if operands and not (shell and "-s" in letters) else None
        if fed:
            self.find("shell-piped-code", name)
        if script is not None and script.text is None:
            self.find("shell-dynamic-code", f"{name} {script.source}")
        elif inline and script is not None and shell:
            self.find("shell-inline-code", name)
            self.nested.append(script.text or "")
        elif inline:
            self.find("shell-inline-code", name)
        elif script is None or script.text == "-":
            self.find("shell-piped-code" if piped else "shell-inline-code", name)
        else:
            self.find("shell-runs-code", f"{name} {script.source}")
            if script.glob:
                self.find("shell-dynamic-code", script.source)
            for word in operands:
                self._note(word)

    def _evaluator(self, name: str, arguments: Sequence[Word]) -> None:
        self.find("shell-defines", name)
        dynamic = any(word.text is None for word in arguments)
        if name in ("eval", "source", ".") and dynamic:
            self.find("shell-dynamic-code", f"{name} {arguments[0].source}")
        elif name in ("eval", "trap"):
            self.nested.append(" ".join(word.text or "" for word in arguments[: None if name == "eval" else 1]))
        elif name in ("source", ".") and arguments:
            self._note(arguments[0])
        elif name == "coproc" and arguments:
            self.judge(arguments)

    def _remover(self, name: str, arguments: Sequence[Word]) -> None:
        self.find("shell-removes", name)
        said = [word.text or "" for word in arguments]
        recursive = any(re.match(r"-\w*[rR]|--r", text) for text in said)
        if "--no-preserve-root" in said:
            self.find("shell-destroys", name)
        for word in arguments:
            if word.text is None:
                broad = True
            elif word.text.startswith("-"):
                continue
            else:
                wholes = self._note(word)
                broad = any(paths.broad(whole, glob=word.glob) for whole in wholes)
                if not all(paths.writable(whole) for whole in wholes):
                    self.find("shell-write-outside", word.source)
            if recursive and broad:
                self.find("shell-destroys", f"{name} {word.source}")


def _is_staging(name: str, arguments: Sequence[Word]) -> bool:
    """``git add`` and ``git commit`` name files without writing them."""
    return name == "git" and bool(arguments) and arguments[0].text in specs.GIT_WRITES


def _is_inline(letters: set[str]) -> bool:
    return any(text in specs.CODE_OPTIONS or re.match(r"-[A-Za-z0]*[ceE]$|-[ce].", text) for text in letters)


def _spellings(word: Word) -> list[str]:
    """The paths that a word may hold: itself, what follows ``=``, what is glued to an option, what quotes hide."""
    text = word.text if word.text is not None else re.sub(r"""['"\\]""", "", word.source)
    found = [text]
    if "=" in text:
        found.append(text.rpartition("=")[2])
    if text.startswith(("-", "@")):
        found.append(text[2:] if text[0] == "-" else text[1:])
    return found
