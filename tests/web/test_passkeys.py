"""Passkeys, by themselves: which code, which challenge and which signature count."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stead.domain.devices import Device, DevicePaired, DeviceSignedIn, PairDevice, SignInDevice, fold_devices
from stead.web.errors import Problem
from stead.web.passkeys import Passkeys
from stead.web.signin import CODE_LIFE_S
from tests.fakes.authenticator import PRESENT, VERIFIED, Authenticator, decoded, encoded
from tests.web.simulator import SetClock

ORIGIN = "https://stead.example.com"


@dataclass
class House:
    """Passkeys, and the devices that they pair."""

    clock: SetClock = field(default_factory=SetClock)
    devices: dict[str, Device] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.passkeys = Passkeys(ORIGIN, 27080, lambda: self.devices, self.clock, os.urandom)

    def code(self, name: str = "phone") -> str:
        link, _ = self.passkeys.make_code(name)
        assert link.startswith(f"{ORIGIN}/pair#")
        return link.partition("#")[2]

    def pair(self, browser: Authenticator, name: str = "phone") -> None:
        """Make a device of a browser."""
        code = self.code(name)
        made = self.passkeys.created(code, browser.create(shown(self.passkeys.creation(code))))
        assert isinstance(made, PairDevice), made
        fact = DevicePaired(made.name, made.credential, made.public_key, made.sign_count)
        self.devices = dict(fold_devices(self.devices, fact, self.clock.now_ms()))

    def sign_in(self, credential: str) -> SignInDevice | Problem:
        """Show what a browser signed; what counts is recorded."""
        found = self.passkeys.signed_in(credential)
        if isinstance(found, SignInDevice):
            fact = DeviceSignedIn("phone", found.credential, found.sign_count)
            self.devices = dict(fold_devices(self.devices, fact, self.clock.now_ms()))
        return found


def shown(options: str | Problem) -> str:
    assert isinstance(options, str), options
    return options


def refused(result: object) -> bool:
    return isinstance(result, Problem) and result.status == 401


def changed_client(credential: str, **members: str) -> str:
    """The same with other client data, which the signature does not cover then."""
    shown = json.loads(credential)
    client = {**json.loads(decoded(shown["response"]["clientDataJSON"])), **members}
    shown["response"]["clientDataJSON"] = encoded(json.dumps(client).encode())
    return json.dumps(shown)


def test_a_paired_browser_signs_in_again_and_again() -> None:
    house, browser = House(), Authenticator(ORIGIN)
    house.pair(browser)
    for count in (1, 2, 3):
        found = house.sign_in(browser.get(house.passkeys.request()))
        assert found == SignInDevice(encoded(browser.credential), count)


def test_an_authenticator_that_does_not_count_signs_in_again_too() -> None:
    house, browser = House(), Authenticator(ORIGIN, count=None)
    house.pair(browser)
    for _ in range(2):
        assert house.sign_in(browser.get(house.passkeys.request())) == SignInDevice(encoded(browser.credential), 0)


def test_a_code_is_for_one_browser_and_the_next_code_ends_it() -> None:
    house = House()
    first = house.code()
    house.pair(Authenticator(ORIGIN))
    assert refused(house.passkeys.creation(first))
    code = house.code("other")
    options = shown(house.passkeys.creation(code))
    assert isinstance(house.passkeys.created(code, Authenticator(ORIGIN, b"another").create(options)), PairDevice)
    assert refused(house.passkeys.created(code, Authenticator(ORIGIN, b"a third").create(options)))
    assert refused(house.passkeys.creation(code))


def test_a_code_ends_after_ten_minutes() -> None:
    house = House()
    code, browser = house.code(), Authenticator(ORIGIN)
    options = shown(house.passkeys.creation(code))
    house.clock.advance(CODE_LIFE_S)
    assert refused(house.passkeys.created(code, browser.create(options)))
    assert refused(house.passkeys.creation(code))


def test_after_five_wrong_codes_the_right_one_counts_no_more() -> None:
    house = House()
    code = house.code()
    for _ in range(4):
        assert refused(house.passkeys.creation("guess"))
    assert isinstance(house.passkeys.creation(code), str)
    assert refused(house.passkeys.created("guess", "{}"))
    assert refused(house.passkeys.creation(code))


def test_a_code_spent_on_a_passkey_that_is_refused_is_spent() -> None:
    house = House()
    code = house.code()
    options = shown(house.passkeys.creation(code))
    assert refused(house.passkeys.created(code, Authenticator("https://evil.example.com").create(options)))
    assert refused(house.passkeys.created(code, Authenticator(ORIGIN).create(options)))


@pytest.mark.parametrize(
    ("browser", "how"),
    [
        (Authenticator("https://evil.example.com"), {}),
        (Authenticator("http://stead.example.com"), {}),
        (Authenticator(f"{ORIGIN}:8443"), {}),
        (Authenticator(ORIGIN), {"rp_id": "example.com"}),
        (Authenticator(ORIGIN), {"rp_id": "evil.example.com"}),
        (Authenticator(ORIGIN), {"kind": "webauthn.get"}),
        (Authenticator(ORIGIN), {"fmt": "android-safetynet"}),
        (Authenticator(ORIGIN), {"fmt": "tpm"}),
        (Authenticator(ORIGIN), {"fmt": "packed"}),
        (Authenticator(ORIGIN, flags=PRESENT), {}),
        (Authenticator(ORIGIN, flags=VERIFIED), {}),
        (Authenticator(ORIGIN, credential=b""), {}),
    ],
)
def test_a_passkey_that_was_made_elsewhere_or_otherwise_is_refused(browser: Authenticator, how: dict[str, str]) -> None:
    house = House()
    code = house.code()
    assert refused(house.passkeys.created(code, browser.create(shown(house.passkeys.creation(code)), **how)))


def test_a_passkey_made_for_another_challenge_is_refused() -> None:
    house, other = House(), House()
    code = house.code()
    shown(house.passkeys.creation(code))
    assert refused(
        house.passkeys.created(code, Authenticator(ORIGIN).create(shown(other.passkeys.creation(other.code()))))
    )


def test_a_signature_counts_once_and_in_time() -> None:
    house, browser = House(), Authenticator(ORIGIN, count=None)
    house.pair(browser)
    signed = browser.get(house.passkeys.request())
    assert isinstance(house.sign_in(signed), SignInDevice)
    assert refused(house.sign_in(signed))
    late = browser.get(house.passkeys.request())
    house.clock.advance(300)
    assert refused(house.sign_in(late))


def test_what_was_refused_has_spent_its_challenge() -> None:
    house, browser = House(), Authenticator(ORIGIN, count=None)
    house.pair(browser)
    options = house.passkeys.request()
    assert refused(house.sign_in(browser.get(options, rp_id="evil.example.com")))
    assert refused(house.sign_in(browser.get(options)))


@pytest.mark.parametrize("how", [{"rp_id": "evil.example.com"}, {"kind": "webauthn.create"}])
def test_a_signature_for_something_else_is_refused(how: dict[str, str]) -> None:
    house, browser = House(), Authenticator(ORIGIN)
    house.pair(browser)
    assert refused(house.sign_in(browser.get(house.passkeys.request(), **how)))


@pytest.mark.parametrize(
    "origin", ["https://evil.example.com", "http://stead.example.com", "https://STEAD.example.com"]
)
def test_a_signature_at_another_origin_is_refused(origin: str) -> None:
    house, browser = House(), Authenticator(ORIGIN)
    house.pair(browser)
    browser.origin = origin
    assert refused(house.sign_in(browser.get(house.passkeys.request())))


@pytest.mark.parametrize("flags", [PRESENT, VERIFIED, 0])
def test_a_person_who_was_not_verified_does_not_sign_in(flags: int) -> None:
    house, browser = House(), Authenticator(ORIGIN)
    house.pair(browser)
    browser.flags = flags
    assert refused(house.sign_in(browser.get(house.passkeys.request())))


def test_another_key_another_credential_and_a_copied_passkey_are_refused() -> None:
    house, browser = House(), Authenticator(ORIGIN)
    house.pair(browser)
    assert refused(house.sign_in(Authenticator(ORIGIN, browser.credential).get(house.passkeys.request())))
    unknown = Authenticator(ORIGIN, b"nobody knows it", key=browser.key)
    assert refused(house.sign_in(unknown.get(house.passkeys.request())))
    browser.count = 5
    assert isinstance(house.sign_in(browser.get(house.passkeys.request())), SignInDevice)
    browser.count = 3  # a copy that was used less
    assert refused(house.sign_in(browser.get(house.passkeys.request())))


def test_a_challenge_of_ones_own_or_of_another_home_is_refused() -> None:
    house, other, browser = House(), House(), Authenticator(ORIGIN)
    house.pair(browser)
    assert refused(house.sign_in(browser.get(other.passkeys.request())))
    forged = json.loads(house.passkeys.request())
    for challenge in ("", "AAAA", encoded(bytes(56)), forged["challenge"][:-2]):
        assert refused(house.sign_in(browser.get(json.dumps({**forged, "challenge": challenge}))))


def test_client_data_that_was_changed_afterwards_is_refused() -> None:
    house, browser = House(), Authenticator("https://evil.example.com")
    house.pair(Authenticator(ORIGIN, browser.credential, key=browser.key))
    signed = browser.get(house.passkeys.request())
    assert refused(house.sign_in(changed_client(signed, origin=ORIGIN)))


def test_a_device_that_was_removed_signs_in_no_more() -> None:
    house, browser = House(), Authenticator(ORIGIN)
    house.pair(browser)
    house.devices = {}
    assert refused(house.sign_in(browser.get(house.passkeys.request())))


def test_sign_ins_with_a_known_passkey_are_slowed_down_and_strangers_use_none_of_that_up() -> None:
    house, browser = House(), Authenticator(ORIGIN)
    house.pair(browser)
    for _ in range(50):
        assert refused(house.sign_in(Authenticator(ORIGIN, b"a stranger's").get(house.passkeys.request())))
    results = [house.sign_in(browser.get(house.passkeys.request(), rp_id="evil.example.com")) for _ in range(11)]
    assert [result.status for result in results if isinstance(result, Problem)] == [401] * 10 + [429]


_PART = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=30),
    lambda part: st.lists(part, max_size=3),
    max_leaves=4,
)


@settings(max_examples=300, deadline=None)
@given(
    st.fixed_dictionaries(
        {"id": st.sampled_from(["Y3JlZGVudGlhbC1vZi0wMDAx", "", "AA"]), "rawId": _PART, "type": _PART},
        optional={
            "response": st.dictionaries(st.sampled_from(["clientDataJSON", "attestationObject", "signature"]), _PART)
        },
    )
    | _PART,
    st.binary(max_size=60),
)
def test_garbage_is_refused_and_breaks_nothing(given_: object, raw: bytes) -> None:
    house = House()
    house.pair(Authenticator(ORIGIN, b"credential-of-0001"))
    for text in (
        json.dumps(given_),
        raw.decode("latin-1"),
        json.dumps({"response": {"attestationObject": encoded(raw)}}),
    ):
        assert refused(house.sign_in(text))
        code = house.code("other")
        shown(house.passkeys.creation(code))
        assert refused(house.passkeys.created(code, text))


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_a_passkey_with_other_bytes_in_it_is_refused_or_taken_and_breaks_nothing(data: st.DataObject) -> None:
    house, browser = House(), Authenticator(ORIGIN)
    code = house.code()
    made = json.loads(browser.create(shown(house.passkeys.creation(code))))
    attestation = bytearray(decoded(made["response"]["attestationObject"]))
    at = data.draw(st.integers(0, len(attestation) - 1))
    attestation[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=4))
    made["response"]["attestationObject"] = encoded(bytes(attestation))
    result = house.passkeys.created(code, json.dumps(made))
    assert refused(result) or isinstance(result, PairDevice)
