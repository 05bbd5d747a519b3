"""``directives``: what models are told always; its commands, and how their arguments are declared.

Layer: cli. What a command does is imported when it is called, and not before.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable

from stead.cli.invocation import Command, Invocation, add_actions, add_yes_option, no_arguments

KINDS = ("soul", "coding_style", "communication", "project_context", "behavioral_rules", "custom")
_ID = "its id, the beginning of it, or its title"


def _id_alone(parser: ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help=_ID)


def _text(parser: ArgumentParser) -> None:
    given = parser.add_mutually_exclusive_group()
    given.add_argument("--text", default="", metavar="TEXT", help='Markdown; "-" reads it from standard input')
    given.add_argument("--file", default="", metavar="FILE", help="read it from this file")
    parser.add_argument("--dir", default=None, metavar="DIR", help='for this folder alone ("" for everywhere)')


def _add(parser: ArgumentParser) -> None:
    parser.add_argument("title", metavar="TITLE")
    parser.add_argument("--kind", choices=KINDS, default="custom", help="what it is about (else custom)")
    parser.add_argument("--template", default="", metavar="T", help="begin with this one's text, see `templates`")
    parser.add_argument("--off", action="store_true", help="keep it, and do not tell models yet")
    _text(parser)


def _edit(parser: ArgumentParser) -> None:
    _id_alone(parser)
    parser.add_argument("--title", default="", metavar="T", help="another title")
    parser.add_argument("--kind", choices=KINDS, default="", help="another kind")
    parser.add_argument("--why", default="", metavar="NOTE", help="what changed, for the list of versions")
    _text(parser)


def _order(parser: ArgumentParser) -> None:
    parser.add_argument("ids", nargs="+", metavar="ID", help="these first, in this order; each " + _ID)


def _versions(parser: ArgumentParser) -> None:
    _id_alone(parser)
    parser.add_argument("--all", action="store_true", help="every one, not only the newest 20")


def _diff(parser: ArgumentParser) -> None:
    _id_alone(parser)
    parser.add_argument("old", nargs="?", type=int, default=0, metavar="OLD", help="a version (else the one before)")
    parser.add_argument("new", nargs="?", type=int, default=0, metavar="NEW", help="another (else the newest)")


def _remove(parser: ArgumentParser) -> None:
    _id_alone(parser)
    add_yes_option(parser)


def _restore(parser: ArgumentParser) -> None:
    _id_alone(parser)
    parser.add_argument("version", type=int, metavar="N", help="see `versions`")


def _preview(parser: ArgumentParser) -> None:
    parser.add_argument("--dir", default="", metavar="DIR", help="as a session of this folder is told")
    parser.add_argument("--objective", action="store_true", help="as an objective is told, not a session")
    parser.add_argument("--parts", action="store_true", help="only the figures, without the text")


def _export(parser: ArgumentParser) -> None:
    parser.add_argument("file", nargs="?", default="-", metavar="FILE", help="where to (else standard output)")


def _import(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="Markdown: an export, or one text such as CLAUDE.md")
    parser.add_argument("--kind", choices=KINDS, default="project_context", help="of a text that says none")
    parser.add_argument("--dir", default=None, metavar="DIR", help="for this folder alone")


_ACTIONS: dict[str, tuple[str, Callable[[ArgumentParser], None]]] = {
    "list": ("show them in order (the default)", no_arguments),
    "show": ("show one in full", _id_alone),
    "add": ("write one, with your editor or --text", _add),
    "edit": ("change one, with your editor or --text", _edit),
    "on": ("have models told it, from their next turn on", _id_alone),
    "off": ("keep it, and have models told it no longer", _id_alone),
    "order": ("put some first", _order),
    "versions": ("what one was before", _versions),
    "diff": ("what two versions of one have different", _diff),
    "restore": ("write an older version anew, also of one that was removed", _restore),
    "remove": ("take one away; its versions stay", _remove),
    "preview": ("the whole of what a model is told first, with its tokens", _preview),
    "templates": ("starting points", no_arguments),
    "export": ("write all of them as Markdown", _export),
    "import": ("take Markdown in, switched off until you have read it", _import),
}


def _configure(parser: ArgumentParser) -> None:
    add_actions(parser, "action", _ACTIONS)


def _directives(invocation: Invocation, arguments: Namespace) -> int:
    from stead.cli import directive_reading, directive_writing

    action = arguments.action or "list"
    does = {**directive_reading.ACTIONS, **directive_writing.ACTIONS}[action]
    return does(invocation, arguments)


COMMANDS = {"directives": Command(_configure, _directives)}
