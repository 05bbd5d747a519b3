"""``channel``: bots on messaging platforms, and the chats that are paired with them.

Layer: cli. What a platform asks for is in its manifest, which the daemon gives; whether a channel can be is decided
there. A token comes from a hidden prompt or standard input and goes into the vault; it is never an argument.
"""

from __future__ import annotations

import os
import re
import sys
import time
from argparse import Namespace

from stead.cli import figures
from stead.cli.finding import Kind, chats_of, named_one
from stead.cli.forms import YES, Act, Listing, Row, arg, family, fields
from stead.cli.invocation import FAILED, OK, CommandError, Invocation
from stead.cli.output import clean_line
from stead.cli.spending import BUDGET, SESSION_BUDGET, budget_of
from stead.cli.templates import fill, lines
from stead.cli.text_input import named_values, read_hidden
from stead.cli.work_options import STRICTNESS, folder_of, parse_model
from stead.client import Client, Json

_TOKEN_BYTES = 8000
_TEST_S = 60.0
_LOOK_S = 60.0
"""How often a wait for a pairing says that it goes on."""
_LETTERS = "a small letter, then up to 30 of a-z, 0-9 and -"
_ROLES = ("owner", "member", "guest")


class _Chats(Kind):
    """Chats, which are listed with their channels."""

    __slots__ = ()

    def ids(self, client: Client) -> list[str]:
        """The names of all chats."""
        return [chat["name"] for chat in chats_of(client)]


_channel = Kind("", "channel", "stead channel list", ("/channels",), {}, "channel", "name", "{name}")
_kind = Kind("", "kind of channel", "stead channel kinds", ("/channels/kinds",), {}, "", "kind", "{title}")
_chat = _Chats("", "chat", "stead channel chats", ())


# -- what is shown -----------------------------------------------------------------------------------------------------


def _field_line(field: Json) -> str:
    return fill("{name}{secret? (a token)}[ (else {default})]{needed?: (may be left out)}", field)


def _kind_row(manifest: Json) -> Json:
    asked = ("buttons", "edits", "threads", "answers")
    return {
        **manifest,
        "asks": ", ".join(map(_field_line, manifest["fields"])),
        "lacks": ", ".join(name for name in asked if not manifest[name]),
    }


def _row(row: Json) -> Json:
    chats = row["chats"]
    return {
        **row,
        **row["channel"],
        "count": len(chats),
        "waiting": sum(chat["waiting"] for chat in chats),
        "lost": sum(chat["lost"] for chat in chats),
        "wrong": row["error"] if row["on"] else row["why"],
    }


def _chat_row(row: Json) -> Json:
    chat, rights = row["chat"], row["chat"]["rights"]
    return {
        **row,
        **chat,
        **rights,
        "sort": "one person" if chat["private"] else f"group; others: {rights['others'] or 'not heard'}",
        "who": ", ".join(f"{one['name'] or one['id']} ({one['role']})" for one in chat["people"]),
        "models": ", ".join(f"{one['provider']}/{one['model']}" for one in rights["chain"]),
        "most": (rights["budget"] or {}).get("usd_micros", ""),
    }


def _found(client: Client, name: str) -> Json:
    """The row of a channel."""
    rows = {row["channel"]["name"]: row for row in client.items("/channels")}
    return named_one(rows, name, f"there is no channel {name!r}", f"stead channel add {name} KIND")


def _found_chat(client: Client, arguments: Namespace) -> Json:
    """A chat by its name; of a channel."""
    name, typed = arguments.name, arguments.chat
    chats: dict[str, Json] = {row["chat"]["name"]: row["chat"] for row in _found(client, name)["chats"]}
    return named_one(chats, typed, f"{name!r} has no chat {typed!r}", f"stead channel pair {name} --dir FOLDER")


# -- channels ----------------------------------------------------------------------------------------------------------


def _manifest(client: Client, kind: str) -> Json:
    kinds = {one["kind"]: one for one in client.items("/channels/kinds")}
    if kind not in kinds:
        cause = f"there is no kind of channel {kind!r}" if kind else "say which platform it is on"
        raise CommandError(cause, f"one of: {', '.join(sorted(kinds))}; see: stead channel kinds")
    manifest: Json = kinds[kind]
    return manifest


def _add(invocation: Invocation, arguments: Namespace) -> int:
    """Add a channel; of one that there is, what is not given stays as it was."""
    client, name = invocation.client, arguments.name
    if not re.fullmatch("[a-z][a-z0-9-]{0,30}", name):  # before a token is asked for and kept under it
        raise CommandError(f"no channel can be called {name!r}", f"take {_LETTERS}")
    rows = {row["channel"]["name"]: row["channel"] for row in client.items("/channels")}
    older: Json = rows.get(name, {})
    manifest = _manifest(client, arguments.kind or older.get("kind", ""))
    if older and older["kind"] != manifest["kind"]:
        cause = f"there is a channel {name!r} of the kind {older['kind']}"
        raise CommandError(cause, f"another name, or first: stead channel remove {name}")
    body: Json = {"name": name, "kind": manifest["kind"], "ca_file": _ca_file(arguments, older)}
    body["settings"] = _settings(invocation, manifest, arguments, older.get("settings", {}))
    body["secrets"] = _secrets(invocation, manifest, arguments, older.get("secrets", {}))
    client.post("/channels", body)
    row = _found(client, name)
    return invocation.report({"id": name, **row}, *lines(_ADDED, {**_row(row), "kind": manifest["title"]}))


_ADDED = (
    "{name} is a channel of {kind}, and {state}[: {wrong:300}]\n"
    "[its platform sends requests to: {url}]\n"
    "next: stead channel test {name}, then stead channel pair {name} --dir FOLDER"
)


def _ca_file(arguments: Namespace, older: Json) -> str:
    if not arguments.ca_file:
        return str(older.get("ca_file", ""))
    path: str = os.path.abspath(os.path.expanduser(arguments.ca_file))
    if not os.path.isfile(path):
        raise CommandError(f"there is no file {arguments.ca_file!r}", "give one of certificates, as PEM")
    return path


def _known(manifest: Json, option: str, given: dict[str, str], *, secret: bool) -> list[Json]:
    """The manifest's settings, or its tokens; refuses what it does not have."""
    known: list[Json] = [field for field in manifest["fields"] if field["secret"] is secret]
    names = [field["name"] for field in known]
    if odd := next((name for name in given if name not in names), ""):
        if any(field["name"] == odd for field in manifest["fields"]):
            other = f"--set {odd}=VALUE" if secret else f"--secret {odd}=SECRETNAME"
            raise CommandError(f"{odd!r} of {manifest['title']} is {'no ' if secret else 'a '}token", other)
        there = f"{option} takes: {', '.join(names)}" if names else f"without {option}"
        raise CommandError(f"{manifest['title']} has no setting {odd!r}", there)
    return known


def _settings(invocation: Invocation, manifest: Json, arguments: Namespace, older: Json) -> Json:
    given = named_values("--set", arguments.set)
    known = _known(manifest, "--set", given, secret=False)
    found = {name: value for name, value in {**older, **given}.items() if value}
    for field in known:
        name = field["name"]
        if name in found or field["default"] or not field["needed"]:
            continue
        if not invocation.interactive:
            cause = f"{manifest['title']} needs {name}: {field['title']}"
            raise CommandError(cause, f"stead channel add {arguments.name} {manifest['kind']} --set {name}=VALUE")
        found[name] = input(f"{clean_line(field['title'])}: ").strip()
    return found


def _secrets(invocation: Invocation, manifest: Json, arguments: Namespace, older: Json) -> Json:
    """Names of secrets by token: as given, as before, else NAME-FIELD of the vault, which a person may type now."""
    client, channel = invocation.client, arguments.name
    given = named_values("--secret", arguments.secret)
    known = _known(manifest, "--secret", given, secret=True)
    if list(given.values()).count("-") > 1 and not invocation.interactive:
        raise CommandError(
            "standard input holds one token", "put the others into the vault first: stead secret add NAME"
        )
    vault = {row["name"] for row in client.items("/secrets")}
    found: Json = {}
    for field in known:
        name, own = field["name"], f"{channel}-{field['name']}"
        named = given.get(name) or older.get(name) or (own if own in vault else "")
        if named and named != "-":
            if named not in vault:
                again = f"then again: stead channel add {channel} {manifest['kind']}"
                raise CommandError(f"there is no secret {named!r} in the vault", f"stead secret add {named}, {again}")
            found[name] = named
        elif named == "-" or (field["needed"] and invocation.interactive):
            what = f"{clean_line(field['title'])} ({name})"
            command = f"stead channel add {channel} {manifest['kind']} --secret {name}=-"
            value = read_hidden(what, command, _TOKEN_BYTES).strip()
            client.post("/secrets", {"name": own, "value": value, "replace": own in vault})
            found[name] = own
        elif field["needed"]:
            cause = f"{manifest['title']} needs {name}: {field['title']}"
            raise CommandError(cause, f"stead secret add {own}, then again; or with --secret {name}=- < FILE")
    return found


# -- chats -------------------------------------------------------------------------------------------------------------


def _rights(arguments: Namespace, older: Json) -> Json:
    """What a chat may do: as given, else as before."""
    given: Json = budget_of(arguments, older.get("budget") or SESSION_BUDGET)
    if arguments.dir:
        given["directory"] = folder_of(arguments.dir, "--dir FOLDER")
    if arguments.profile:
        given["profile"] = arguments.profile
    if arguments.model:
        given["chain"] = [] if arguments.model == ["home"] else [parse_model(name) for name in arguments.model]
    if arguments.others:
        given["others"] = "" if arguments.others == "none" else arguments.others
    return {**older, **given}


def _pair(invocation: Invocation, arguments: Namespace) -> int:
    client, name = invocation.client, arguments.name
    if not arguments.dir:
        raise CommandError("say which folder the chat's sessions work in", f"stead channel pair {name} --dir FOLDER")
    row = _found(client, name)
    head = client.get("/status")["head"]
    wanted = {"rights": _rights(arguments, {}), "role": arguments.role, "name": arguments.chat_name}
    code = client.post(f"/channels/{name}/pair", wanted)
    lives = figures.duration(round(code["expires_ms"] - time.time() * 1000))
    shown = {**_row(row), **code, "lives": lives, "to": row["account"] or "the bot", "role": arguments.role}
    shown["down"] = fill(_DOWN, shown) if row["state"] == "down" else ""
    invocation.report({"id": name, **code}, *lines(_CODE, shown))
    sys.stdout.flush()  # a person reads it while this waits
    if arguments.no_wait:
        return OK
    chat = _wait(invocation, name, head, code["expires_ms"] / 1000)
    return invocation.report({"id": chat["name"], "chat": chat}, fill(_PAIRED, chat))


_CODE = (
    "code: {code}\n"
    "[link: {link}]\n"
    "{down}\n"
    "Send the code to {to} in the chat that is to be paired, within {lives}. Who sends it first is its {role}."
)
_DOWN = "The code is not heard before {name} is connected; it is {state}[: {wrong:300}]"
_PAIRED = "{title|the chat} is paired, and is called {name}. See: stead channel chats {channel}"


def _wait(invocation: Invocation, name: str, head: int, until_s: float) -> Json:
    """The chat that is paired; says each minute that it still waits, and what is wrong with the channel."""
    stream = invocation.client.stream(head, ["home"])
    invocation.out.note("waiting for it; Ctrl-C leaves, and the code goes on to hold")
    try:
        while (left := until_s - time.time()) > 0:
            for event in stream.next(min(left, _LOOK_S)):
                body = event["body"]
                if body["type"] == "chat.set" and body["chat"]["channel"] == name:
                    paired: Json = body["chat"]
                    return paired
            shown = {**_row(_found(invocation.client, name)), "left": figures.duration(round(left * 1000))}
            invocation.out.note(fill("waiting, {left} left; {name} is {state}[: {wrong:300}]", shown))
    finally:
        stream.close()
    raise CommandError("nobody sent the code in time", f"stead channel pair {name} --dir FOLDER", exit_code=FAILED)


def _chat_act(invocation: Invocation, arguments: Namespace) -> int:
    client, name = invocation.client, arguments.name
    chat = _found_chat(client, arguments)
    if arguments.action == "remove":
        loss = f"{chat['name']} is heard no more, and what waits to be sent there is dropped; its sessions stay."
        invocation.confirm("remove", loss, yes=arguments.yes)
        answer = client.post(f"/channels/{name}/chats/remove", {"chat": chat["id"]})
        return invocation.report({"id": chat["name"], **answer}, fill("{name} is removed.", chat))
    people = {one["id"]: one for one in chat["people"]}
    for typed in arguments.person:
        person, _, role = typed.rpartition("=")
        if not person or role not in (*_ROLES, "none"):
            raise CommandError(
                f"{typed!r} is not ID=ROLE", f"--person ID=ROLE, a role being {', '.join(_ROLES)} or none"
            )
        people[person] = {**people.get(person, {"id": person, "name": ""}), "role": role}
    wanted = {
        "chat": chat["id"],
        "name": arguments.rename or chat["name"],
        "people": [one for one in people.values() if one["role"] != "none"],
        "rights": _rights(arguments, chat["rights"]),
    }
    client.command("PUT", f"/channels/{name}/chats", wanted)
    after = next(row for row in _found(client, name)["chats"] if row["chat"]["id"] == chat["id"])
    return invocation.report({"id": after["chat"]["name"], **after}, *lines(_CHANGED, _chat_row(after)))


_CHANGED = (
    "{name}: {sort}\n  people: {who:600}\n  works in {directory:300}, {profile}[, with {models:200}]"
    "[, up to {most:money} a session]"
)


def _chats(invocation: Invocation, arguments: Namespace) -> int:
    return _CHATS.show(invocation, _found(invocation.client, arguments.name)["chats"], arguments)


_CHATS = Listing(
    "",
    "NAME: {name} | TITLE: {title:40} | KIND: {sort} | PEOPLE: {who:60} | FOLDER: {directory:50} | PROFILE: {profile}"
    " | MODELS: {models:40} | MOST: {most:money} | WAITING: {waiting:number} | LOST: {lost:number} | ERROR: {error:80}",
    "{name} has no chat yet. Pair one: stead channel pair {name} --dir FOLDER",
    view=_chat_row,
)


# -- the table ---------------------------------------------------------------------------------------------------------

_NAME = arg("name NAME", _LETTERS, _channel)
_ADD = (
    arg("name NAME", _LETTERS),
    arg("[kind KIND]", "one of: stead channel kinds", _kind),
    arg("--set FIELD=VALUE...", "a setting of the platform"),
    arg("--secret FIELD=SECRETNAME...", "the vault's secret that is a token; - reads it from standard input"),
    arg("--ca-file FILE", "further certificates to trust, for a server of your own"),
)
_RIGHTS = (
    arg("--dir FOLDER", "the folder that its sessions work in"),
    arg("--profile PROFILE", STRICTNESS, choices=("work", "ask", "readonly")),
    arg("--model PROVIDER/MODEL...", "of its sessions; again for fallbacks; home: the home's"),
    *BUDGET,
    arg("--others ROLE", "in a group, who is not named", choices=("member", "guest", "none")),
)
_PAIR = (
    _NAME,
    *_RIGHTS,
    arg("--role ROLE", "of who sends the code", choices=_ROLES, default="owner"),
    arg("--name CHAT", "what the chat is called (else by its title)", dest="chat_name"),
    arg("--no-wait", "print the code and leave"),
)
_CHAT = (
    arg("action ACTION", "what is done", choices=("set", "remove")),
    _NAME,
    arg("chat CHAT", "its name", _chat),
    *_RIGHTS,
    arg("--rename CHAT", "call it so"),
    arg("--person ID=ROLE...", "by the platform's id: owner, member or guest; none takes the role away"),
    YES,
)
_SWITCH = "POST /channels/{name}/switch"
_ROWS: dict[str, Row] = {
    "kinds": (
        "show the platforms, and what each asks for",
        (),
        Listing(
            "/channels/kinds",
            "KIND: {kind} | PLATFORM: {title} | ASKS FOR: {asks:200} | WITHOUT: {lacks} | EXTRA: {extra}",
            "There are none.",
            view=_kind_row,
            more="Add one: stead channel add NAME KIND",
        ),
    ),
    "list": (
        "show channels, and how each stands (the default)",
        (),
        Listing(
            "/channels",
            "NAME: {name} | PLATFORM: {title} | STATE: {state} | BOT: {account:40} | LAST IN: {in_ms:age|never}"
            " | CHECKED: {probed_ms:age|never} | CHATS: {count} | WAITING: {waiting:number} | LOST: {lost:number}"
            " | REFUSED: {refused:number} | REQUESTS TO: {url} | WHY: {wrong:400}",
            "There is no channel. What there can be: stead channel kinds. Add one: stead channel add NAME KIND",
            view=_row,
        ),
    ),
    "add": ("add a bot, or change one of this name", _ADD, _add),
    "test": (
        "ask the platform whether it takes the token",
        (_NAME,),
        Act("POST /channels/{name}/test", "{name}: {ok?:failed: }{text:600}", timeout_s=_TEST_S, tests=True),
    ),
    "pair": ("make a code that pairs one chat, and wait for it", _PAIR, _pair),
    "chats": ("show the chats of a channel", (_NAME,), _chats),
    "chat": ("set what a chat may do, who is what in it and its name, or remove it", _CHAT, _chat_act),
    "enable": (
        "have a channel listen and send",
        (_NAME,),
        Act(_SWITCH, "{name} is on.", fields(on=True)),
    ),
    "disable": (
        "have it listen and send no more; what the platform keeps is read later",
        (_NAME,),
        Act(_SWITCH, "{name} is off. On again: stead channel enable {name}", fields(on=False)),
    ),
    "remove": (
        "forget a channel, its chats, and what waits for them",
        (_NAME, YES),
        Act(
            "DELETE /channels/{name}",
            "{name} is removed. Its tokens are in the vault still: stead secret list",
            confirm="The channel {name}, its chats and what waits for them are forgotten; their sessions stay.",
        ),
    ),
}
COMMANDS = {"channel": family("channel", _ROWS, "list")}
