"""Which URLs and addresses may be fetched, by their text alone."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stead.guardian.reach import Reach, Target, Unreachable, is_public, parse_address

REACH = Reach()


@pytest.mark.parametrize(
    ("url", "host", "port", "path"),
    [
        ("http://example.com", "example.com", 80, "/"),
        ("https://example.com/a/b?c=d&e=f#g", "example.com", 443, "/a/b?c=d&e=f"),
        ("HTTPS://EXAMPLE.COM./x", "example.com", 443, "/x"),
        ("https://example.com:8443/", "example.com", 8443, "/"),
        ("http://example.com:/", "example.com", 80, "/"),
        ("https://93.184.216.34/", "93.184.216.34", 443, "/"),
        ("https://[2606:2800:220:1::1]/", "2606:2800:220:1::1", 443, "/"),
        ("https://[64:ff9b::5db8:d822]/", "64:ff9b::5db8:d822", 443, "/"),
        ("https://xn--mller-kva.example.com/", "xn--mller-kva.example.com", 443, "/"),
        ("https://example.com/ü?q=ä%20b", "example.com", 443, "/%C3%BC?q=%C3%A4%20b"),
        ("https://example.com/%2e%2e/a", "example.com", 443, "/%2e%2e/a"),
        ("https://a_b.example.com/", "a_b.example.com", 443, "/"),
    ],
)
def test_a_public_url_is_read_as_it_is_written(url: str, host: str, port: int, path: str) -> None:
    target = REACH.check_url(url)

    assert isinstance(target, Target)
    assert (target.host, target.port, target.path) == (host, port, path)
    assert REACH.check_url(target.url) == target


def test_a_password_in_a_url_is_refused_without_being_repeated() -> None:
    refused = REACH.check_url("https://anna:open-sesame@example.com/")

    assert isinstance(refused, Unreachable)
    assert "user name or password" in refused.text
    assert "sesame" not in refused.text


def test_the_host_field_names_the_port_only_when_it_is_not_the_schemes_own() -> None:
    plain, odd = REACH.check_url("https://example.com/"), REACH.check_url("https://[2606:2800:220:1::1]:8443/")

    assert isinstance(plain, Target)
    assert isinstance(odd, Target)
    assert (plain.authority, odd.authority) == ("example.com", "[2606:2800:220:1::1]:8443")


def test_an_endpoint_opens_its_own_address_and_port_and_nothing_beside_it() -> None:
    reach = Reach(endpoints=frozenset({("127.0.0.1", 9001)}))

    assert isinstance(reach.check_url("http://127.0.0.1:9001/"), Target)
    assert isinstance(reach.check_url("http://127.0.0.1/"), Unreachable)
    assert isinstance(reach.check_url("http://127.0.0.2:9001/"), Unreachable)
    assert reach.check_address("127.0.0.1", 9002) is not None


@given(st.ip_addresses(v=4))
def test_no_wrapping_makes_an_address_more_public(address: ipaddress.IPv4Address) -> None:
    number = int(address)
    wrapped = [
        ipaddress.IPv6Address(0xFFFF << 32 | number),
        ipaddress.IPv6Address(0x64FF9B << 96 | number),
        ipaddress.IPv6Address(0x2002 << 112 | number << 80),
        ipaddress.IPv6Address(0x2606 << 112 | 0x5EFE << 32 | number),
        ipaddress.IPv6Address(number),
        ipaddress.IPv6Address(0x20010000 << 96 | number ^ 0xFFFFFFFF),
    ]

    assert all(is_public(address) or not is_public(whole) for whole in wrapped)


@given(st.ip_addresses())
def test_what_python_calls_closed_is_never_public(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> None:
    if address.is_private or address.is_loopback or address.is_multicast or address.is_link_local:
        mapped = isinstance(address, ipaddress.IPv6Address) and (address.ipv4_mapped or address.sixtofour)
        assert mapped or not is_public(address)


@given(st.text(max_size=60))
def test_any_text_gets_an_answer(text: str) -> None:
    for url in (text, f"http://{text}/", f"http://example.com/{text}", f"http://example.com:{text}"):
        found = REACH.check_url(url)
        if isinstance(found, Target):
            assert REACH.check_url(found.url) == found
            assert found.url.isascii()
            assert not any(char.isspace() for char in found.url)


@given(st.sampled_from(["127.0.0.1", "10.0.0.8", "169.254.169.254"]), st.data())
def test_no_notation_of_a_closed_address_is_read(address: str, data: st.DataObject) -> None:
    parts = [int(part) for part in address.split(".")]
    keep = data.draw(st.integers(1, 4))
    tail = int.from_bytes(bytes(parts[keep - 1 :]), "big")
    write = data.draw(st.sampled_from(["{:d}", "{:#x}", "0{:o}", "{:#X}", "00{:o}"]))
    host = ".".join(write.format(part) for part in [*parts[: keep - 1], tail])

    assert isinstance(REACH.check_url(f"http://{host}/"), Unreachable)


@pytest.mark.parametrize("text", ["1.2.3", "01.2.3.4", "fe80::1%eth0", "example.com", "", "1.2.3.4.5", "0x1.2.3.4"])
def test_only_the_usual_notation_is_an_address(text: str) -> None:
    assert parse_address(text) is None
