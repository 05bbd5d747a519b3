"""What a person chooses for a session in an editor: its mode, its model, and how hard that thinks.

Layer: a door. A mode is the profile of the session. The modes stand twice in an answer: editors that know config
options show those, older ones the modes.
"""

from __future__ import annotations

from typing import NamedTuple

from stead.client import Client, Json
from stead.protocols.acp.jsonrpc import INVALID_PARAMS, RpcError

MODES = {
    "work": ("Auto", "What runs in the sandbox and can be undone needs no question; what leaves it is asked."),
    "ask": ("Ask", "Writing files and running commands is asked as well."),
    "readonly": ("Read-only", "Reads and answers; changes nothing."),
}
_EFFORTS = {"": "as the model is set", "low": "low", "medium": "medium", "high": "high"}
_NO_EFFORT = "default"


class Chosen(NamedTuple):
    """What holds in a session."""

    profile: str
    models: tuple[str, ...]
    effort: str

    def after(self, item: Json) -> Chosen:
        """What holds after an item of the timeline."""
        body = item.get("body", {})
        match item["kind"], body.get("type"):
            case "opened", _:
                return Chosen(body["profile"], _names(body["chain"]), body.get("effort", ""))
            case "line", "profile.set":
                return self._replace(profile=body["profile"])
            case "line", "model.switched":
                return self._replace(models=_names(body["chain"]), effort=body["effort"])
            case _:
                return self


NOTHING = Chosen("work", (), "")


def _names(chain: list[Json]) -> tuple[str, ...]:
    return tuple(f"{ref['provider']}/{ref['model']}" for ref in chain)


def modes(chosen: Chosen) -> Json:
    """The modes, and which one holds."""
    listed = [{"id": id, "name": name, "description": about} for id, (name, about) in MODES.items()]
    return {"currentModeId": chosen.profile, "availableModes": listed}


def models(client: Client) -> list[str]:
    """The models that can be chosen, as ``provider/model``: those of the home's chain, providers and settings."""
    found = [*_names(client.get("/chain")["chain"])]
    for row in client.items("/providers"):
        names = [row["model"], *(setting["model"] for setting in row["settings"])]
        found += [f"{row['name']}/{name}" for name in names if name]
    return list(dict.fromkeys(found))


def config_options(client: Client, chosen: Chosen) -> list[Json]:
    """Every config option, and what holds."""
    known = list(dict.fromkeys((*chosen.models[:1], *models(client))))
    mode = [{"value": id, "name": name, "description": about} for id, (name, about) in MODES.items()]
    effort = [{"value": value or _NO_EFFORT, "name": name} for value, name in _EFFORTS.items()]
    options = [_select("mode", "Mode", "mode", chosen.profile, mode)]
    if known:
        chain = [{"value": name, "name": name} for name in known]
        options.append(_select("model", "Model", "model", (chosen.models or tuple(known))[0], chain))
    options.append(_select("effort", "Thinking", "thought_level", chosen.effort or _NO_EFFORT, effort))
    return options


def _select(id: str, name: str, category: str, value: str, options: list[Json]) -> Json:
    return {
        "id": id,
        "name": name,
        "category": category,
        "type": "select",
        "currentValue": value,
        "options": options,
    }


def choose(client: Client, session: str, chosen: Chosen, option: str, value: object) -> Chosen:
    """Set an option to one of its values; what holds then.

    Raises:
        RpcError: there is no such option, or no such value.
    """
    match option, value:
        case "mode", str() if value in MODES:
            if value != chosen.profile:
                client.post(f"/sessions/{session}/profile", {"profile": value})
            return chosen._replace(profile=value)
        case "model", str() if value in models(client) or value in chosen.models[:1]:
            provider, _, model = value.partition("/")
            if (value,) != chosen.models[:1]:
                client.post(f"/sessions/{session}/model", {"chain": [{"provider": provider, "model": model}]})
            return chosen._replace(models=(value,))
        case "effort", str() if (effort := "" if value == _NO_EFFORT else value) in _EFFORTS:
            if effort != chosen.effort:
                client.post(f"/sessions/{session}/model", {"effort": effort})
            return chosen._replace(effort=effort)
        case _:
            raise RpcError(INVALID_PARAMS, f"there is no option {option[:40]!r} with this value; see configOptions")
