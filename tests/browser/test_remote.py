"""The page on a phone: behind real proxies, with Chromium's virtual authenticator in place of a finger."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from playwright.sync_api import Browser, CDPSession, Page, expect

from tests.browser.axe import axe
from tests.browser.chrome import CHROMIUM, FLAGS, PHONE, Look, Visit, is_live, settled
from tests.browser.plays import play
from tests.browser.stage import Stage
from tests.browser.watch import Watch
from tests.fakes.proxies import KINDS, PAGE, Proxy
from tests.flows.away import behind
from tests.flows.house import LivingHome
from tests.flows.served import served
from tests.promises import promise


@contextmanager
def trusting(browser: Browser, proxy: Proxy) -> Iterator[Browser]:
    """A browser that finds the public name on loopback, and trusts the proxy's certificate and no other."""
    certificate = x509.load_pem_x509_certificate(proxy.authority.read_bytes())
    key = certificate.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    pin = base64.b64encode(hashlib.sha256(key).digest()).decode()
    flags = [f"--host-resolver-rules=MAP {PAGE} 127.0.0.1", f"--ignore-certificate-errors-spki-list={pin}"]
    own = browser.browser_type.launch(executable_path=CHROMIUM, args=[*FLAGS, *flags])
    try:
        yield own
    finally:
        own.close()


@pytest.fixture(scope="module", params=[KINDS[0], *(pytest.param(one, marks=pytest.mark.long) for one in KINDS[1:])])
def outside(
    request: pytest.FixtureRequest, browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[LivingHome, Proxy, Browser]]:
    """A home behind each proxy, and a browser elsewhere."""
    with (
        behind(request.param, tmp_path_factory.mktemp(request.param)) as (house, proxy),
        trusting(browser, proxy) as elsewhere,
    ):
        yield house, proxy, elsewhere


def phone(browser: Browser, watch: Watch, proxy: Proxy, look: Look = PHONE) -> tuple[Page, CDPSession]:
    """A tab of a phone that has a passkey's authenticator, and what the authenticator is controlled by."""
    context = browser.new_context(
        viewport={"width": look.width, "height": look.height},
        is_mobile=look.touch,
        has_touch=look.touch,
        locale="en-GB",
    )
    watch.attach(context, f"{PAGE}:{proxy.port}")
    page = context.new_page()
    control = context.new_cdp_session(page)
    control.send("WebAuthn.enable")
    options = {"protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True}
    options |= {"isUserVerified": True, "automaticPresenceSimulation": True}
    control.send("WebAuthn.addVirtualAuthenticator", {"options": options})
    return page, control


@promise("SEC-12.tls", "SEC-12.pairing")
def test_a_phone_is_paired_signs_in_and_out_and_in_again_until_it_is_removed(
    outside: tuple[LivingHome, Proxy, Browser], visit: Visit, watch: Watch, tmp_path: Path
) -> None:
    house, proxy, elsewhere = outside
    with served(play) as model:
        desk = visit(Stage(house, tmp_path, model), "/settings?section=devices")
    desk.get_by_role("button", name="Pair a device").click()
    desk.get_by_role("textbox", name="Name of the device").fill("ada-phone")
    desk.get_by_role("button", name="Show the code").click()
    expect(desk.get_by_role("img", name="QR code of the pairing link")).to_be_visible()
    axe(desk)
    link = house.post("/remote/pairing", {"name": "ada-phone"})["url"]

    watch.expect(401, "/api/v1/")
    page, _ = phone(elsewhere, watch, proxy)
    page.goto(link)
    expect(page.get_by_role("heading", name="Pair this browser")).to_be_visible()
    axe(page)
    assert "#" not in page.url
    page.get_by_role("button", name="Make the passkey").click()
    expect(page.get_by_text("This browser is paired as ada-phone")).to_be_visible()
    page.get_by_role("button", name="Sign in with the passkey").click()
    settled(page)
    desk.get_by_role("button", name="Done").click()
    expect(desk.get_by_role("listitem", name="ada-phone")).to_be_visible()
    desk.get_by_role("listitem", name="ada-phone").get_by_role("button", name="Rename").click()
    desk.get_by_role("textbox", name="Name of the device").fill("ada-tablet")
    axe(desk)
    desk.get_by_role("dialog").get_by_role("button", name="Rename").click()
    expect(desk.get_by_role("listitem", name="ada-tablet")).to_be_visible()

    page.goto(f"{proxy.url()}/settings?section=devices")
    settled(page)
    expect(page.get_by_text("Devices are paired on the computer that Stead runs on.")).to_be_visible()
    expect(page.get_by_role("button", name="Pair a device")).to_have_count(0)
    page.goto(f"{proxy.url()}/settings?section=browser")
    settled(page)
    page.get_by_role("button", name="Sign this browser out").click()
    page.get_by_role("alertdialog").or_(page.get_by_role("dialog")).get_by_role(
        "button", name="Sign this browser out"
    ).click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    page.goto(f"{proxy.url()}/approvals")
    page.get_by_role("button", name="Sign in with the passkey").click()
    settled(page)
    expect(page.get_by_role("heading", name="Inbox", level=1)).to_be_visible()

    desk.get_by_role("listitem", name="ada-tablet").get_by_role("button", name="Remove").click()
    desk.get_by_role("dialog").or_(desk.get_by_role("alertdialog")).get_by_role("button", name="Remove").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    page.get_by_role("button", name="Sign in with the passkey").click()
    expect(page.get_by_role("alert")).to_contain_text("not one of Stead's")


def test_the_page_can_be_installed_and_its_worker_answers_no_request(
    outside: tuple[LivingHome, Proxy, Browser], watch: Watch
) -> None:
    house, proxy, elsewhere = outside
    watch.expect(401, "/api/v1/")
    page, control = phone(elsewhere, watch, proxy)
    page.goto(house.post("/remote/pairing", {"name": "eve-phone"})["url"])
    page.get_by_role("button", name="Make the passkey").click()
    page.get_by_role("button", name="Sign in with the passkey").click()
    is_live(page)
    errors = control.send("Page.getInstallabilityErrors")["installabilityErrors"]
    assert [error["errorId"] for error in errors] == ["in-incognito"]  # which every window of a test is
    page.context.grant_permissions(["notifications"], origin=proxy.url())
    page.goto(f"{proxy.url()}/settings?section=notifications")
    settled(page)
    watch.expect_console("push service")
    page.get_by_role("button", name="Add this browser").click()
    expect(page.get_by_role("region", name="Notifications").get_by_text("This browser")).to_be_visible()
    worker = "navigator.serviceWorker.ready.then((one) => one.active.scriptURL)"
    assert page.evaluate(worker) == f"{proxy.url()}/push.js"
    page.reload()
    settled(page)
