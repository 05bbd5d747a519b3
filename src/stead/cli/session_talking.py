"""Opening a session, saying something to it, watching it, and pausing or ending it.

Layer: cli.
"""

from __future__ import annotations

from argparse import Namespace

from stead.cli.attachments import ATTACH, attached
from stead.cli.finding import find_session
from stead.cli.forms import SESSION, Act, Row, arg
from stead.cli.invocation import CommandError, Invocation
from stead.cli.output import clean, clean_line
from stead.cli.session_control import DELETING, ONE, PAUSE, RESUME, STOP, TO_MODEL, WHY, delete
from stead.cli.spending import SESSION_BUDGET
from stead.cli.templates import fill
from stead.cli.text_input import read_text
from stead.cli.work_options import VERBOSE, WAIT, WORK, folder_of, note_history, note_unseen_keys, work_fields
from stead.client import Json

_TOGETHER = 4
"""Events of one command at most."""


def open_session(invocation: Invocation, directory: str, arguments: Namespace) -> Json:
    """Open a session with the options of ``OPENED``; gives the daemon's answer."""
    body: Json = {"directory": directory} | work_fields(arguments, SESSION_BUDGET)
    if arguments.ignore:
        body["ignore"] = arguments.ignore
    note_unseen_keys(invocation)
    note_history(invocation, arguments)
    answer = invocation.client.post("/sessions", body)
    if answer["text"]:
        invocation.out.note(fill("note: {text}", answer))
    return answer


def _new(invocation: Invocation, arguments: Namespace) -> int:
    directory = folder_of(arguments.directory, "stead session new DIR")
    message = read_text(arguments.message, "message") if arguments.message else ""
    if arguments.attach and not message:
        raise CommandError("files are attached to a message", "give one with -m TEXT")
    answer = open_session(invocation, directory, arguments)
    session: str = answer["session"]
    place = clean_line(directory)
    if message:
        invocation.report({"type": "started", "id": session}, invocation.out.style(f"{session} in {place}", "bold"))
        words = {"text": message, "interrupt": False} | attached(invocation, arguments.attach)
        return _say_and_watch(invocation, session, words, stay=True)
    said = f"{session} is open in {place}\nwork in it:  stead chat --resume {session}"
    return invocation.report(
        {"id": session, **answer}, f'{said}\nor:          stead session send {session} "what to do" --wait'
    )


def _send(invocation: Invocation, arguments: Namespace) -> int:
    body = {"text": read_text(arguments.text, "message"), "interrupt": arguments.interrupt}
    body |= {"to_model": True} if arguments.to_model else {}
    body |= attached(invocation, arguments.attach)
    if arguments.wait:
        return _say_and_watch(invocation, arguments.id, body, stay=False)
    answer = invocation.client.post(f"/sessions/{arguments.id}/messages", body)
    said = f"Sent. Watch what it does: stead session attach {arguments.id}"
    return invocation.report(answer, clean(answer["text"]) if answer.get("intent") else said)


def _say_and_watch(invocation: Invocation, session: str, body: Json, *, stay: bool) -> int:
    from stead.cli.watching import Watch

    answer = invocation.client.post(f"/sessions/{session}/messages", body)
    if answer.get("intent"):
        return invocation.report(answer, clean(answer["text"]))
    since = _before(invocation, answer)
    if stay and invocation.interactive:
        from stead.cli.chat_session import ChatSession

        return ChatSession(invocation, session, since=since).follow()
    return Watch(invocation, session, since=since).follow()


def _before(invocation: Invocation, answer: Json) -> int:
    """The seq after which the events of these words begin; a recall from memory comes before the words themselves."""
    page = invocation.client.get("/events", after=max(answer["seq"] - _TOGETHER, 0), streams=answer["session"])
    mine = [event["seq"] for event in page["items"] if event["cause"] == answer["command"]]
    return int(min([answer["seq"], *mine])) - 1


def _attach(invocation: Invocation, arguments: Namespace) -> int:
    arguments.id = arguments.id or last_session(invocation, folder_of(".", "stead session attach ID"))
    return attach(invocation, arguments.id, wait=arguments.wait, whole=arguments.all)


def last_session(invocation: Invocation, directory: str) -> str:
    """The id of the session that was used last in a folder, closed ones too.

    Raises:
        CommandError: there is none.
    """
    rows = [row for row in invocation.client.items("/sessions", limit=200) if row["directory"] == directory]
    if not rows:
        raise CommandError(f"there is no session in {clean_line(directory)}", "stead chat", code="not_found")
    return str(max(rows, key=lambda row: row["updated_ms"])["id"])


def attach(invocation: Invocation, session: str, *, wait: bool, whole: bool) -> int:
    """Work in a session at the terminal, or without one follow it to the end of its turn; gives the exit code.

    Raises:
        CommandError: it is an objective.
    """
    row = invocation.client.get(f"/sessions/{session}")  # one that there is not has no events to wait for
    if row["kind"] != "session":
        raise CommandError(f"{session} is an objective, which works alone", f"stead watch {session}")
    if invocation.interactive:
        from stead.cli.chat_session import ChatSession

        return ChatSession(invocation, session, whole=whole).follow()
    from stead.cli.watching import Watch

    return Watch(invocation, session, wait=wait, whole=whole).follow()


_CLOSE = Act(f"POST {ONE}/close", "{id} is closed. A message opens it again: stead session send {id} TEXT")
_COMPACT = Act(f"POST {ONE}/compact", "{id} reads a summary of what is older from the next request on.")
DIRECTORY = arg("[directory DIR]", "the folder (else the current one)", default=".")
OPENED = (*WORK, VERBOSE, arg("--ignore PATTERN...", "left out of checkpoints"))
"""Options of a new session."""
_NEW = (DIRECTORY, arg("-m --message TEXT", "say this first, and watch what follows"), ATTACH, *OPENED)
_LAST = arg("[id ID]", "of the session, or its beginning (else the last one in this folder)", find_session)
_ATTACH = (_LAST, arg("--all", "show everything from its first event, not the last turn"), WAIT, VERBOSE)
_SEND = (
    SESSION,
    arg("text TEXT", 'what to say; "-" reads it from standard input'),
    arg("--interrupt", "cut off what is running"),
    TO_MODEL,
    ATTACH,
    arg("--wait", "show what follows until the turn has ended"),
    VERBOSE,
)
ROWS: dict[str, Row] = {
    "new": ("begin to work in a folder", _NEW, _new),
    "attach": ("watch it live, answer it and say something to it", _ATTACH, _attach),
    "send": ("say something to it", _SEND, _send),
    "pause": ("let the current step finish, then start nothing more", (SESSION,), PAUSE),
    "resume": ("continue a paused one", (SESSION,), RESUME),
    "stop": ("kill what is running at once, and pause", (SESSION, WHY), STOP),
    "compact": ("replace the older part of what the model reads by a summary", (SESSION,), _COMPACT),
    "close": ("close it; its next message opens it again", (SESSION,), _CLOSE),
    "delete": ("put a closed one into the trash for 30 days", (SESSION, *DELETING), delete),
}
