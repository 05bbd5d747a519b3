"""``up``, ``down`` and ``open``: the daemon's life, and the way into its page.

Layer: cli.
"""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from typing import TYPE_CHECKING

from stead.cli.forms import arg, command
from stead.cli.invocation import FAILED, OK, UNREACHABLE, CommandError, Invocation
from stead.cli.output import clean_line
from stead.cli.rules_history import otherwise, tried
from stead.cli.starting import Waiting, answering, daemon_command, is_held, start
from stead.cli.status import model_line
from stead.cli.templates import fill
from stead.client import Json, NoDaemon, find_address, is_alive

if TYPE_CHECKING:
    from stead.config import Home

STOP_TIMEOUT_S = 10.0
FIRST_TASK = 'run "read README.md and write SUMMARY.md with its headings"'


def _up(invocation: Invocation, arguments: Namespace) -> int:
    running = answering(invocation)
    if arguments.foreground:
        if running:
            cause = f"a daemon (process {invocation.client.address.pid}) serves this home already"
            raise CommandError(cause, "stead down", exit_code=FAILED)
        invocation.home.make()
        sys.stdout.flush()
        os.execv(sys.executable, daemon_command(invocation))  # noqa: S606 - our own interpreter and module, no shell
    renewed = running and invocation.client.outdated and _renewed(invocation)
    running = running and not renewed
    if not running:
        start(invocation)
    if renewed and (found := tried(invocation, {})):
        said = "note: of your last {verdicts:#verdict}, this version gives {otherwise:number} otherwise."
        invocation.out.note(fill(said, found | {"otherwise": otherwise(found)}))
    _introduce(invocation, running)
    return OK


def ensure_current(invocation: Invocation) -> None:
    """Start the daemon where none runs; start it again where it runs the code of before an update, and rests.

    Raises:
        CommandError: it cannot be started, or something is under way in it.
    """
    if answering(invocation):
        if not invocation.client.outdated:
            return
        if not _renewed(invocation):
            raise CommandError("something is under way in it", "stead up, when that rests", exit_code=FAILED)
    start(invocation)


def _renewed(invocation: Invocation) -> bool:
    """End a daemon that runs code from before an update, unless something is under way; whether it was ended."""
    if invocation.client.get("/status")["live_sessions"]:
        said = "note: Stead was updated, and the daemon still runs the code of before, as something is under way in it."
        invocation.out.note(f"{said} Renew it when that rests: stead up; or at once: stead down && stead up")
        return False
    end(invocation)
    invocation.out.note("Stead was updated; the daemon is started again with the code of now.")
    return True


def _introduce(invocation: Invocation, running: bool) -> None:
    """Say that it runs, where its page is, what the recovery key is (once), and what to do next."""
    client, out = invocation.client, invocation.out
    status = client.get("/status")
    link = client.post("/sign-in-codes")["url"]
    recovery = invocation.home.run / "recovery.txt"
    recovery_key = recovery.read_text("utf-8").strip() if recovery.exists() else ""
    following = f"{_program()} {FIRST_TASK}"
    if out.as_json:
        facts: Json = {"already_running": running, "pid": client.address.pid, "port": client.address.port, "url": link}
        facts |= {
            "service": client.address.service,
            "version": status["version"],
            "rehearsal": status["rehearsal"],
            "next": following,
        }
        out.json(facts | ({"recovery_key": recovery_key} if recovery_key else {}))
    else:
        state, by = "is already running" if running else "is running", client.address.service
        service = f", by the service {clean_line(by)}" if by else ""
        out.line(f"Stead {clean_line(status['version'])} {state} (pid {client.address.pid}{service}).")
        out.pairs([("model", model_line(status)), ("page", out.style(clean_line(link), "cyan"))])
        out.line("      signs this browser in; once, within ten minutes; another link: stead open --print")
        if recovery_key:
            out.line()
            out.line(
                "Recovery key: the only way into your data should the key file be lost. Shown this once; keep it safe."
            )
            out.line(f"  {out.style(clean_line(recovery_key), 'bold')}")
        out.line()
        out.line("Try it in any folder:")
        out.line(f"  {following}")
    sys.stdout.flush()
    recovery.unlink(missing_ok=True)  # only once it has been shown


def _program() -> str:
    """What a person types for this program: its name where that finds it, else the way to it, as in a fresh clone."""
    import shlex
    import shutil

    script = os.path.join(os.path.dirname(sys.executable), "stead")
    if not os.path.exists(script):
        return f"{shlex.quote(sys.executable)} -m stead"
    named = shutil.which("stead")
    return "stead" if named and os.path.samefile(named, script) else shlex.quote(script)


def _down(invocation: Invocation, arguments: Namespace) -> int:
    from stead.cli.own_service import installed

    said = "Stead is not running."
    if pid := end(invocation):
        said = "Stead has stopped. Objectives under way go on at the next: stead up"
    if service := installed(invocation.home):
        said += f"\nThe service {service.name} starts it with the system; for good: stead service uninstall"
    return invocation.report({"stopped": bool(pid), "pid": pid}, said)


def end(invocation: Invocation) -> int:
    """End the daemon and wait until it has left; gives its process, 0 where none runs.

    Raises:
        CommandError: it does not answer, or does not leave within ``STOP_TIMEOUT_S``.
    """
    try:
        address = find_address(invocation.home)
    except NoDaemon:
        return 0
    try:
        invocation.client.post("/shutdown", timeout_s=STOP_TIMEOUT_S)
    except NoDaemon as error:
        if is_alive(address.pid):
            raise CommandError(
                f"process {address.pid} does not answer: {error.message}",
                f"see: stead logs; if ps -p {address.pid} shows Stead's daemon, end it with kill",
                exit_code=UNREACHABLE,
                code="no_daemon",
            ) from error
    waiting = Waiting(invocation, f"process {address.pid} to leave")
    while is_held(invocation.home):  # its address goes first, and nobody can serve the home until the lock does
        if waiting.elapsed_s > STOP_TIMEOUT_S:
            cause = f"process {address.pid} has not left within {STOP_TIMEOUT_S:g} s"
            raise CommandError(cause, "stead logs", exit_code=FAILED, code="timeout")
        waiting.tick()
    return address.pid


def _open(invocation: Invocation, arguments: Namespace) -> int:
    client, out = invocation.client, invocation.out
    link: str = client.post("/sign-in-codes", {"plain_host": True} if arguments.plain_host else None)["url"]
    if arguments.plain_host:
        out.note("warning: at 127.0.0.1, every server on this machine that you visit is sent the page's cookie")
    opened = not arguments.print and open_browser(invocation.home, link)
    if out.as_json:
        out.json({"url": link, "opened": opened})
    elif opened:
        out.line("Opened the page in your browser. Should it not appear: stead open --print")
    else:
        if not arguments.print:
            out.note("no browser could be opened here; open this link yourself, within ten minutes:")
        out.line(clean_line(link))
    return OK


def open_browser(home: Home, link: str) -> bool:
    """Open the link by way of a file that only this account can read.

    A browser's command line can be read by every account of the machine, and the first to use the code is signed in.
    """
    import webbrowser

    page = home.run / "open.html"
    page.unlink(missing_ok=True)
    with open(os.open(page, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(
            f'<!doctype html><meta http-equiv="refresh" content="0;url={link}"><a href="{link}">Open the page</a>\n'
        )
    try:
        return webbrowser.open(page.as_uri())
    except (webbrowser.Error, OSError):
        return False


_PLAIN_HOST = "use 127.0.0.1, where the page's own name does not resolve; other local servers then see its cookie"
COMMANDS = {
    "up": command(_up, arg("--foreground", "stay in this terminal, for a service manager")),
    "down": command(_down),
    "open": command(_open, arg("--print", "print the link and open nothing"), arg("--plain-host", _PLAIN_HOST)),
}
