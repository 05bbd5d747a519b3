"""The rules of the door by themselves: hosts, origins, credentials, codes, sessions, rates."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stead.domain.errors import StorageFault
from stead.web.auth import SIGN_IN, STREAM, Auth, Caller, Credentials
from stead.web.errors import Problem
from stead.web.signin import CODE_LIFE_S, SESSION_LIFE_S, STORED_AS, TokenBucket
from tests.web.simulator import MemorySecrets, SetClock

PORT = 43210
NAME = "lantern-4821"
BEARER = "b" * 43
PAGE, CLI = f"{NAME}.localhost:{PORT}", f"127.0.0.1:{PORT}"
ORIGIN = f"http://{PAGE}"


def make(clock: SetClock | None = None, secrets: MemorySecrets | None = None) -> Auth:
    return Auth(NAME, PORT, BEARER, clock or SetClock(), os.urandom, secrets or MemorySecrets())


async def signed_in(auth: Auth, *, plain_host: bool = False) -> str:
    """The cookie of a new browser session."""
    cookie = await auth.sign_in(auth.make_code(plain_host=plain_host)[0])
    assert isinstance(cookie, str)
    return cookie.partition(";")[0].removeprefix("stead=")


def from_page(cookie: str, **changed: object) -> Credentials:
    request = Credentials(
        method="POST",
        path="/api/v1/stop",
        host=PAGE,
        origin=ORIGIN,
        cookies=(cookie,),
        csrf="1",
        fetch_site="same-origin",
        is_json=True,
        has_body=True,
    )
    return replace(request, **changed)  # type: ignore[arg-type]  # the fields' types differ


def from_cli(**changed: object) -> Credentials:
    request = Credentials("POST", "/api/v1/stop", CLI, authorization=f"Bearer {BEARER}", is_json=True, has_body=True)
    return replace(request, **changed)  # type: ignore[arg-type]  # the fields' types differ


def status(result: Caller | Problem) -> int:
    return result.status if isinstance(result, Problem) else 200


async def test_the_page_and_the_command_line_come_in_each_by_its_own_door() -> None:
    auth = make()
    caller = auth.admit(from_page(await signed_in(auth)))
    assert isinstance(caller, Caller)
    assert caller.door == "web"
    assert auth.holds(caller)
    assert auth.admit(from_cli()) == Caller("cli")


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        # the Host is exactly ours
        ({"host": ""}, 421),
        ({"host": "evil.example.com"}, 421),
        ({"host": f"evil.localhost:{PORT}"}, 421),
        ({"host": f"{NAME}.localhost"}, 421),
        ({"host": f"{NAME}.localhost:{PORT + 1}"}, 421),
        ({"host": f"x.{NAME}.localhost:{PORT}"}, 421),
        ({"host": f"localhost:{PORT}"}, 421),
        ({"host": f"[::1]:{PORT}"}, 421),
        ({"host": f"0.0.0.0:{PORT}"}, 421),
        ({"host": f"127.0.0.1:{PORT}@evil.example.com"}, 421),
        # the Origin is exactly ours
        ({"origin": ""}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://evil.example.com"}, 403),
        ({"origin": f"https://{PAGE}"}, 403),
        ({"origin": f"http://{NAME}.localhost"}, 403),
        ({"origin": f"http://{NAME}.localhost:{PORT + 1}"}, 403),
        ({"origin": f"http://127.0.0.1:{PORT}"}, 403),
        ({"fetch_site": "cross-site"}, 403),
        ({"fetch_site": "same-site"}, 403),
        # no form of another page can send these
        ({"csrf": ""}, 403),
        ({"csrf": "0"}, 403),
        ({"is_json": False}, 415),
        ({"is_json": False, "has_body": False}, 415),
        ({"method": "DELETE", "csrf": ""}, 403),
        ({"method": "PUT", "origin": ""}, 403),
        ({"method": "WS", "origin": ""}, 403),
        ({"method": "WS", "origin": "http://evil.example.com"}, 403),
        ({"method": "GET", "path": STREAM, "origin": "", "fetch_site": ""}, 403),
        ({"method": "GET", "path": STREAM, "origin": "", "fetch_site": "none"}, 403),
        # the credential
        ({"cookies": ()}, 401),
        ({"cookies": ("",)}, 401),
        ({"cookies": ("wrong" * 8,)}, 401),
        ({"cookies": (), "authorization": f"Bearer {BEARER}"}, 401),
        ({"path": "/api/v1/sign-in-codes"}, 403),
        ({"path": "/api/v1/shutdown"}, 403),
        # and what may come in
        ({}, 200),
        ({"method": "WS"}, 200),
        ({"method": "GET", "origin": "", "csrf": "", "is_json": False}, 200),
        ({"method": "GET", "path": STREAM}, 200),
        ({"method": "GET", "path": STREAM, "origin": ""}, 200),
        ({"method": "GET", "path": "/", "cookies": (), "fetch_site": "cross-site", "origin": ""}, 200),
        ({"method": "GET", "path": "/api", "cookies": ()}, 401),
        ({"method": "GET", "path": "/api/v2/status", "cookies": ()}, 401),
        ({"path": SIGN_IN, "cookies": ()}, 200),
        ({"path": SIGN_IN, "cookies": (), "csrf": ""}, 403),
        ({"path": SIGN_IN, "cookies": (), "origin": "http://evil.example.com"}, 403),
    ],
)
async def test_the_pages_door_opens_for_the_page_alone(changed: dict[str, object], expected: int) -> None:
    auth = make()
    request = from_page(await signed_in(auth), **changed)
    assert status(auth.admit(request)) == expected


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"authorization": ""}, 401),
        ({"authorization": BEARER}, 401),
        ({"authorization": f"Basic {BEARER}"}, 401),
        ({"authorization": f"Bearer {BEARER}x"}, 401),
        ({"authorization": f"Bearer {BEARER[:-1]}"}, 401),
        ({"authorization": "Bearer \xff\xfe"}, 401),
        ({"host": PAGE}, 403),
        ({"authorization": "", "is_json": False}, 401),
        ({"host": PAGE, "origin": ORIGIN, "csrf": "1"}, 401),
        ({"origin": "http://evil.example.com"}, 403),
        ({"origin": ORIGIN}, 403),
        ({"fetch_site": "cross-site"}, 403),
        ({"is_json": False}, 415),
        ({"path": "/", "method": "GET"}, 404),
        ({"path": SIGN_IN, "authorization": ""}, 401),
        ({}, 200),
        ({"authorization": f"bearer {BEARER}"}, 200),
        ({"method": "DELETE", "is_json": False, "has_body": False}, 200),
        ({"method": "WS"}, 200),
        ({"method": "GET", "path": STREAM}, 200),
        ({"path": "/api/v1/shutdown"}, 200),
    ],
)
def test_the_command_lines_door_takes_its_bearer_alone(changed: dict[str, object], expected: int) -> None:
    assert status(make().admit(from_cli(**changed))) == expected


async def test_a_cookie_is_never_accepted_on_127_0_0_1() -> None:
    auth = make()
    cookie = await signed_in(auth)
    for method in ("GET", "POST", "WS"):
        assert status(auth.admit(from_page(cookie, method=method, host=CLI, origin=f"http://{CLI}"))) == 401


async def test_the_plain_host_is_opened_by_the_command_line_alone_and_only_until_the_daemon_stops() -> None:
    secrets = MemorySecrets()
    auth = make(secrets=secrets)
    plain = {"host": CLI, "origin": f"http://{CLI}"}
    assert status(auth.admit(from_page("", method="GET", path="/", **plain))) == 404
    code, link = auth.make_code(plain_host=True)
    assert link == f"http://{CLI}/#code={code}"
    cookie = await signed_in(auth)
    assert status(auth.admit(from_page(cookie, **plain))) == 200
    assert status(auth.admit(from_page(cookie, **plain, csrf=""))) == 403
    assert status(auth.admit(from_page(cookie))) == 200
    assert status(auth.admit(from_cli())) == 200
    assert auth.make_code()[1].startswith(ORIGIN)
    assert status(make(secrets=secrets).admit(from_page(cookie, **plain))) == 401


async def test_a_neighbours_cookie_of_the_same_name_does_not_shadow_ours() -> None:
    auth = make()
    cookie = await signed_in(auth)
    assert status(auth.admit(from_page("", cookies=("planted", cookie)))) == 200


@given(
    st.builds(
        Credentials,
        method=st.sampled_from(["GET", "HEAD", "POST", "DELETE", "WS", "OPTIONS"]),
        path=st.sampled_from(["/api/v1/stop", "/api/v1/status", STREAM, "/api/v1/sign-in-codes", "/api/v1/../"]),
        host=st.sampled_from([PAGE, CLI, "localhost:1", ""]) | st.text(max_size=30),
        origin=st.sampled_from(["", ORIGIN, f"http://{CLI}", "null"]) | st.text(max_size=30),
        authorization=st.text(max_size=60) | st.sampled_from(["", "Bearer", "Bearer ", "Bearer null"]),
        cookies=st.lists(st.text(max_size=50), max_size=3).map(tuple),
        csrf=st.sampled_from(["", "1"]),
        fetch_site=st.sampled_from(["", "same-origin", "none", "cross-site"]),
        is_json=st.booleans(),
        has_body=st.booleans(),
    )
)
def test_nobody_without_a_credential_reaches_the_api(request: Credentials) -> None:
    assert isinstance(make().admit(request), Problem)


def test_a_short_bearer_is_refused() -> None:
    with pytest.raises(ValueError, match="guessable"):
        Auth(NAME, PORT, "short", SetClock(), os.urandom, MemorySecrets())


# -- codes and sessions ---------------------------------------------------------------------------------------------


async def test_a_code_is_good_once() -> None:
    auth = make()
    code, link = auth.make_code()
    assert link == f"{ORIGIN}/#code={code}"
    assert len(code) == 43
    cookie = await auth.sign_in(code)
    assert isinstance(cookie, str)
    assert cookie.startswith("stead=")
    assert cookie.endswith("; Max-Age=2592000; Path=/; HttpOnly; SameSite=Strict")
    assert "Domain" not in cookie
    assert status_of(await auth.sign_in(code)) == 401


async def test_a_code_lives_ten_minutes() -> None:
    clock = SetClock()
    auth = make(clock)
    early, late = auth.make_code()[0], auth.make_code()[0]
    clock.advance(CODE_LIFE_S - 1)
    assert status_of(await auth.sign_in(early)) == 200
    clock.advance(1)
    assert status_of(await auth.sign_in(late)) == 401


async def test_wrong_codes_are_rate_limited_and_then_locked_out() -> None:
    clock = SetClock()
    auth = make(clock)
    good, _ = auth.make_code()
    results = [status_of(await auth.sign_in("guess")) for _ in range(8)]
    assert results == [401] * 5 + [429] * 3
    for _ in range(5):
        clock.advance(10)
        assert status_of(await auth.sign_in("guess")) == 401
    clock.advance(300)
    locked = await auth.sign_in(good)
    assert isinstance(locked, Problem)
    assert locked.status == 429
    assert 590 <= locked.retry_after_s <= 600
    clock.advance(601)
    assert status_of(await auth.sign_in(auth.make_code()[0])) == 200


async def test_whoever_holds_the_bearer_lifts_the_lock_with_a_new_code() -> None:
    clock = SetClock()
    auth = make(clock)
    for _ in range(10):
        clock.advance(10)
        await auth.sign_in("guess")
    assert status_of(await auth.sign_in("guess")) == 429
    clock.advance(10)
    assert status_of(await auth.sign_in(auth.make_code()[0])) == 200


async def test_a_session_outlives_a_restart_and_ends_after_thirty_days() -> None:
    clock, secrets = SetClock(), MemorySecrets()
    cookie = await signed_in(make(clock, secrets))
    restarted = make(clock, secrets)
    assert status(restarted.admit(from_page(cookie))) == 200
    clock.advance(SESSION_LIFE_S)
    assert status(restarted.admit(from_page(cookie))) == 401


async def test_neither_code_nor_cookie_is_kept_in_plain() -> None:
    secrets = MemorySecrets()
    auth = make(secrets=secrets)
    code, _ = auth.make_code()
    cookie = await auth.sign_in(code)
    assert isinstance(cookie, str)
    token = cookie.partition(";")[0].removeprefix("stead=")
    kept = secrets.values[STORED_AS] + repr(vars(auth)) + repr(vars(vars(auth)["_codes"]))
    for secret in (code, token, BEARER):
        assert secret not in kept


async def test_a_session_that_has_run_out_is_kept_no_longer_than_the_next_sign_in() -> None:
    clock, secrets = SetClock(), MemorySecrets()
    auth = make(clock, secrets)
    await signed_in(auth)
    clock.advance(SESSION_LIFE_S + 1)
    await signed_in(auth)
    assert str(secrets.get(STORED_AS)).count("expires_ms") == 1


async def test_a_session_that_signed_out_is_gone_for_good() -> None:
    secrets = MemorySecrets()
    auth = make(secrets=secrets)
    cookie, other = await signed_in(auth), await signed_in(auth)
    caller = auth.admit(from_page(cookie))
    assert isinstance(caller, Caller)
    assert (await auth.sign_out(caller)).startswith("stead=; Max-Age=0;")
    assert not auth.holds(caller)
    for door in (auth, make(secrets=secrets)):
        assert status(door.admit(from_page(cookie))) == 401
        assert status(door.admit(from_page(other))) == 200


async def test_a_session_that_cannot_be_kept_is_not_opened() -> None:
    secrets = MemorySecrets()
    auth = make(secrets=secrets)
    code, _ = auth.make_code()
    secrets.fault = StorageFault("the disk is full")
    with pytest.raises(StorageFault):
        await auth.sign_in(code)
    secrets.fault = None
    assert status_of(await auth.sign_in(code)) == 401
    await signed_in(auth)
    assert secrets.values[STORED_AS].count("expires_ms") == 1


async def test_damaged_sessions_only_sign_browsers_out() -> None:
    secrets = MemorySecrets()
    cookie = await signed_in(make(secrets=secrets))
    secrets.values[STORED_AS] = "not what was written"
    auth = make(secrets=secrets)
    assert status(auth.admit(from_page(cookie))) == 401
    assert status(auth.admit(from_page(await signed_in(auth)))) == 200


async def test_only_so_many_sessions_and_codes_are_held() -> None:
    auth = make()
    codes = [auth.make_code()[0] for _ in range(17)]
    assert status_of(await auth.sign_in(codes[0])) == 401
    assert status_of(await auth.sign_in(codes[1])) == 200
    clock = SetClock()
    auth = make(clock)
    cookies = []
    for _ in range(65):
        clock.advance(10)
        cookies.append(await signed_in(auth))
    assert status(auth.admit(from_page(cookies[0]))) == 401
    assert all(status(auth.admit(from_page(cookie))) == 200 for cookie in cookies[1:])


def test_a_door_that_is_flooded_says_when_to_come_back() -> None:
    clock = SetClock()
    auth = make(clock)
    results = [auth.admit(from_cli(authorization="Bearer wrong")) for _ in range(2001)]
    assert {status(result) for result in results[:2000]} == {401}
    last = results[-1]
    assert isinstance(last, Problem)
    assert last.status == 429
    assert last.retry_after_s > 0
    assert status(auth.admit(from_cli())) == 200, "strangers must not shut the person out"
    clock.advance(1)
    assert status(auth.admit(from_cli(authorization="Bearer wrong"))) == 401


@given(st.lists(st.floats(-5, 5), max_size=60))
def test_a_rate_is_never_passed_whatever_the_clock_does(steps: list[float]) -> None:
    clock = SetClock()
    bucket = TokenBucket(clock, burst=3, per_s=1.0)
    taken, forward = 0, 0.0
    for step in steps:
        clock.advance(step)
        forward += max(0.0, step) + 0.001
        taken += bucket.take() == 0.0
    assert taken <= 3 + forward


def status_of(result: str | Problem) -> int:
    return result.status if isinstance(result, Problem) else 200
