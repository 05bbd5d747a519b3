"""``notify``: where you are notified while you look elsewhere.

Layer: cli. Whether a target can be is decided by the daemon.
"""

from __future__ import annotations

from argparse import Namespace

from stead.cli.finding import chats_of, named_one
from stead.cli.forms import YES, Act, Listing, OneOf, Row, arg, family, fields, number
from stead.cli.invocation import CommandError, Invocation
from stead.cli.output import clean_line
from stead.cli.templates import fill
from stead.client import Json

KINDS = ("question", "ended", "turn", "failed", "cap", "schedule")
_PORTS = {"tls": 465, "starttls": 587, "none": 25}


def _row(row: Json) -> Json:
    target = row["target"]
    via = target["via"]
    where = {
        "desktop": "the desktop",
        "mail": f"mail to {', '.join(via.get('to', ()))}",
        "webhook": f"webhook {via.get('url')}",
        "push": f"a browser, by {via.get('service')}",
        "chat": f"a chat of {via.get('channel')}",
    }[via["type"]]
    quiet = (
        f"quiet {target['quiet_from']}-{target['quiet_to']} {target['zone']}".strip() if target["quiet_from"] else ""
    )
    digest = f"digest at {target['digest']}" if target["digest"] else ""
    urgent = "questions at once" if target["urgent"] and (quiet or digest) else ""
    return {
        **row,
        "name": target["name"],
        "where": where,
        "kinds": ", ".join(target["kinds"]),
        "times": "; ".join(filter(None, (quiet, digest, urgent))),
        "state": "off" if not row["on"] else "failing" if row["error"] else "on",
        "wrong": row["why"] or row["error"],
    }


def _via(invocation: Invocation, arguments: Namespace) -> Json:
    if arguments.desktop:
        return {"type": "desktop"}
    if arguments.chat:
        chats = {chat["name"]: chat for chat in chats_of(invocation.client)}
        found = named_one(chats, arguments.chat, f"there is no chat {arguments.chat!r}", "stead channel pair NAME")
        return {"type": "chat", "channel": found["channel"], "chat": found["id"]}
    if arguments.webhook:
        return {"type": "webhook", "url": arguments.webhook, "secret": arguments.secret}
    mail: Json = {"type": "mail", "to": arguments.mail, "host": arguments.host, "user": arguments.user}
    mail |= {"sender": arguments.sender or arguments.user, "secret": arguments.secret, "security": arguments.security}
    return {**mail, "port": arguments.port or _PORTS[arguments.security]}


def _add(invocation: Invocation, arguments: Namespace) -> int:
    quiet = arguments.quiet.partition("-")
    if arguments.quiet and not quiet[2]:
        raise CommandError(f"{arguments.quiet!r} are no hours", "stead notify add NAME ... --quiet 22:00-07:00")
    target: Json = {
        "name": arguments.name,
        "via": _via(invocation, arguments),
        "urgent": arguments.urgent,
        "zone": arguments.zone,
    }
    target |= {"quiet_from": quiet[0], "quiet_to": quiet[2], "digest": arguments.digest}
    target |= {"kinds": list(dict.fromkeys(arguments.tell))} if arguments.tell else {}
    invocation.client.post("/notifications", target)
    row = next(row for row in invocation.client.items("/notifications") if row["target"]["name"] == arguments.name)
    said = fill("{name}: {where:300}\n  tells: {kinds}[\n  {times}]\n  try it: stead notify test {name}", _row(row))
    return invocation.report({"id": arguments.name, **row}, said)


def _tested(tried: Json) -> str:
    how = "a test was sent, and taken" if tried["ok"] else f"failed: {clean_line(tried['text'])}"
    return f"{tried['name']}: {how}"


_NAME = arg("name NAME", "a small letter, then up to 30 of a-z, 0-9 and -")
_ADD = (
    _NAME,
    OneOf(
        arg("--desktop", "this computer's desktop"),
        arg("--webhook URL", "a POST, signed as Standard Webhooks has it; with --secret"),
        arg("--chat CHAT", "a chat that was paired with a channel, by its name"),
        arg("--mail ADDRESS...", "mail to this address; with --host"),
        required=True,
    ),
    arg("--secret S", "name of the vault's secret that signs (whsec_...), or is the mail server's password"),
    arg("--host HOST", "the mail server"),
    number("--port N", 0, "of the mail server (465; 587 for starttls)", most=65535),
    arg("--security HOW", "of the mail server's connection", choices=tuple(_PORTS), default="tls"),
    arg("--user USER", "at the mail server"),
    arg("--from ADDRESS", "the address that mail comes from (else USER)", dest="sender"),
    arg("--tell KIND...", "what is sent there (all but turn)", choices=KINDS),
    arg("--quiet HOURS", "as 22:00-07:00: what happens then comes together at their end"),
    arg("--digest TIME", "everything comes together, at this time of day"),
    arg("--urgent", "questions come at once all the same"),
    arg("--zone ZONE", "whose clocks count, such as Europe/Berlin (yours)"),
)
_TEST = Act("POST /notifications/{name}/test", _tested, timeout_s=60, tests=True)
_ROWS: dict[str, Row] = {
    "list": (
        "show targets, and how each stands (the default)",
        (),
        Listing(
            "/notifications",
            "NAME: {name} | TO: {where:50} | STATE: {state} | WAITING: {waiting:number} | GIVEN UP: {lost:number}"
            " | LAST: {sent_ms:age|never} | TELLS: {kinds:60} | TIMES: {times} | WHY: {wrong:400}",
            "You are notified nowhere. Add a target: stead notify add screen --desktop",
            view=_row,
        ),
    ),
    "add": ("add a target, or change one of this name", _ADD, _add),
    "test": ("send one real message now", (_NAME,), _TEST),
    "on": (
        "tell things there again, from now on",
        (_NAME,),
        Act("POST /notifications/{name}/switch", "{name} is on.", fields(on=True)),
    ),
    "off": (
        "tell nothing there; what waits is dropped",
        (_NAME,),
        Act("POST /notifications/{name}/switch", "{name} is off. On again: stead notify on {name}", fields(on=False)),
    ),
    "remove": (
        "forget a target, and what waits for it",
        (_NAME, YES),
        Act("DELETE /notifications/{name}", "{name} is removed.", confirm="The target {name} is forgotten."),
    ),
}
COMMANDS = {"notify": family("notify", _ROWS, "list")}
