"""What a session is called, its tags, the archive, its goal, and messages that wait: shown and changed.

Layer: cli. The same for an objective and an interactive session, but for the goal.
"""

from __future__ import annotations

from argparse import Namespace

from stead.cli.finding import find_folder
from stead.cli.forms import OBJECTIVE, SESSION, Act, Argument, Listing, Row, arg, number
from stead.cli.invocation import CommandError, Invocation
from stead.cli.memory_lines import day
from stead.cli.session_control import ONE, UNDELETE
from stead.cli.templates import fill
from stead.client import Json

_LABELS = f"{ONE}/labels"


def _tag(invocation: Invocation, arguments: Namespace) -> int:
    client, typed = invocation.client, dict.fromkeys(arguments.tags)
    old = client.get(fill(ONE, vars(arguments)))["tags"]
    left = [tag for tag in old if not arguments.remove or (typed and tag not in typed)]
    tags = left if arguments.remove else [*dict.fromkeys((*old, *typed))]
    answer: Json = {"id": arguments.id, "tags": tags}
    if tags != old:
        answer = client.put(fill(_LABELS, vars(arguments)), {"tags": tags}) | answer
    return invocation.report(answer, fill("{id} has the tags {tags:400|none}.", answer))


def _change(invocation: Invocation, arguments: Namespace, text: str, said: str) -> int:
    """Put ``text`` in place of a message that waits: the one of the number, else the newest."""
    client, path = invocation.client, fill(f"{ONE}/waiting", vars(arguments))
    wanted = arguments.number or max((row["message"] for row in client.items(path)), default=0)
    if not wanted:
        raise CommandError("no message waits", fill("stead show {id}", vars(arguments)), code="conflict")
    return invocation.report(client.put(f"{path}/{wanted}", {"text": text}), fill(said, {"number": wanted}))


def _withdraw(invocation: Invocation, arguments: Namespace) -> int:
    return _change(invocation, arguments, "", "Message {number} is withdrawn; the record keeps it.")


def _reword(invocation: Invocation, arguments: Namespace) -> int:
    if not arguments.text.strip():
        raise CommandError("the message is empty", "stead withdraw ID")
    return _change(
        invocation, arguments, arguments.text, "Message {number} is changed; the record keeps its old words."
    )


def _put_away(archived: bool) -> Act:
    done = "{id} is in the archive; list it with --archived yes." if archived else "{id} is out of the archive."
    return Act(f"PUT {_LABELS}", done, lambda _: {"archived": archived})


def _rows(one: Argument) -> dict[str, Row]:
    title = Act(f"PUT {_LABELS}", "{id} is renamed.", lambda given: {"title": given.title})
    return {
        "rename": ("give it another title", (one, arg("title TITLE", "up to 80 characters")), title),
        "tag": ("show its tags, add some or take some away", (one, _TAGS, _REMOVE), _tag),
        "archive": ("leave it out of lists; all of it stays", (one,), _put_away(archived=True)),
        "unarchive": ("take it out of the archive", (one,), _put_away(archived=False)),
        "undelete": ("take it out of the trash, where it is kept for 30 days", (one,), UNDELETE),
        "waiting": ("list your messages that no model has read yet", (one,), _WAITING),
        "withdraw": ("take back a message that waits", (one, _NUMBER), _withdraw),
        "reword": ("change a message that waits", (one, arg("text TEXT", "in its place"), _NUMBER), _reword),
    }


FILTERS = (
    arg("--dir DIR", "of this folder alone", find_folder, dest="directory"),
    arg("--tag TAG", "that have it"),
    day("--since DATE", "opened on this day or later, YYYY-MM-DD", dest="since_ms"),
    day("--until DATE", "opened on this day or before", end=True, dest="until_ms"),
    arg("--archived WHICH", "the archive or the trash", choices=("no", "yes", "trash", "any"), default="no"),
)
QUERY = ("directory", "tag", "since_ms", "until_ms", "archived")
_TAGS = arg("[tags TAG...]", "without spaces and commas")
_REMOVE = arg("--remove", "take these away; with none named, all of them")
_NUMBER = number("--number N", 0, "of the message, as `waiting` lists it (else the newest)", least=0)
_WAITING = Listing(f"{ONE}/waiting", "NUMBER: {message} | TEXT: {text:100}", "No message waits.")
_GOAL = Act(f"PUT {ONE}/goal", "The goal is changed; the record keeps the old one.", lambda given: {"goal": given.goal})
SESSION_ROWS = _rows(SESSION)
LABEL_ROWS = {**_rows(OBJECTIVE), "goal": ("", (OBJECTIVE, arg("goal GOAL", "in place of the old one")), _GOAL)}
