"""Sitting down, saying something, watching, and holding or ending a session.

Layer: cli.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable
from functools import partial

from stead.cli.finding import find_session
from stead.cli.invocation import CommandError, Invocation
from stead.cli.output import clean_line
from stead.client import Json

_LIMIT_BYTES = 1_000_000
_TOGETHER = 4
"""Events of one command at most."""


def read_text(typed: str, what: str) -> str:
    """What was typed, or for "-" what standard input has: not empty, under 1 MB.

    Raises:
        CommandError: it is not; ``what`` names it.
    """
    if typed == "-":
        typed = sys.stdin.buffer.read(_LIMIT_BYTES + 1).decode("utf-8", "replace")
    if not typed.strip():
        raise CommandError(f"the {what} is empty", "say what there is to say")
    if len(typed.encode("utf-8", "surrogateescape")) >= _LIMIT_BYTES:
        raise CommandError(f"the {what} has 1 MB or more", "put long material into a file of the folder and name it")
    return typed


def _new(invocation: Invocation, arguments: Namespace) -> int:
    from stead.cli.budgets import SESSION_BUDGET
    from stead.cli.starting import ensure_daemon
    from stead.cli.work_options import folder_of, work_fields

    body = {"directory": folder_of(arguments.directory, "stead session new DIR")}
    body |= work_fields(arguments, SESSION_BUDGET)
    if arguments.ignore:
        body["ignore"] = arguments.ignore
    message = read_text(arguments.message, "message") if arguments.message else ""
    client, out = ensure_daemon(invocation), invocation.out
    answer = client.post("/sessions", body)
    session: str = answer["session"]
    if answer["text"]:
        out.note(f"note: {clean_line(answer['text'])}")
    if message:
        invocation.report(
            {"type": "started", "id": session}, out.style(f"{session} in {clean_line(body['directory'])}", "bold")
        )
        return _say_and_watch(invocation, session, message, interrupt=False, stay=True)
    text = f"{session} is open in {clean_line(body['directory'])}\nsit down:  stead session attach {session}"
    return invocation.report(answer, f'{text}\nor:        stead session send {session} "what to do" --wait')


def _send(invocation: Invocation, arguments: Namespace) -> int:
    text = read_text(arguments.text, "message")
    session = find_session(invocation.client, arguments.id)
    if arguments.wait:
        return _say_and_watch(invocation, session, text, interrupt=arguments.interrupt, stay=False)
    body = {"text": text, "interrupt": arguments.interrupt}
    answer = invocation.client.post(f"/sessions/{session}/messages", body)
    return invocation.report(answer, f"Sent. Watch what it does: stead session attach {session}")


def _say_and_watch(invocation: Invocation, session: str, text: str, *, interrupt: bool, stay: bool) -> int:
    from stead.cli.session_watching import SessionWatch

    answer = invocation.client.post(f"/sessions/{session}/messages", {"text": text, "interrupt": interrupt})
    since = _before(invocation, answer)
    if stay and invocation.interactive:
        from stead.cli.session_attaching import Desk

        return Desk(invocation, session, since=since).follow()
    return SessionWatch(invocation, session, since=since).follow()


def _before(invocation: Invocation, answer: Json) -> int:
    """The event after which everything is of these words: what the model was told of memory stands before them."""
    page = invocation.client.get("/events", after=max(answer["seq"] - _TOGETHER, 0), streams=answer["session"])
    mine = [event["seq"] for event in page["items"] if event["cause"] == answer["command"]]
    return int(min([answer["seq"], *mine])) - 1


def _attach(invocation: Invocation, arguments: Namespace) -> int:
    session = find_session(invocation.client, arguments.id)
    row = invocation.client.get(f"/sessions/{session}")  # one that there is not has no events to wait for
    if row["kind"] != "session":
        raise CommandError(f"{session} is an objective, which works alone", f"stead watch {session}")
    return attach(invocation, session, wait=arguments.wait, whole=arguments.all)


def attach(invocation: Invocation, session: str, *, wait: bool, whole: bool) -> int:
    """Sit down at a session, or without a terminal follow it to the end of its turn; gives the exit code."""
    if invocation.interactive:
        from stead.cli.session_attaching import Desk

        return Desk(invocation, session, whole=whole).follow()
    from stead.cli.session_watching import SessionWatch

    return SessionWatch(invocation, session, wait=wait, whole=whole).follow()


def _act(action: str, done: str, invocation: Invocation, arguments: Namespace) -> int:
    session = find_session(invocation.client, arguments.id)
    body: Json = {"why": arguments.why} if action == "stop" else {}
    return invocation.report(invocation.client.post(f"/sessions/{session}/{action}", body), done.format(id=session))


def _delete(invocation: Invocation, arguments: Namespace) -> int:
    session = find_session(invocation.client, arguments.id)
    title = clean_line(invocation.client.get(f"/sessions/{session}")["title"], 80)
    text = "What was said and done in it is erased for good, its checkpoints too; your folder stays as it is."
    invocation.confirm("delete", f"{session}: {title}\n{text}", yes=arguments.yes)
    return invocation.report(invocation.client.post(f"/sessions/{session}/delete"), f"{session} is deleted.")


_PAUSED = "{id} holds after the step under way. Go on with: stead session resume {id}"
_STOPPED = "Stopped {id}: its processes are killed and it holds. Go on with: stead session resume {id}"
RUN: dict[str, Callable[[Invocation, Namespace], int]] = {
    "new": _new,
    "send": _send,
    "attach": _attach,
    "pause": partial(_act, "pause", _PAUSED),
    "resume": partial(_act, "resume", "{id} goes on. Watch it: stead session attach {id}"),
    "stop": partial(_act, "stop", _STOPPED),
    "close": partial(_act, "close", "{id} is put away. A message opens it again: stead session send {id} TEXT"),
    "delete": _delete,
}
