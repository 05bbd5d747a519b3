"""``providers``: which models there are, how they are reached, and which one is used.

Layer: cli.
"""

from __future__ import annotations

from argparse import Namespace

from stead.cli.forms import YES, Act, Listing, OneOf, Row, arg, family
from stead.cli.invocation import FAILED, OK, CommandError, Invocation
from stead.cli.model_settings import RESET, SETTINGS, set_model, settings_fields
from stead.cli.templates import fill
from stead.cli.text_input import read_hidden
from stead.cli.work_options import parse_model
from stead.client import Client, Json

_CHECK_TIMEOUT_S = 30.0
ROLES = ("main", "fast", "reading", "review")
_KEY_LIMIT = 16_384


def _named(_: Client, name: str) -> str:
    """A provider's name, before it becomes part of a path."""
    if not name.isascii() or not name.replace("-", "").isalnum():
        raise CommandError(f"{name!r} is no provider's name", "stead providers list")
    return name


def _list(invocation: Invocation, arguments: Namespace) -> int:
    rows = list(invocation.client.items("/providers"))
    chain = invocation.client.get("/chain")["chain"]
    if invocation.as_json:
        return invocation.report({"providers": rows, "chain": chain})
    _LIST.show(invocation, rows, arguments)
    names = [f"{ref['provider']}/{ref['model']}" for ref in chain]
    said = "\nin use: {names:then|whatever is found}   change it: stead providers use NAME/MODEL"
    invocation.out.line(fill(said, {"names": names}))
    return OK


def _add(invocation: Invocation, arguments: Namespace) -> int:
    """Add a provider, and say of its models what the options say."""
    place = f"env:{arguments.key_env}" if arguments.key_env else "vault" if arguments.key_vault else arguments.key
    preset = arguments.preset
    if lead := arguments.account_of:
        preset = preset or _preset_of(invocation.client, lead)
    elif not preset:
        raise CommandError("--preset is missing", "stead providers presets")
    body: Json = {"name": arguments.name, "preset": preset, "base_url": arguments.url, "model": arguments.model}
    body |= {"key": _place(place), "clearance": arguments.clearance, "account_of": lead}
    settings = settings_fields(arguments)
    answer = invocation.client.post("/providers", body)
    if settings:
        answer = invocation.client.post(f"/providers/{arguments.name}/models", settings)
    following = "set-key" if place == "vault" else "test"
    said = "{name} is configured. Next: stead providers {next} {name}"
    return invocation.report(answer, fill(said, {"name": arguments.name, "next": following}))


def _preset_of(client: Client, name: str) -> str:
    """The preset of the provider of which another account is added."""
    for row in client.items("/providers"):
        if row["name"] == name:
            return str(row["preset"])
    raise CommandError(f"there is no provider {name!r}", "stead providers list")


def _place(typed: str) -> str:
    """Where a key is, from what a person types: ``${NAME}`` is the environment's."""
    if typed.startswith("${") and typed.endswith("}"):
        return f"env:{typed[2:-1]}"
    if typed and not typed.startswith(("env:", "keychain:")) and typed not in ("none", "vault"):
        raise CommandError("a key itself is not given as an option", "stead providers set-key NAME")
    return typed or "none"


def read_key(name: str, command: str) -> str:
    """The key of a provider or a search engine, from a hidden prompt or standard input.

    Raises:
        CommandError: there is none, or it is no key.
    """
    return checked_key(read_hidden(f"key of {name}", command, _KEY_LIMIT), name)


def checked_key(given: str, name: str) -> str:
    """A key without the space around it.

    Raises:
        CommandError: it is none.
    """
    key = given.strip()
    if not key or len(key) > _KEY_LIMIT or not key.isascii() or not key.isprintable():
        raise CommandError("what was given does not look like a key", "give the key alone, on one line")
    return key


def _row(row: Json) -> Json:
    """With how the provider stands, and what its account has left, in words."""
    health, quota = row["health"], row["quota"]
    state = fill("{state}[: {text:60}]", health) if health["text"] else health["state"]
    left = [f"{quota[what]:,} {what}" for what in ("requests", "tokens") if quota[what] >= 0]
    return {**row, "state": state, "left": ", ".join(left)}


def _test(invocation: Invocation, arguments: Namespace) -> int:
    if invocation.interactive:
        invocation.out.note(f"asking {arguments.name}, at most 15 s")
    return report_check(invocation, f"/providers/{arguments.name}/test")


def report_check(invocation: Invocation, path: str) -> int:
    """Have a provider or a search engine tried, and say whether it answered, and how; gives the exit code."""
    check, style = invocation.client.post(path, timeout_s=_CHECK_TIMEOUT_S), invocation.out.style
    if not check["ok"]:
        invocation.report(check, f"{style('failed', 'red')}: {fill('{text:text}[; {fix:text}]', {'fix': '', **check})}")
        return FAILED
    said = f"{style('ok', 'green')}: {fill('{text:300}, {duration_ms:duration}', check)}"
    models = fill("[its models: {models:2000}]", {"models": [], **check})
    return invocation.report(check, *filter(None, [said, models]))


def _use(invocation: Invocation, arguments: Namespace) -> int:
    """Choose the models of new work, or of a role where one is named first."""
    role, *models = arguments.models if arguments.models[0] in ROLES else ("main", *arguments.models)
    chain = [parse_model(model) for model in models if model != "none"]
    if role == "main":
        if not models:
            raise CommandError("no model is named", "stead providers use NAME/MODEL")
        answer = invocation.client.post("/chain", {"chain": chain})
        said = "New objectives use {models:then|whatever is found}."
        return invocation.report(answer, fill(said, {"models": models}))
    answer = invocation.client.post("/roles", {"role": role, "chain": chain})
    said = "{role} is {models:then}." if chain else "{role} is the models of the work itself."
    return invocation.report(answer, fill(said, {"role": role, "models": models}))


_LIST = Listing(
    "/providers",
    "NAME: {name} | PRESET: {preset} | MODEL: {model} | KEY: {key} | CLEARANCE: {clearance}"
    " | ORIGIN: {found?found:configured}[ account of {account_of}] | STATE: {state} | LEFT: {left} | URL: {base_url}",
    "None is configured and none was found.",
    view=_row,
)
_PRESETS = Listing(
    "/providers/presets",
    "NAME: {name} | TITLE: {title} | BASE URL: {base_url} | MODEL: {model} | KEY ENV: {key_env}",
    "There are no presets.",
    more="add one: stead providers add NAME --preset PRESET --key-env VAR",
)
_TRUST = Listing(
    "/tiers",
    "MODEL: {provider}/{model} | TRUST: {tier} | BY: {by} | >REPLIES: {record.replies:number}"
    " | >CALLS: {record.calls:number} | >MALFORMED: {record.malformed:number} | >UNKNOWN: {record.unknown:number}"
    " | >SENT BACK: {record.sent_back:number} | >REPEATED: {record.repeated:number}"
    " | >VERIFIED: {record.verified:number} | >ENDS: {record.ends:number}",
    "No model has replied yet.",
    more="set it: stead providers set NAME/MODEL --trust strict, normal, trusted or measured",
)
_SET_KEY = Act(
    "POST /providers/{name}/key",
    "The key of {name} is in the vault. Next: stead providers test {name}",
    lambda given: {"key": read_key(given.name, f"stead providers set-key {given.name}")},
)
_FORGOTTEN = "{name} and its key are forgotten."
_REMOVE = Act("DELETE /providers/{name}", _FORGOTTEN, confirm=_FORGOTTEN)
_KEY = OneOf(
    arg("--key PLACE", "where it is: ${VAR}, keychain:SERVICE/NAME, vault or none; never the key itself"),
    arg("--key-env VAR", "the environment variable that has the key"),
    arg("--key-vault", "the key is kept encrypted; give it with set-key"),
)
_PROVIDER = (
    arg("name NAME", "yours to choose: small letters, digits, dashes"),
    arg("--preset P", "see: stead providers presets"),
    arg("--model M", "else the preset's"),
    arg("--url U", "else the preset's"),
    arg(
        "--clearance CLEARANCE",
        "public: it is sent nothing of a session that has read your files",
        choices=("private", "public"),
        default="private",
    ),
    arg("--account-of NAME", "a further account of that provider, asked when it is out of quota"),
    _KEY,
    *SETTINGS,
)
_NAME = arg("name NAME", find=_named)
_MODELS = arg(
    "models NAME/MODEL...", "the model, then its fallbacks; before them a role: main, fast, reading or review"
)
_OF = arg("of NAME[/MODEL]", "a model, or every model of a provider")
_ROWS: dict[str, Row] = {
    "list": ("show what is configured and what was found (the default)", (), _list),
    "presets": ("show the known vendors, their addresses and models", (), _PRESETS),
    "add": ("add or change a provider", _PROVIDER, _add),
    "set": ("say what a model costs, takes and is to be sent; show it", (_OF, *SETTINGS, RESET), set_model),
    "trust": ("show how strictly each model is led, and by which figures", (), _TRUST),
    "set-key": ("put a provider's key into the vault", (_NAME,), _SET_KEY),
    "remove": ("forget a provider and its key", (_NAME, YES), _REMOVE),
    "test": ("send one real, tiny request", (_NAME,), _test),
    "use": ("choose the default model, then its fallbacks", (_MODELS,), _use),
}
COMMANDS = {"providers": family("providers", _ROWS, "list")}
