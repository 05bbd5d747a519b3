"""Everything that a person has set, as one file: written out, applied, applied again, elsewhere, and with errors."""

from __future__ import annotations

import contextlib
import json
import threading
import tomllib
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from stead.cli.settings_file import _checked, _text
from stead.client import ApiError, NoDaemon
from stead.domain.settings_file import HomeSettings
from tests.flows.conftest import running_home
from tests.flows.house import Json, LivingHome
from tests.promises import promise

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
"""Invented, in the form of a token."""


def exported(house: LivingHome) -> str:
    """The file, as the command writes it."""
    done = house.cli("export", "config")
    assert done.returncode == 0, done.stderr
    return done.stdout


def applied(house: LivingHome, text: str, *words: str) -> Json:
    file = house.root.parent / "applied.toml"
    file.write_text(text, "utf-8")
    done = house.cli("apply", str(file), "--json", *words)
    assert done.returncode == 0, done.stderr
    (row,) = map(json.loads, done.stdout.splitlines())
    return dict(row)


def refused(house: LivingHome, content: str | bytes, *words: str) -> str:
    """Apply what is refused; gives what was said. Nothing may have been recorded."""
    file = house.root.parent / "refused.toml"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    before = len(house.events())
    done = house.cli("apply", str(file), "--yes", *words)
    assert done.returncode == 2, done.stdout + done.stderr
    assert len(house.events()) == before
    return done.stderr


def furnish(house: LivingHome, project: Path) -> None:
    """Set something of every kind."""
    house.post("/providers", {"name": "acme", "preset": "compatible", "base_url": "https://models.example.com/v1"})
    house.post("/providers", {"name": "acme-two", "preset": "compatible", "account_of": "acme", "key": "env:ACME_TWO"})
    model = {"model": "big", "input_price": 0, "output_price": 5, "params": {"top_k": 3, "stop": ["a\nb"]}}
    house.post("/providers/acme/models", {**model, "headers": {"X-Team": "${TEAM}"}, "trust": "strict"})
    house.post("/chain", {"chain": [{"provider": "acme", "model": "big"}]})
    house.post("/roles", {"role": "fast", "chain": [{"provider": "acme", "model": "small/one"}]})
    house.post("/cap", {"daily": {"tokens": 1_000_000, "usd_micros": "unlimited"}, "warn_at": [70]})
    house.post("/web-search", {"engine": "searxng", "url": "https://search.example.com"})
    binding = {"type": "host", "host": "api.example.com", "methods": ["GET"], "place": "header:x-key"}
    house.post("/secrets/shop/bindings", {"binding": binding})
    house.post("/egress/hosts", {"host": "registries", "directory": str(project), "grants_last": True})
    rule = {"id": "", "decision": "ask", "what": ["send"], "where": [{"role": "host", "values": ["example.org"]}]}
    house.post("/rules", {"rule": rule})
    house.post("/rules", {"text": "never delete files", "confirmed": True})
    words = {"title": 'Quotes "and" \\ signs', "text": 'One\n"""two"""\n\ttab "\n', "directory": str(project)}
    house.post("/directives", {"kind": "custom", **words})
    house.post("/mcp", {"name": "clock", "command": ["clock-server", "--utc"], "settings": {"TZ": "UTC"}})
    agent = {"name": "helper", "command": ["helper", "--acp"], "hosts": ["api.example.com"], "secrets": {"KEY": "shop"}}
    house.post("/external-agents", agent)
    house.post(
        "/profiles", {"name": "night", "profile": "readonly", "limits": {"iterations": 7}, "hosts": ["b.example.com"]}
    )
    job = {"type": "session.open", "directory": str(project), "goal": "Look\nafter it", "secrets": ["shop"]}
    house.post("/schedules", {"name": "often", "when": {"type": "every", "seconds": 86_400}, "job": job})
    house.post("/schedules", {"name": "off", "when": {"type": "cron", "expression": "0 7 * * 1-5"}, "job": job})
    house.post("/schedules/off/switch", {"on": False})
    arrival = {"type": "arrival", "source": {"type": "webhook", "form": "github", "secret": "shop"}, "hourly": 7}
    house.post("/schedules", {"name": "pushed", "when": arrival, "job": job})
    watched = {"watches": [{"type": "path", "path": "notes.md"}, {"type": "http", "url": "https://example.com/"}]}
    house.post("/schedules", {"name": "watch", "when": {"type": "every", "seconds": 86_400}, "job": job, **watched})
    # An address where nothing answers: what is set is compared, not reached.
    bot = {"settings": {"api": "http://127.0.0.1:9"}, "secrets": {"token": "shop"}}
    house.post("/channels", {"name": "quill", "kind": "telegram", **bot})
    house.post("/channels/quill/switch", {"on": False})
    house.post("/cap", {"channel": "quill", "monthly": {"tokens": 5_000_000, "usd_micros": "unlimited"}})
    house.post("/notifications", {"name": "desk", "via": {"type": "desktop"}, "kinds": ["cap"], "digest": "18:00"})
    mail = {"type": "mail", "host": "mail.example.com", "sender": "a@example.com", "to": ["b@example.com"]}
    house.post("/notifications", {"name": "post", "via": mail})
    house.post("/notifications/post/switch", {"on": False})


@promise("OPS-7.export", "OPS-7.apply", "OPS-7.idempotent")
def test_what_one_home_exports_another_applies_and_exports_the_same_and_a_second_time_changes_nothing(
    house: LivingHome, project: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    house.post("/secrets", {"name": "shop", "value": "violet-harbour-77"})
    furnish(house, project)
    text = exported(house)
    assert "violet-harbour-77" not in text and "stead secret add NAME: shop" in text
    filled = msgspec.structs.asdict(msgspec.convert(house.get("/settings")["settings"], HomeSettings))
    assert all(filled.values()), "something of every kind"
    before = len(house.events())
    assert applied(house, text)["changes"] == []
    assert len(house.events()) == before
    with running_home(tmp_path_factory.mktemp("other")) as other:
        said = refused(other, text)
        assert "there is no secret 'shop'" in said and "line " in said
        other.post("/secrets", {"name": "shop", "value": "amber-meadow-12"})
        done = applied(other, text, "--yes")
        assert done["applied"] and {one["section"] for one in done["changes"]} == filled.keys()
        assert exported(other) == text
        before = len(other.events())
        assert not applied(other, text, "--yes", "--prune")["applied"]
        assert len(other.events()) == before
        (cap,) = other.get("/cap")["channels"]
        assert (cap["channel"], cap["monthly"]["tokens"]) == ("quill", 5_000_000)
        assert [row["on"] for row in other.get("/schedules")["items"]] == [False, True, True, True]
        assert [(row["channel"]["name"], row["on"]) for row in other.get("/channels")["items"]] == [("quill", False)]
        assert {row["target"]["name"]: row["on"] for row in other.get("/notifications")["items"]} == {
            "desk": True,
            "post": False,
        }


NAMES = st.sampled_from(["acme", "birch", "cedar-2", "delta"])
TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=40).filter(str.strip)
HOSTS = st.sampled_from(["a.example.com", "*.B.example.com", "c.example.com:8443"])
CHAINS = st.lists(st.fixed_dictionaries({"provider": NAMES, "model": TEXTS}), max_size=2)
FIGURES = st.one_of(st.just("unlimited"), st.integers(1, 10**9))
BUDGETS = st.fixed_dictionaries({"tokens": FIGURES, "usd_micros": FIGURES})
PROFILES = st.fixed_dictionaries(
    {"name": NAMES},
    optional={
        "profile": st.sampled_from(["work", "ask", "readonly"]),
        "chain": CHAINS,
        "budget": BUDGETS,
        "hosts": st.lists(HOSTS, unique=True, max_size=2),
        "limits": st.fixed_dictionaries({"iterations": st.integers(1, 1000)}),
    },
)
WHENS = st.one_of(
    st.fixed_dictionaries({"type": st.just("every"), "seconds": st.integers(60, 10**6)}),
    st.fixed_dictionaries(
        {
            "type": st.just("cron"),
            "expression": st.sampled_from(["0 7 * * 1-5", "*/9 * * * *"]),
            "zone": st.sampled_from(["", "Europe/Berlin", "Asia/Kolkata"]),
        }
    ),
)


@st.composite
def documents(draw: st.DrawFn, folder: str) -> Json:
    """A document of settings that can be, for a folder."""

    def named(items: st.SearchStrategy[Json], key: str = "name") -> list[Json]:
        return draw(st.lists(items, max_size=3, unique_by=lambda one: str(one[key]).casefold()))

    providers = {"name": NAMES, "preset": st.just("compatible"), "base_url": st.just("https://m.example.com/v1")}
    places = st.sampled_from(["none", "vault", "env:SOME_KEY"])
    jobs = {"type": st.just("session.open"), "directory": st.just(folder), "goal": TEXTS}
    schedules = {"name": NAMES, "when": WHENS, "job": st.fixed_dictionaries(jobs, optional={"budget": BUDGETS})}
    found: Json = {
        "providers": named(st.fixed_dictionaries(providers, optional={"key": places})),
        "hosts": named(st.fixed_dictionaries({"directory": st.just(folder), "host": HOSTS}), "host"),
        "rules": named(
            st.fixed_dictionaries(
                {
                    "decision": st.sampled_from(["deny", "ask", "allow"]),
                    "what": st.lists(st.sampled_from(["send", "run", "delete"]), min_size=1, max_size=2, unique=True),
                }
            ),
            "decision",
        ),
        "directives": named(
            st.fixed_dictionaries({"title": TEXTS, "kind": st.just("custom"), "text": TEXTS, "enabled": st.booleans()}),
            "title",
        ),
        "profiles": named(PROFILES),
        "schedules": named(st.fixed_dictionaries(schedules, optional={"on": st.booleans()})),
    }
    if draw(st.booleans()):
        found["caps"] = {"daily": draw(BUDGETS), "monthly": draw(BUDGETS)}
    return found


@promise("OPS-7.idempotent")
@pytest.mark.parametrize("documents_tried", [4, pytest.param(20, marks=pytest.mark.long)])
def test_whatever_is_set_comes_back_the_same_from_a_file_in_another_home(
    house: LivingHome, project: Path, tmp_path_factory: pytest.TempPathFactory, documents_tried: int
) -> None:
    with running_home(tmp_path_factory.mktemp("other")) as other:

        @settings(
            max_examples=documents_tried,
            deadline=None,
            derandomize=True,
            phases=(Phase.generate,),
            suppress_health_check=list(HealthCheck),
        )
        @given(documents(str(project)))
        def comes_back(document: Json) -> None:
            try:
                house.post("/settings", {"settings": document, "prune": True})
            except ApiError as error:
                assert "title" in error.message or "directive" in error.message, error.message
                return
            assert house.post("/settings/plan", {"settings": document, "prune": True})["changes"] == []
            text = _text(house.get("/settings"))
            again = _checked(text, "a file")
            assert again == tomllib.loads(text)
            other.post("/settings", {"settings": again, "prune": True})
            assert _text(other.get("/settings")) == text
            assert other.post("/settings/plan", {"settings": again, "prune": True}) == {"changes": [], "problems": []}

        comes_back()


@promise("OPS-7.errors")
def test_all_errors_of_a_file_are_told_with_their_lines_and_nothing_is_applied(house: LivingHome) -> None:
    said = refused(
        house,
        """colour = "blue"

[[providers]]
name = "acme"
preset = "openai"
api_key = "hunter2"

[[rules]]
decision = "perhaps"

[[schedules]]
name = "a"
[schedules.when]
type = "hourly"
[schedules.job]
type = "session.open"
directory = "/"
goal = 7

[caps.daily]
tokens = 5
usd_micros = "much"

[[hosts]]
directory = "/"
""",
    )
    told = {int(line.split()[1].rstrip(":")): line for line in said.splitlines() if line.strip().startswith("line ")}
    assert told.keys() == {1, 6, 9, 14, 18, 22, 24}, said
    assert "there is no setting api_key" in told[6] and "hunter2" not in said
    assert "one of deny, ask, allow" in told[9] and "one of cron, every, once" in told[14]
    assert "host is missing" in told[24]
    said = refused(
        house,
        """[[providers]]
name = "good"
preset = "openai"
key = "env:GOOD"

[[providers]]
name = "bad"
preset = "nowhere"

[[hosts]]
host = "example.com"
directory = "/nowhere/at/all"

[[schedules]]
name = "never"
when = {type = "cron", expression = "0 0 30 2 *"}
job = {type = "session.open", directory = "/tmp", goal = "x"}

[[models]]
name = "missing"
model = "m"

[[bindings]]
name = "nothing"
binding = {type = "host", host = "example.com"}
""",
    )
    for line, why in (
        (6, "preset 'nowhere' is unknown"),
        (10, "is no folder"),
        (14, "none that ever comes"),
        (19, "no provider 'missing'"),
        (23, "there is no secret 'nothing'"),
    ):
        assert f"line {line}: " in said and why in said, said
    assert house.get("/settings")["settings"]["providers"] == []


@promise("OPS-7.no-secrets")
@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"#" * 10_000_000, "more than 5.0 MB"),
        (b"chain = " + b"[" * 400_000, "nested too deeply"),
        (b"a" + b".a" * 400_000 + b" = 1", "nested too deeply"),
        (b"[caps]\n[caps]\n", "not valid TOML"),
        (b"chain = []\nchain = []\n", "not valid TOML"),
        (b"chain = [\xff]", "not UTF-8"),
        (b'[[hosts]]\nhost = "a\x00b"\n', "not valid TOML"),
        (f"# {TOKEN}\n".encode(), "line 1: this looks like a secret"),
        (
            f'[[providers]]\nname = "a"\npreset = "openai"\nkey = "{TOKEN}"\n'.encode(),
            "line 4: this looks like a secret",
        ),
        (
            b'[[providers]]\nname = "a"\npreset = "openai"\nkey = "hunter2-hunter2"\n',
            "a key is given as none, env:NAME",
        ),
        (b'[[hosts]]\ndirectory = "/"\nhost = "example.com"\ngrants_last = "hunter2-hunter2"\n', "line 4: grants_last"),
        (b'[[rules]]\ndecision = "hunter2-hunter2"\n', "line 2: decision: one of deny, ask, allow"),
        (b'[[mcp_servers]]\nname = "clock"\ncommand = ["x"]\nsecrets = ["KEY"]\n', "stead mcp add clock"),
    ],
)
def test_hostile_files_and_pasted_secrets_are_refused_and_never_repeated(
    shared_house: LivingHome, content: bytes, why: str
) -> None:
    said = refused(shared_house, content)
    assert why in said, said[:2000]
    assert TOKEN not in said and "hunter2" not in said and "Traceback" not in said
    assert "next: " in said


@promise("OPS-7.no-secrets")
def test_a_value_of_the_vault_in_a_file_is_found_by_the_daemon(own_house: LivingHome) -> None:
    own_house.post("/secrets", {"name": "shop", "value": "violet-harbour-77"})
    said = refused(
        own_house, '\n[[directives]]\ntitle = "How"\nkind = "custom"\ntext = "say violet-harbour-77 to them"\n'
    )
    assert "line 2: it holds the value of a secret" in said and "violet-harbour" not in said


@promise("OPS-7.guard")
def test_what_weakens_protection_is_listed_as_such_and_asked_about(own_house: LivingHome, project: Path) -> None:
    house = own_house
    house.post("/rules", {"text": "never delete files", "confirmed": True})
    house.post("/cap", {"daily": {"tokens": "unlimited", "usd_micros": 1_000_000}})
    house.post("/profiles", {"name": "night", "profile": "readonly"})
    text = exported(house)
    looser = (
        text.replace('decision = "deny"', 'decision = "allow"')
        .replace("usd_micros = 1000000", "usd_micros = 2000000")
        .replace('profile = "readonly"', 'profile = "work"')
    )
    looser += f'\n[[hosts]]\ndirectory = "{project}"\nhost = "example.com"\n'
    file = house.root.parent / "looser.toml"
    file.write_text(looser, "utf-8")
    before = len(house.events())
    asked = house.cli("apply", str(file), "--prune")
    assert asked.returncode == 3 and "--yes" in asked.stderr
    weaker = asked.stdout.partition("These weaken what protects you:")[2]
    assert weaker.count("  ! ") == 5, asked.stdout
    for words in ("may be spent", "allows without asking", "no longer so", "less strict", "reach it without asking"):
        assert words in weaker
    tried = house.cli("apply", str(file), "--prune", "--dry-run")
    assert tried.returncode == 0 and "Nothing was changed." in tried.stdout
    assert len(house.events()) == before
    assert applied(house, looser, "--prune", "--yes")["applied"]
    back = applied(house, text, "--prune", "--yes")["changes"]
    assert not any(one["weakens"] for one in back if one["change"] != "removed" or one["section"] != "rules")
    assert exported(house) == text


@pytest.mark.long
@promise("OPS-7.idempotent")
def test_an_apply_that_a_kill_cut_off_is_completed_by_the_same_again(own_house: LivingHome, project: Path) -> None:
    house = own_house
    hosts = "".join(f'[[hosts]]\ndirectory = "{project}"\nhost = "h{n}.example.com"\n' for n in range(400))
    document = tomllib.loads(hosts)

    def send() -> None:
        with contextlib.suppress(ApiError, NoDaemon):  # the daemon is killed meanwhile
            house.client().post("/settings", {"settings": document}, timeout_s=60)

    sending = threading.Thread(target=send)
    sending.start()
    house.until(lambda: len(house.bodies("home", "host.allowed")) >= 20, "the first changes", poll_s=0.001)
    house.kill()
    sending.join(30)
    house.start()
    done = len(house.bodies("home", "host.allowed"))
    assert 20 <= done < 400
    assert len(applied(house, hosts, "--yes")["changes"]) == 400 - done
    assert len(house.bodies("home", "host.allowed")) == 400, "none twice"
    assert applied(house, hosts)["changes"] == []


@promise("OPS-7.profiles")
def test_work_is_started_with_a_named_profile_and_a_schedule_keeps_what_it_was_set_with(
    own_house: LivingHome, project: Path
) -> None:
    house = own_house
    assert "There is no named profile" in house.cli("profile").stdout
    model = "rehearsal/rehearsal"
    words = ("--profile", "readonly", "--model", model, "--budget-tokens", "9000", "--host", "API.example.com")
    assert house.cli("profile", "add", "night", *words, "--iterations", "9").returncode == 0
    assert "readonly" in house.cli("profile", "list").stdout
    goal = ("--dir", str(project), "List the headings of README.md")
    ran = house.cli("run", "--as", "night", "--detach", "--json", *goal, "--budget-tokens", "8000")
    assert ran.returncode == 0, ran.stderr
    (opened,) = house.bodies(json.loads(ran.stdout.splitlines()[0])["id"], "session.opened")
    assert (opened["profile"], opened["budget"]["tokens"], opened["limits"]["iterations"]) == ("readonly", 8000, 9)
    assert (opened["hosts"], opened["chain"][0]["model"]) == (["api.example.com"], "rehearsal")
    assert house.cli("schedule", "add", "each", *goal, "--when", "every 3h", "--as", "night").returncode == 0
    assert house.cli("profile", "add", "night", "--profile", "work", "--host", "other.example.com").returncode == 0
    (row,) = house.get("/schedules")["items"]
    assert (row["schedule"]["job"]["profile"], row["schedule"]["job"]["hosts"]) == ("readonly", ["api.example.com"])
    assert house.cli("profile", "remove", "night", "--yes").returncode == 0
    gone = house.cli("run", "--as", "night", *goal)
    assert gone.returncode == 2 and "there is no profile 'night'" in gone.stderr
    overdrawn = {"budget": {"tokens": 0, "usd_micros": -1}}
    odd: tuple[Json, ...] = ({"name": "Odd"}, {"hosts": ["localhost"]}, {"profile": "none"}, overdrawn)
    for body in odd:
        with pytest.raises(ApiError):
            house.post("/profiles", {"name": "a", **body})
