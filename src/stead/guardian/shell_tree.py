"""The parsed reading of a command: tree-sitter's tree as a list of simple commands and of suspicious parts.

Layer: guardian. Pure; knows the grammar's node names, and no command but by its place.

The parser never fails: what it cannot fit becomes an ERROR or MISSING node, and it drops bytes between nodes without a
word. Neither goes unseen: the first is a finding here, the second makes the plain reading (``shell_words``) disagree.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

import msgspec

from stead.guardian.shell_options import hijacks
from stead.guardian.shell_rules import Finding
from stead.guardian.shell_words import Word, make_word, read_plain

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

_DEPTH = 50
_NODES = 8_000
_SHORT_BYTES = 4_000
_SIGNS = re.compile(
    rb"[^\w\s./,:@%+=-]|\b(?:if|fi|then|else|elif|do|done|case|esac|in|for|while|until|select|function)\b"
)

_SILENT = (
    "program list pipeline command file_redirect redirected_statement subshell negated_command command_name comment "
    "file_descriptor word number raw_string string string_content concatenation heredoc_start heredoc_end "
    "heredoc_content special_variable_name regex test_operator extglob_pattern"
)
_STRUCTURE = frozenset(_SILENT.split())
"""Node types that say nothing by themselves. Whatever is neither here nor below is a finding of its own."""
_LEAVES = frozenset({"word", "number", "raw_string", "comment", "string_content", "file_descriptor"})
"""Of those, the ones that hold nothing else."""
_FOUND = {
    "shell-control-flow": "for_statement c_style_for_statement while_statement if_statement case_statement case_item "
    "compound_statement test_command do_group elif_clause else_clause ternary_expression",
    "shell-dynamic-word": "command_substitution process_substitution simple_expansion expansion arithmetic_expansion "
    "brace_expression ansi_c_string translated_string array subscript",
    "shell-defines": "function_definition declaration_command unset_command",
    "shell-here-document": "heredoc_redirect herestring_redirect heredoc_body",
}
_RULE_OF = {kind: rule for rule, kinds in _FOUND.items() for kind in kinds.split()}
_PIPES = ("|", "|&")


class Invocation(msgspec.Struct, frozen=True):
    """One simple command.

    Args:
        words: its name and arguments; never empty.
        piped: another command's output is its input.
    """

    words: tuple[Word, ...]
    piped: bool


class Redirect(msgspec.Struct, frozen=True):
    """One redirection: ``operator`` such as ``>`` or ``>&``, and what it names."""

    operator: str
    target: Word


class Tree(msgspec.Struct):
    """What the parser found, in the order of the text.

    Args:
        invocations: every simple command, those within substitutions and definitions included.
        redirects: in the order they are written.
        findings: what makes the command more than a list of plain commands.
    """

    invocations: list[Invocation]
    redirects: list[Redirect]
    findings: list[Finding]

    def places(self) -> tuple[list[list[tuple[int, int]]], list[tuple[int, int]]]:
        """Where the words and the redirections' targets are, to be compared with the plain reading."""
        commands = [[(word.start, word.end) for word in call.words] for call in self.invocations]
        return commands, [(one.target.start, one.target.end) for one in self.redirects]


def read_tree(source: bytes, text: str) -> Tree:
    """Parse a command.

    Args:
        source: UTF-8.
        text: the same bytes as Latin-1.
    """
    tree = Tree([], [], [])
    if _is_hard(source):
        tree.findings.append(Finding("shell-too-long"))
        return tree
    left = _NODES
    todo: list[tuple[Node, bool, int]] = [(_parser().parse(source).root_node, False, 0)]
    while todo:
        node, piped, depth = todo.pop()
        left -= 1
        if depth > _DEPTH or left < 0:
            tree.findings.append(Finding("shell-too-long"))
            return tree
        children = node.children
        if node.type == "test_command" and _bracket(tree, node, piped, text):
            continue
        _look(tree, node, text)
        match node.type:
            case "command":
                _command(tree, children, piped, text)
            case "file_redirect":
                _redirect(tree, node, children, text)
            case _:
                pass
        below: list[tuple[Node, bool, int]] = []
        fed = piped
        for child in children:
            kind = child.type
            fed = fed or kind in _PIPES
            if (child.is_named and kind not in _LEAVES) or kind == "&" or child.is_missing:
                below.append((child, fed, depth + 1))
        todo += reversed(below)
    return tree


@cache
def _parser() -> Parser:
    # Imported at first use: the command line starts without it.
    import tree_sitter_bash
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))


def _is_hard(source: bytes) -> bool:
    """Whether parsing may take long: over texts made for it, the parser's time grows with the square of their signs.

    Measured: the worst text below these limits takes 0.4 s; long texts of few signs, such as files in here-documents,
    take a millisecond.
    """
    return len(source) > _SHORT_BYTES and len(_SIGNS.findall(source)) > _SHORT_BYTES // 2


def _look(tree: Tree, node: Node, text: str) -> None:
    """Report a node that is more than structure."""
    kind = node.type
    said = text[node.start_byte : node.end_byte]
    if node.is_error or node.is_missing:
        tree.findings.append(Finding("shell-unparsed", said or text[:60]))
    elif kind in _STRUCTURE:
        return
    elif kind == "&":
        tree.findings.append(Finding("shell-background"))
    elif kind == "variable_name":
        if hijacks(said) and (node.parent is None or node.parent.type != "simple_expansion"):
            tree.findings.append(Finding("shell-environment", said))
    elif kind == "variable_assignment":
        tree.findings.append(Finding("shell-assignment", said))
    elif kind == "function_definition" and said.startswith(":"):
        tree.findings.append(Finding("shell-destroys", said))
    else:
        tree.findings.append(Finding(_RULE_OF.get(kind, "shell-not-understood"), said))


def _command(tree: Tree, children: list[Node], piped: bool, text: str) -> None:
    words = tuple(
        make_word(text[(start := child.start_byte) : child.end_byte], start)
        for child in children
        if child.is_named
        and child.type not in ("variable_assignment", "file_redirect", "herestring_redirect", "subshell")
    )
    # What the shell makes up and hands over is like the output of another command.
    strings = [text[child.start_byte : child.end_byte] for child in children if child.type == "herestring_redirect"]
    if words:
        tree.invocations.append(Invocation(words, piped or any("$" in said or "`" in said for said in strings)))


def _bracket(tree: Tree, node: Node, piped: bool, text: str) -> bool:
    """Take ``[ ... ]`` for the plain command that it is; the grammar makes an expression of it."""
    said = text[node.start_byte : node.end_byte]
    plain = None if said.startswith("[[") else read_plain(said)
    if plain is None or len(plain.commands) != 1 or plain.targets:
        return False
    words = tuple(make_word(said[start:end], node.start_byte + start) for start, end in plain.commands[0])
    tree.invocations.append(Invocation(words, piped))
    return True


def _redirect(tree: Tree, node: Node, children: list[Node], text: str) -> None:
    operator = next((child.type for child in children if not child.is_named), "")
    targets = [child for child in children if child.is_named and child.type != "file_descriptor"]
    for child in targets:
        word = make_word(text[child.start_byte : child.end_byte], child.start_byte)
        tree.redirects.append(Redirect(operator, word))
    if not targets:  # a stream is closed
        tree.findings.append(Finding("shell-not-understood", text[node.start_byte : node.end_byte]))
