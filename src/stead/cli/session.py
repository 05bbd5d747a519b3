"""``session``: work with the model at one desk, turn by turn; every command of it, and where it is done.

Layer: cli. What a command does is imported when it is called, and not before.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from stead.cli.invocation import Command, Invocation, add_actions, add_verbose_option, add_yes_option
from stead.cli.work_options import add_work_options

_ID = "of the session, or its beginning"
_KEY = "of the call, such as call_2_0"


def _id_alone(parser: ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help=_ID)


def _new(parser: ArgumentParser) -> None:
    parser.add_argument("directory", nargs="?", default=".", metavar="DIR", help="the folder (else the current one)")
    parser.add_argument("-m", "--message", default="", metavar="TEXT", help="say this first, and watch what follows")
    add_work_options(parser)
    add_verbose_option(parser)
    parser.add_argument(
        "--ignore", action="append", default=[], metavar="PATTERN", help="left out of checkpoints; repeatable"
    )


def _list(parser: ArgumentParser) -> None:
    parser.add_argument("--all", action="store_true", help="every one, not only the newest 20")


def _attach(parser: ArgumentParser) -> None:
    _id_alone(parser)
    parser.add_argument("--all", action="store_true", help="tell everything from its first event, not the last turn")
    parser.add_argument("--wait", action="store_true", help="without a terminal: wait for answers given elsewhere")
    add_verbose_option(parser)


def _send(parser: ArgumentParser) -> None:
    _id_alone(parser)
    parser.add_argument("text", metavar="TEXT", help='what to say; "-" reads it from standard input')
    parser.add_argument("--interrupt", action="store_true", help="cut off what is under way")
    parser.add_argument("--wait", action="store_true", help="show what follows until the turn has ended")
    add_verbose_option(parser)


def _diff(parser: ArgumentParser) -> None:
    _id_alone(parser)
    parser.add_argument("--old", default="", metavar="K", help="a checkpoint (else the first one)")
    parser.add_argument("--new", default="", metavar="K", help="another (else the folder as it is now)")
    parser.add_argument("--stat", action="store_true", help="only the figures, without the lines")


def _changes(parser: ArgumentParser) -> None:
    _id_alone(parser)
    parser.add_argument("key", nargs="?", default="", metavar="KEY", help=f"{_KEY}: show its changes line by line")


def _undo(parser: ArgumentParser) -> None:
    _id_alone(parser)
    parser.add_argument("key", metavar="KEY", help=_KEY)
    parser.add_argument("--path", default="", metavar="P", help="which file, if the call changed several")
    parser.add_argument("--again", action="store_true", help="make the change again after all")


def _checkpoint(parser: ArgumentParser) -> None:
    _id_alone(parser)
    parser.add_argument("--note", default="", metavar="TEXT", help="what it is for")
    parser.add_argument("--list", action="store_true", help="list those that there are, and take none")


def _restore(parser: ArgumentParser) -> None:
    _id_alone(parser)
    parser.add_argument("checkpoint", metavar="CHECKPOINT", help="its id, or the beginning of it")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--files", action="store_true", help="the files alone")
    what.add_argument("--conversation", action="store_true", help="the conversation alone")
    parser.add_argument(
        "--path", action="append", default=[], metavar="P", help="this file or folder alone; repeatable"
    )
    add_yes_option(parser)


def _fork(parser: ArgumentParser) -> None:
    _id_alone(parser)
    parser.add_argument("--at", type=int, default=0, metavar="N", help="the last event that it knows (else the newest)")
    parser.add_argument(
        "--into", default="", metavar="DIR", help="an empty folder, which gets the files (else the same)"
    )
    parser.add_argument("--title", default="", metavar="T", help="a name for lists")


def _call(parser: ArgumentParser) -> None:
    parser.add_argument("action", choices=("edit", "cancel", "retry"), help="run it otherwise, not at all, or again")
    _id_alone(parser)
    parser.add_argument("key", metavar="KEY", help=_KEY)
    parser.add_argument(
        "arguments", nargs="?", default="", metavar="JSON", help='of edit (else your editor); "-": stdin'
    )
    parser.add_argument("--reason", default="", metavar="TEXT", help="of cancel; the model reads it")


def _plan(parser: ArgumentParser) -> None:
    _id_alone(parser)
    parser.add_argument("--set", default="", metavar="FILE", help='put another in place, a line a step; "-": stdin')


def _budget(parser: ArgumentParser) -> None:
    _id_alone(parser)
    parser.add_argument("--tokens", default="", metavar="N", help='in all, or "unlimited"')
    parser.add_argument("--usd", default="", metavar="X", help='in all, or "unlimited"')


def _stop(parser: ArgumentParser) -> None:
    _id_alone(parser)
    parser.add_argument("--why", default="", metavar="TEXT", help="recorded with the stop")


def _delete(parser: ArgumentParser) -> None:
    _id_alone(parser)
    add_yes_option(parser)


def _export(parser: ArgumentParser) -> None:
    _id_alone(parser)
    parser.add_argument("--output", default="", metavar="FILE", help="a new file (else standard output)")


PARTS = {
    "new": ("sit down to work in a folder", _new),
    "list": ("list sessions (the default)", _list),
    "show": ("show how one stands: its last words, plan and open calls", _id_alone),
    "attach": ("watch it live, answer it and say something to it", _attach),
    "send": ("say something to it", _send),
    "diff": ("show what differs in its folder since it began, whoever changed it", _diff),
    "changes": ("list what its calls changed by name, or show one line by line", _changes),
    "undo": ("put a file back to what it was before a call changed it", _undo),
    "checkpoint": ("keep files and conversation as they are now, or list what is kept", _checkpoint),
    "restore": ("go back to a checkpoint, which can be undone", _restore),
    "fork": ("open another session that goes on from a moment of this one", _fork),
    "context": ("show what the next request carries, and what that costs", _id_alone),
    "calls": ("list the queue of calls", _id_alone),
    "call": ("edit, cancel or retry one call", _call),
    "plan": ("show or set the plan", _plan),
    "budget": ("show or set what it may spend in all", _budget),
    "pause": ("let what is under way finish, then hold", _id_alone),
    "resume": ("go on", _id_alone),
    "stop": ("kill what is under way at once, and hold", _stop),
    "close": ("put it away; its next message opens it again", _id_alone),
    "delete": ("erase a closed one for good", _delete),
    "export": ("write it down as Markdown", _export),
}


def _configure(parser: ArgumentParser) -> None:
    # For who parses a command on a person's behalf while they sit at a session: it may not import this module.
    parser.set_defaults(carry_out=run, names=tuple(PARTS))
    add_actions(parser, "part", PARTS)


def run(invocation: Invocation, arguments: Namespace) -> int:
    """Carry out one command of ``stead session``; gives the exit code."""
    name = arguments.part or "list"
    match name:
        case "new" | "attach" | "send" | "pause" | "resume" | "stop" | "close" | "delete":
            from stead.cli.session_talking import RUN
        case "diff" | "changes" | "undo" | "checkpoint" | "restore" | "fork":
            from stead.cli.session_files import RUN
        case "calls" | "call" | "plan" | "budget":
            from stead.cli.session_work import RUN
        case _:
            from stead.cli.session_reading import RUN
    return RUN[name](invocation, arguments)


COMMANDS = {"session": Command(_configure, run)}
