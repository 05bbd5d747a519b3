"""A home whose page has a public name, and phones that use it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.fakes.phone import Phone
from tests.fakes.proxies import PAGE, Proxy, free_port, proxied
from tests.flows.house import LivingHome


@contextmanager
def reachable(root: Path, *, port: int = 443, public_port: int = 0, more: str = "") -> Iterator[LivingHome]:
    """A running home whose page is at ``PAGE`` and this port; the proxy's way in is at another one."""
    living = LivingHome(root / "home", forked=True)
    living.home.make()
    url = f"https://{PAGE}" + ("" if port == 443 else f":{port}")
    settings = f'discover = "off"\nembedder = "off"\npublic_url = "{url}"\npublic_port = {public_port}\n{more}'
    living.home.settings.write_text(settings, "utf-8")
    try:
        living.start()
        yield living
    finally:
        living.stop()


def direct(house: LivingHome) -> Phone:
    """A phone, and a proxy that passes on whatever it sends."""
    told = house.get("/remote")
    return Phone(told["url"], int(told["proxy_to"].rpartition(":")[2]))


def paired(house: LivingHome, phone: Phone, name: str = "ada-phone") -> Phone:
    """The phone, paired and signed in."""
    link = house.post("/remote/pairing", {"name": name})["url"]
    assert phone.pair(link).status_code == 200
    assert phone.sign_in().status_code == 200
    return phone


@contextmanager
def behind(
    kind: str, root: Path, *, block_name: str = "", more: str = "", hooks_to: int = 0
) -> Iterator[tuple[LivingHome, Proxy]]:
    """A home whose page is behind a real proxy."""
    port, public_port = free_port(), free_port()
    with (
        reachable(root, port=port, public_port=public_port, more=more) as house,
        proxied(kind, root / "proxy", public_port, hooks_to, port, block_name=block_name) as proxy,
    ):
        yield house, proxy
