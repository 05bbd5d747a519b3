"""The book of secrets over a real vault: what may be added and bound, what is let out and where, what is known."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stead.domain import commands as cmd
from stead.domain import events as ev
from stead.domain.errors import Conflict, InvalidRequest, NotFound
from stead.domain.ids import HOME, CommandId, SessionId
from stead.domain.permits import canonical
from stead.domain.secret_words import secrets_text
from stead.domain.secrets import (
    Binding,
    HostBinding,
    Known,
    RequestHead,
    Secret,
    ToolBinding,
    filled,
    mark_of,
    placeholder_of,
)
from stead.runtime.home import HomeState, fold
from stead.runtime.secrets import SecretBook
from stead.screen import redaction
from stead.storage.database import connect
from stead.storage.journal import JournalFile, open_journal
from stead.storage.keys import derive_keys
from stead.tools.files import ReadTool, WriteTool
from stead.tools.shell import ShellTool
from stead.tools.web import FetchTool
from stead.tools.work import Plan

KEYS = derive_keys(bytes(range(32)))
VALUE = "correct-horse-battery-staple-4711"
SESSION, OTHER = SessionId("s_0000000000000001"), SessionId("s_0000000000000002")
API = HostBinding("api.example.com", ("GET",), "/v1")


class Ticking:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.at_ms = 1_760_000_000_000

    def now_ms(self) -> int:
        return self.at_ms


@dataclass
class Desk:
    """A book, and the home's state as its facts are recorded."""

    journal: JournalFile
    environment: dict[str, str] = field(default_factory=dict)
    digest_key: bytes = KEYS.digests
    clock: Ticking = field(default_factory=Ticking)
    used: list[ev.SecretUsed] = field(default_factory=list)
    state: HomeState = field(default_factory=HomeState)

    def __post_init__(self) -> None:
        nothing: object = None
        self.book = SecretBook(
            self.journal.vault,
            digest_key=self.digest_key,
            environment=lambda: self.environment,
            clock=self.clock,
            tools=[
                Plan().spec,
                ReadTool(nothing, nothing, nothing).spec,  # type: ignore[arg-type]  # a tool's word needs none of its ports
                WriteTool(nothing).spec,  # type: ignore[arg-type]
                ShellTool(nothing, nothing).spec,  # type: ignore[arg-type]
                FetchTool(nothing, nothing).spec,  # type: ignore[arg-type]
            ],
            on_use=self.used.append,
        )

    async def record(self, body: ev.Body) -> None:
        event = ev.Event(1, HOME, self.state.seq + 1, self.clock.now_ms(), "person", CommandId(""), body)
        self.state = fold(self.state, event)
        await self.book.reload(self.state.secrets)

    async def do(
        self, command: cmd.AddSecret | cmd.BindSecret | cmd.UnbindSecret | cmd.RemoveSecret
    ) -> ev.SecretAdded | ev.SecretBound | ev.SecretUnbound | ev.SecretRemoved:
        fact = await self.book.change(command)
        await self.record(fact)
        return fact

    async def add(self, name: str, value: str, *bindings: Binding, replace: bool = False) -> str:
        """Add, bind, and give to the session; gives its placeholder."""
        await self.do(cmd.AddSecret(name, value, replace))
        for binding in bindings:
            await self.do(cmd.BindSecret(name, binding))
        return self.book.given([name], SESSION)[0].placeholder

    def mark(self, name: str) -> str:
        """What stands for the value in texts."""
        return self.state.secrets[name].placeholder

    def ask(
        self,
        placeholder: str,
        host: str,
        method: str,
        path: str,
        place: str = "header:x-key",
        session: SessionId = SESSION,
        scheme: str = "http",
    ) -> str | None:
        """The value for a part of a session's request."""
        return self.book.for_request(session, placeholder, RequestHead(scheme, host, method, path), place)


@pytest.fixture
def desk(journal: JournalFile) -> Desk:
    return Desk(journal)


# -- adding and binding ---------------------------------------------------------------------------------------------


async def test_no_fact_about_a_secret_has_its_value_or_a_digest_of_it(desk: Desk) -> None:
    first = await desk.do(cmd.AddSecret("shop", VALUE))
    await desk.do(cmd.RemoveSecret("shop"))
    other = Desk(desk.journal)
    second = await other.do(cmd.AddSecret("shop", "another value of it"))
    assert isinstance(first, ev.SecretAdded)
    assert isinstance(second, ev.SecretAdded)
    assert (first.version, second.version) == (1, 2)
    assert first.placeholder == mark_of(KEYS.digests, "shop", 1)
    assert second.placeholder == mark_of(KEYS.digests, "shop", 2) != first.placeholder


@pytest.mark.parametrize("name", ["", "Shop", "1shop", "shop key", "a" * 65, "shöp", "provider-acme", "env-key", "a/b"])
async def test_a_name_that_cannot_be_is_refused_and_nothing_is_kept(desk: Desk, name: str) -> None:
    with pytest.raises(InvalidRequest, match="the name"):
        await desk.book.change(cmd.AddSecret(name, VALUE))
    assert desk.journal.vault.names("") == ()


@pytest.mark.parametrize("value", ["", "  \n", "x" * 65_537, "é" * 32_769, "a\0bcdef", "a\udc80bcdef"])
async def test_a_value_that_cannot_be_is_refused_without_a_word_of_it(desk: Desk, value: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        await desk.book.change(cmd.AddSecret("shop", value))
    assert str(refused.value) == "a secret is 1 byte to 65536 bytes of UTF-8 text without NUL; give another"


@pytest.mark.parametrize(("value", "why"), [("abc", "at least 4"), ("x" * 32_001, "more than 32000 characters")])
async def test_a_value_that_could_not_be_kept_out_of_texts_is_refused(desk: Desk, value: str, why: str) -> None:
    with pytest.raises(InvalidRequest, match=why):
        await desk.book.change(cmd.AddSecret("shop", value))
    assert desk.journal.vault.names("") == ()


async def test_a_value_of_sixteen_thousand_characters_is_kept_out_of_texts(desk: Desk) -> None:
    value = "".join(chr(33 + number * number % 90) + str(number) for number in range(3_500))
    await desk.add("shop", value)
    placeholder = desk.mark("shop")
    assert len(value) > 16_000 and desk.book.redactor().clean(f"<{value}>") == f"<{placeholder}>"
    assert value[:180] not in desk.book.words().clean(value[:5_000])


async def test_a_secret_is_replaced_only_when_that_is_said_and_keeps_its_bindings(desk: Desk) -> None:
    old = await desk.add("shop", VALUE, API)
    with pytest.raises(Conflict, match="'shop' already"):
        await desk.book.change(cmd.AddSecret("shop", "new value"))
    new = await desk.add("shop", "new value", replace=True)
    assert desk.state.secrets["shop"].bindings == (API,)
    assert desk.ask(new, "api.example.com", "GET", "/v1") == "new value"
    assert desk.ask(old, "api.example.com", "GET", "/v1") is None


async def test_a_removed_secret_leaves_no_value_no_binding_and_no_use(desk: Desk) -> None:
    placeholder = await desk.add("shop", VALUE, API)
    desk.ask(placeholder, "api.example.com", "GET", "/v1")
    await desk.record(desk.used[0])
    await desk.do(cmd.RemoveSecret("shop"))
    assert desk.state.secret_rows() == ()
    assert (desk.book.known(), desk.journal.vault.get("secret/shop")) == ((), None)
    again = await desk.add("shop", VALUE)
    assert desk.ask(placeholder, "api.example.com", "GET", "/v1") is None
    assert desk.ask(again, "api.example.com", "GET", "/v1") is None
    assert (desk.state.secret_rows()[0].bindings, desk.state.secret_rows()[0].used_ms) == ((), 0)


@pytest.mark.parametrize(
    ("binding", "why"),
    [
        (ToolBinding("teleport", "to"), "there is no tool 'teleport'"),
        (ToolBinding("*", "text"), r"there is no tool '\*'"),
        (ToolBinding("write", "colour"), "no argument 'colour'"),
        (ToolBinding("write", "path"), "it names a file"),
        (ToolBinding("shell", "command"), "can send or print"),
        (ToolBinding("shell", "timeout_s"), "can send or print"),
        (ToolBinding("fetch", "url"), "decides where the call goes"),
        (ToolBinding("plan", "steps"), "own notes"),
        (HostBinding("*.com"), "the host"),
        (HostBinding("api.example.com", path="/a/../b"), "the path"),
    ],
)
async def test_a_binding_that_could_give_the_value_away_is_refused(desk: Desk, binding: Binding, why: str) -> None:
    await desk.add("shop", VALUE)
    with pytest.raises((InvalidRequest, NotFound), match=why):
        await desk.book.change(cmd.BindSecret("shop", binding))


async def test_what_is_not_there_cannot_be_bound_unbound_removed_or_told_of(desk: Desk) -> None:
    for command in (cmd.BindSecret("gone", API), cmd.UnbindSecret("gone", "a.example"), cmd.RemoveSecret("gone")):
        with pytest.raises(NotFound, match="no secret 'gone'"):
            await desk.book.change(command)
    with pytest.raises(NotFound, match="no secret 'gone'"):
        desk.book.given(["gone"], SESSION)
    await desk.add("shop", VALUE, API)
    with pytest.raises(NotFound, match="not bound to"):
        await desk.book.change(cmd.UnbindSecret("shop", "www.example.com"))
    for host, tool in (("", ""), ("api.example.com", "write")):
        with pytest.raises(InvalidRequest, match="either"):
            await desk.book.change(cmd.UnbindSecret("shop", host, tool))


# -- letting out ----------------------------------------------------------------------------------------------------


async def test_a_value_is_let_out_to_what_it_is_bound_to_and_nowhere_else(desk: Desk) -> None:
    shop = await desk.add("shop", VALUE, API, ToolBinding("write", "text"))
    other = await desk.add("other", "another value", HostBinding("www.example.com"))
    book = desk.book
    assert desk.ask(shop, "API.example.com", "GET", "/v1/orders?x=1") == VALUE
    assert book.for_argument(SESSION, shop, "write", "text") == VALUE
    for host, method, path in (
        ("www.example.com", "GET", "/v1"),
        ("api.example.com", "POST", "/v1"),
        ("api.example.com", "GET", "/v2"),
        ("api.example.com.evil.example", "GET", "/v1"),
    ):
        assert desk.ask(shop, host, method, path) is None
    assert desk.ask(other, "api.example.com", "GET", "/v1") is None
    assert book.for_argument(SESSION, other, "write", "text") is None
    assert book.for_argument(SESSION, shop, "write", "path") is None
    await desk.do(cmd.UnbindSecret("shop", tool="write"))
    assert book.for_argument(SESSION, shop, "write", "text") is None
    assert desk.ask(shop, "api.example.com", "GET", "/v1") == VALUE


async def test_a_forged_placeholder_lets_nothing_out(desk: Desk, tmp_path: Path) -> None:
    shop = await desk.add("shop", VALUE, API)
    stranger = open_journal(tmp_path / "other.db", KEYS)
    try:
        foreign = await Desk(stranger, digest_key=b"another home's digest key").add("shop", VALUE, API)
    finally:
        stranger.close()
    forged = f"{shop[:-3]}{'0' if shop[-3] != '0' else '1'}}}}}"
    for placeholder in (
        *(foreign, forged, "{{secret:shop#00000000}}", "{{secret:shop}}", shop[1:-1], f"{shop} ", f"{{{{{shop}}}}}"),
        *(shop.upper(), shop.replace("shop", "shop2"), shop + shop, "", "shop", f"{shop}\n"),
        *(placeholder_of(KEYS.digests, "shop", 2, SESSION), placeholder_of(KEYS.digests, "shop", 1, OTHER)),
        *(desk.mark("shop"), shop[:-10] + "}}", desk.mark("shop")[:-2] + shop[-10:]),
    ):
        assert desk.ask(placeholder, "api.example.com", "GET", "/v1") is None, placeholder


async def test_keys_of_stead_itself_are_known_and_never_let_out(desk: Desk) -> None:
    desk.environment["OPENAI_API_KEY"] = "sk-of-the-environment"
    await desk.book.put("provider/acme/key", "sk-of-a-provider")
    known = {known.value: known for known in desk.book.known()}
    assert set(known) == {"sk-of-the-environment", "sk-of-a-provider"}
    for one in known.values():
        assert desk.ask(one.placeholder, "api.example.com", "GET", "/") is None
        assert desk.book.for_argument(SESSION, one.placeholder, "write", "text") is None
    assert await desk.book.remove("provider/acme/key")
    assert [known.name for known in desk.book.known()] == ["env-openai_api_key"]


async def test_an_old_record_put_back_into_the_vault_is_not_let_out(desk: Desk, tmp_path: Path) -> None:
    await desk.add("shop", "the old value", API)
    connection = connect(tmp_path / "journal.db", KEYS.database)
    old = connection.execute("SELECT * FROM secrets").fetchone()
    newest = await desk.add("shop", VALUE, replace=True)
    assert desk.ask(newest, "api.example.com", "GET", "/v1") == VALUE
    connection.execute("DELETE FROM secrets")
    connection.execute("INSERT INTO secrets VALUES (?, ?, ?, ?)", old)
    connection.commit()
    connection.close()
    assert desk.ask(newest, "api.example.com", "GET", "/v1") is None


async def test_tls_is_opened_for_hosts_that_a_secret_was_bound_to_with_leave(desk: Desk) -> None:
    await desk.add("shop", VALUE, API, HostBinding("*.example.org", tls=True))
    assert desk.book.opens_tls("a.example.org")
    assert not desk.book.opens_tls("example.org")
    assert not desk.book.opens_tls("api.example.com")


async def test_a_use_is_recorded_once_a_minute_for_each_destination(desk: Desk) -> None:
    shop = await desk.add("shop", VALUE, HostBinding("*.example.com"))
    for host in ("a.example.com", "a.example.com", "b.example.com"):
        desk.ask(shop, host, "GET", "/")
    desk.clock.at_ms += 60_000
    desk.ask(shop, "a.example.com", "GET", "/")
    destinations = [fact.destination for fact in desk.used]
    assert destinations == ["a.example.com", "b.example.com", "a.example.com"]
    await desk.record(desk.used[-1])
    (row,) = desk.state.secret_rows()
    assert (row.used_ms, row.used_at) == (desk.clock.at_ms, "a.example.com")


# -- arguments ------------------------------------------------------------------------------------------------------


async def test_a_bound_argument_is_filled_and_every_other_placeholder_stays(desk: Desk) -> None:
    shop = await desk.add("shop", VALUE, ToolBinding("write", "text"))
    other = await desk.add("other", "another value")
    arguments = {"path": f"{shop}.env", "text": f"A={shop}\nB={other}\nC={{{{secret:{shop}#1}}}}"}
    before = canonical(arguments)
    after = filled(arguments, "write", SESSION, desk.book)
    assert after == {"path": f"{shop}.env", "text": f"A={VALUE}\nB={other}\nC={{{{secret:{VALUE}#1}}}}"}
    assert canonical(arguments) == before
    assert filled(arguments, "edit", SESSION, desk.book) == arguments


async def test_a_value_that_looks_like_a_placeholder_is_filled_in_once(desk: Desk) -> None:
    other = await desk.add("other", "another value", ToolBinding("write", "text"))
    shop = await desk.add("shop", f"before {other} after", ToolBinding("write", "text"))
    assert filled({"text": shop}, "write", SESSION, desk.book) == {"text": f"before {other} after"}


async def test_nested_values_of_a_bound_argument_are_filled(desk: Desk) -> None:
    shop = await desk.add("shop", VALUE, ToolBinding("write", "text"))
    nested = {"text": {"lines": [shop, 7, None, [f"x{shop}"]]}, "path": [shop]}
    assert filled(nested, "write", SESSION, desk.book) == {
        "text": {"lines": [VALUE, 7, None, [f"x{VALUE}"]]},
        "path": [shop],
    }


def test_a_model_is_told_the_placeholder_and_where_it_works() -> None:
    secret = Secret("shop", 1, "{{secret:shop#1a2b3c4d}}", (API, ToolBinding("write", "text")))
    assert secrets_text(()) == ""
    assert secrets_text([secret, unbound(secret)]) == (
        "Secret shop: write {{secret:shop#1a2b3c4d}} where its value belongs, in an address percent-encoded; "
        "it works in one header of GET requests to http://api.example.com/v1; the argument text of the tool write, "
        "and nowhere else.\n"
        "Secret shop: write {{secret:shop#1a2b3c4d}} where its value belongs, in an address percent-encoded; "
        "it is bound to nothing yet, so it stays as it is everywhere."
    )


def unbound(secret: Secret) -> Secret:
    return Secret(secret.name, secret.version, secret.placeholder)


# -- redaction ------------------------------------------------------------------------------------------------------


async def test_a_change_of_the_vault_changes_what_is_redacted_at_once(desk: Desk) -> None:
    text = f"the value is {VALUE}."
    assert desk.book.words().clean(text) == text
    await desk.add("shop", VALUE)
    placeholder = desk.mark("shop")
    for redactor in (desk.book.words(), desk.book.redactor()):
        assert redactor.clean(text) == f"the value is {placeholder}."
    await desk.do(cmd.RemoveSecret("shop"))
    assert desk.book.words().clean(text) == text


SECRETS = st.text(
    st.characters(min_codepoint=33, max_codepoint=0x2FFF, exclude_categories=["C", "Z"]), min_size=12
).filter(lambda value: not {"{", "}"} & set(value))


@given(
    st.lists(SECRETS, min_size=1, max_size=3, unique=True),
    st.lists(st.text("ab {}#\n", max_size=9), min_size=1, max_size=5),
)
def test_filling_in_a_redacted_text_gives_the_text_again(values: list[str], between: list[str]) -> None:
    known = [Known(f"s{n}", mark_of(b"key", f"s{n}", 1), value) for n, value in enumerate(values)]
    text = "".join(piece + values[n % len(values)] for n, piece in enumerate(between))
    cleaned = redaction.Redactor(known, detect=False).clean(text)
    assert not any(value in cleaned for value in values)
    for one in known:
        cleaned = cleaned.replace(one.placeholder, one.value)
    assert cleaned == text
