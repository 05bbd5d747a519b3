"""``memory``: what is remembered, told to models, put right and forgotten; every command of it, and where it is done.

Layer: cli. What a command does is imported when it is called, and not before.
"""

from __future__ import annotations

from argparse import ArgumentParser, BooleanOptionalAction, Namespace

from stead.cli.invocation import Command, Invocation, add_actions, add_yes_option, no_arguments

KINDS = ("knowledge", "preference", "pattern", "context", "skill", "correction", "person", "procedure")
STATUSES = ("live", "superseded", "expired", "retired")
ORIGINS = ("user_said", "tool", "inferred", "imported", "file_edit")
_ID = "of the memory, or its beginning"
_IDS = "of memories, or their beginnings"
_DIR = "this folder's memory"


def _id_alone(parser: ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help=_ID)


def _ids(parser: ArgumentParser) -> None:
    parser.add_argument("ids", nargs="+", metavar="ID", help=_IDS)


def _choices(parser: ArgumentParser, name: str, choices: tuple[str, ...], explanation: str) -> None:
    # The choices stand in the help as a word: a list of eight would be the longest line of it.
    metavar = name.removeprefix("--").upper()
    text = f"{explanation}: {', '.join(choices)}; repeatable"
    parser.add_argument(name, action="append", default=[], choices=choices, metavar=metavar, help=text)


def _place(parser: ArgumentParser) -> None:
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--dir", default="", metavar="DIR", help=f"{_DIR} alone (else every one's)")
    where.add_argument("--everywhere", action="store_true", help="what holds in every folder alone")


def _scope(parser: ArgumentParser) -> None:
    parser.add_argument("--dir", default="", metavar="DIR", help="told in sessions of this folder alone (else in all)")
    parser.add_argument(
        "--private", action="store_true", help="never told in objectives; for the current folder, or --dir"
    )


def _list(parser: ArgumentParser) -> None:
    parser.add_argument("--words", default="", metavar="WORDS", help="that have these words")
    _choices(parser, "--kind", KINDS, "of this kind")
    _choices(parser, "--status", STATUSES, "that stand so (else live)")
    _choices(parser, "--origin", ORIGINS, "that come from there")
    _place(parser)
    parser.add_argument("--pinned", action="store_true", help="the pinned alone")
    parser.add_argument("-n", "--limit", type=int, default=50, metavar="N", help="how many (50)")
    parser.add_argument("--all", action="store_true", help="every one")


def _add(parser: ArgumentParser) -> None:
    parser.add_argument("text", nargs="+", metavar="TEXT", help='one statement; "-" reads several, one a line')
    parser.add_argument("--kind", choices=KINDS, default="knowledge", metavar="KIND", help=", ".join(KINDS))
    parser.add_argument("--key", default="", metavar="KEY", help="what it is about, such as person.timezone")
    parser.add_argument("--value", default="", metavar="VALUE", help="what stands at the key, in a word")
    parser.add_argument("--alias", action="append", default=[], metavar="NAME", help="a name for it; repeatable")
    parser.add_argument("--pin", action="store_true", help="always told, never fades")
    parser.add_argument("--standing", action="store_true", help="an instruction for how to work: always told")
    parser.add_argument("--days", type=int, default=0, metavar="N", help="dropped after so many days (else never)")
    parser.add_argument(
        "--since", default="", metavar="DATE", help="it holds since then, YYYY-MM-DD (else from now on)"
    )
    _scope(parser)


def _correct(parser: ArgumentParser) -> None:
    _id_alone(parser)
    parser.add_argument("text", nargs="*", metavar="TEXT", help='the new words (else your editor); "-": stdin')
    parser.add_argument("--value", default="", metavar="VALUE", help="what stands at its key now")
    parser.add_argument("--since", default="", metavar="DATE", help="they hold since then (else from now on)")
    parser.add_argument("--was-wrong", action="store_true", help="the old words never held, not even then")


def _mark(parser: ArgumentParser) -> None:
    _ids(parser)
    parser.add_argument("--kind", choices=KINDS, default=None, metavar="KIND", help=", ".join(KINDS))
    parser.add_argument("--key", default=None, metavar="KEY", help='"" for none')
    parser.add_argument("--alias", action="append", default=None, metavar="NAME", help="in place of its; repeatable")
    parser.add_argument("--confidence", type=float, default=None, metavar="X", help="0 to 1")
    parser.add_argument("--days", type=int, default=None, metavar="N", help="dropped after so many; 0 for never")
    parser.add_argument("--standing", action=BooleanOptionalAction, default=None, help="an instruction, always told")


def _recall(parser: ArgumentParser) -> None:
    parser.add_argument("query", nargs="+", metavar="QUERY", help="words, or a question")
    parser.add_argument("--dir", default="", metavar="DIR", help="as a session of this folder (else of none)")
    parser.add_argument("--objective", action="store_true", help="as an objective: without what is private")
    parser.add_argument("--as-of", default="", metavar="DATE", help="as it was in the world at the end of that day")
    parser.add_argument("--known", default="", metavar="DATE", help="as it was remembered at the end of that day")
    _choices(parser, "--kind", KINDS, "memories of this kind")
    _choices(parser, "--source", ("memory", "chat", "talk"), "only from there")
    parser.add_argument("--untrusted", action="store_true", help="also what strangers' words made")
    parser.add_argument("--superseded", action="store_true", help="also what no longer holds")
    parser.add_argument("--why", action="store_true", help="what each was found by, and how much that weighed")
    parser.add_argument("-n", "--limit", type=int, default=10, metavar="N", help="hits at most (10)")


def _forget(parser: ArgumentParser) -> None:
    what = 'ids of memories (m_…), or words wherever they stand; "-" reads the words from standard input'
    parser.add_argument("what", nargs="*", metavar="WHAT", help=what)
    parser.add_argument("--event", action="append", type=int, default=[], metavar="N", help="this event; repeatable")
    match = parser.add_mutually_exclusive_group()
    match.add_argument("--exact", action="store_true", help="large and small letters differ")
    match.add_argument("--nearly", action="store_true", help="show what nearly says so, and choose")
    add_yes_option(parser)
    parser.add_argument("--receipt", default="", metavar="FILE", help="write the receipt there")


def _verify(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help='receipts as JSON, a line each; "-" reads standard input')
    parser.add_argument("--key", default="", metavar="HEX", help="the public key (else the one of this home)")


def _export(parser: ArgumentParser) -> None:
    parser.add_argument("file", nargs="?", default="", metavar="FILE", help="a new file (else standard output)")
    form = "jsonl is had back whole, markdown is to be read (jsonl)"
    parser.add_argument("--format", choices=("jsonl", "markdown"), default="jsonl", help=form)
    _place(parser)


def _import(parser: ArgumentParser) -> None:
    parser.add_argument(
        "files", nargs="+", metavar="FILE", help="CLAUDE.md, MEMORY.md, an export (.jsonl), mem0's JSON"
    )
    _scope(parser)


def _proposals(parser: ArgumentParser) -> None:
    parser.add_argument("--all", action="store_true", help="also those that you answered")


def _proposal_ids(parser: ArgumentParser) -> None:
    parser.add_argument("ids", nargs="+", metavar="PROPOSAL", help="ids, or their beginnings")


def _runs(parser: ArgumentParser) -> None:
    parser.add_argument("-n", "--limit", type=int, default=20, metavar="N", help="how many (20)")


def _run(parser: ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN", help="its id, or the beginning")


def _revert(parser: ArgumentParser) -> None:
    _run(parser)
    add_yes_option(parser)


def _journal(parser: ArgumentParser) -> None:
    parser.add_argument("date", nargs="?", default="", metavar="DATE", help="YYYY-MM-DD (else today)")
    parser.add_argument("--dir", default=".", metavar="DIR", help="of this folder (else the current one)")


def _stats(parser: ArgumentParser) -> None:
    _place(parser)
    parser.add_argument("--days", type=int, default=30, metavar="N", help="growth over so many days (30)")


PARTS = {
    "list": ("list what is remembered (the default)", _list),
    "show": ("show one, the words that it rests on, and what was held before", _id_alone),
    "add": ("have something remembered", _add),
    "correct": ("put other words in its place; the past keeps the old ones", _correct),
    "pin": ("always tell them", _ids),
    "unpin": ("tell them only where they are of use", _ids),
    "mark": ("change kind, key, names, confidence or how long they last", _mark),
    "retire": ("tell them no longer; they can be had back", _ids),
    "restore": ("have retired ones back", _ids),
    "recall": ("show what a session would be told for these words, and why", _recall),
    "forget": ("forget for good, wherever it stands; there is no way back", _forget),
    "receipts": ("list the proof of what was forgotten", no_arguments),
    "verify": ("check receipts, without a daemon", _verify),
    "export": ("write everything into a file", _export),
    "import": ("take files of other agents in, as a stranger's words", _import),
    "proposals": ("list what would be changed, and only you may", _proposals),
    "accept": ("accept proposals", _proposal_ids),
    "refuse": ("refuse proposals", _proposal_ids),
    "consolidate": ("work what was said into memory now", no_arguments),
    "runs": ("list runs of consolidation", _runs),
    "diff": ("show what one run changed", _run),
    "revert": ("take back what one run changed", _revert),
    "journal": ("read what happened on a day in a folder", _journal),
    "places": ("list where things are remembered", no_arguments),
    "stats": ("show how memory grows, what is used, and how much is junk", _stats),
    "state": ("show whether memory works", no_arguments),
}


def _configure(parser: ArgumentParser) -> None:
    add_actions(parser, "part", PARTS)


def _memory(invocation: Invocation, arguments: Namespace) -> int:
    if not arguments.part:
        arguments = invocation.parser_of("memory").parse_args(["list"], arguments)
    match arguments.part:
        case "add" | "correct" | "pin" | "unpin" | "mark" | "retire" | "restore":
            from stead.cli.memory_saying import RUN
        case "proposals" | "accept" | "refuse" | "consolidate" | "runs" | "diff" | "revert":
            from stead.cli.memory_runs import RUN
        case "forget" | "receipts" | "verify":
            from stead.cli.memory_forgetting import RUN
        case "export" | "import":
            from stead.cli.memory_files import RUN
        case "journal" | "places" | "stats" | "state":
            from stead.cli.memory_reports import RUN
        case _:
            from stead.cli.memory_reading import RUN
    return RUN[arguments.part](invocation, arguments)


COMMANDS = {"memory": Command(_configure, _memory)}
