"""A binding matches what it says and nothing that only looks like it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stead.domain.bindings import allows, ends, matches_host, require_host_binding
from stead.domain.errors import InvalidRequest
from stead.domain.secrets import HostBinding, ToolBinding

LABELS = st.from_regex(r"[a-z0-9]([a-z0-9-]{0,8}[a-z0-9])?", fullmatch=True)
NAMES = (
    st.lists(LABELS, min_size=2, max_size=4)
    .map(".".join)
    .filter(lambda name: not re.search(r"(?:\A|\.)(?:[0-9]+|0x[^.]*)\Z", name))
)


@given(NAMES, st.text(max_size=12))
def test_an_exact_host_matches_itself_alone(name: str, other: str) -> None:
    assert matches_host(name, name)
    assert matches_host(name, name.upper())
    for host in (other, name + other, other + name, f"{other}.{name}", f"{name}.{other}"):
        assert matches_host(name, host) == (host.isascii() and host.lower() == name)


@given(NAMES, NAMES, st.text(max_size=12))
def test_a_wildcard_matches_names_below_it_and_neither_itself_nor_neighbours(name: str, below: str, other: str) -> None:
    pattern = f"*.{name}"
    assert matches_host(pattern, f"{below}.{name}")
    assert not matches_host(pattern, name)
    for host in (f"{below}{name}", f"{name}.{below}", f".{name}", f"{below}.{name}.", f"{other}\0.{name}"):
        assert matches_host(pattern, host) == (host.endswith(f".{name}") and host[0] != "." and "\0" not in host)


@pytest.mark.parametrize(
    "host",
    [
        "api.example.com.",  # the same to DNS, another name to a certificate
        "api.example.com:443",
        "user@api.example.com",
        "api.example.com\r\nx",
        "api.example.com\0.evil.example",
        "api\u3002example\u3002com",
        "\uff41pi.example.com",
        "api.example.com\u200b",
        "api.exam\u212ale.com",
        "\u0430pi.example.com",  # Cyrillic
        "xn--pi-7kc.example.com",
        "api.example.com.evil.example",
        "evil-api.example.com",
        "*.example.com",
        "",
        "%61pi.example.com",
    ],
)
def test_a_host_that_only_looks_the_same_does_not_match(host: str) -> None:
    assert not matches_host("api.example.com", host)


def test_letters_that_fold_into_ascii_do_not_match() -> None:
    assert not matches_host("kiosk.example.com", "\u212aiosk.example.com")
    assert not matches_host("kiosk.example.com", "kio\u017fk.example.com")


@pytest.mark.parametrize("host", ["127.0.0.1", "api.example.com", "*.example.com", "xn--bcher-kva.example"])
def test_a_host_that_can_be_meant_is_taken(host: str) -> None:
    require_host_binding(HostBinding(host))


@pytest.mark.parametrize(
    "host",
    [
        *("localhost", "api.localhost"),
        *("", "*", "*.", "*.com", "*.*.example.com", "api.*.com", "a*.example.com", "**.example.com", "*.10.0.0.1"),
        *("API.example.com", "api.example.com.", "api..example.com", "-a.example.com", "a-.example.com"),
        *("https://api.example.com", "api.example.com:443", "api.example.com/v1", "bücher.example", "0x7f.1", "127.1"),
        *("0177.0.0.1", "2130706433", "[::1]", "::1", "a" * 64 + ".example.com", "a." * 130 + "example", "a b.example"),
    ],
)
def test_a_host_that_could_mean_nothing_or_too_much_is_refused(host: str) -> None:
    with pytest.raises(InvalidRequest, match="cannot be bound"):
        require_host_binding(HostBinding(host))


@pytest.mark.parametrize("method", ["", "get", "CONNECT", "TRACE", "G ET", "GET\r\n", "*"])
def test_a_method_that_cannot_be_bound_is_refused(method: str) -> None:
    with pytest.raises(InvalidRequest, match="the method"):
        require_host_binding(HostBinding("api.example.com", (method,)))


@pytest.mark.parametrize(
    "path",
    ["", "v1", "/v1//x", "//", "/../x", "/v1/..", "/./", "/%76", "/v1?x", "/v1#x", "/v1;x", "/v1\\x", "/ü", "/ "],
)
def test_a_path_that_cannot_be_bound_is_refused(path: str) -> None:
    with pytest.raises(InvalidRequest, match="the path"):
        require_host_binding(HostBinding("api.example.com", path=path))


BOUND = HostBinding("api.example.com", ("GET", "POST"), "/v1/orders")


@pytest.mark.parametrize(
    "path",
    ["/v1/orders", "/v1/orders/", "/v1/orders/7", "/v1/orders?x=..", "/v1/orders/caf%C3%A9", "/v1/orders/a%20b?q=%2f"],
)
def test_a_path_below_the_bound_one_is_allowed(path: str) -> None:
    assert allows(BOUND, "api.example.com", "GET", path)


@pytest.mark.parametrize(
    "path",
    [
        *("/v1/ordersx", "/v1/order", "/", "/v2/orders", "v1/orders", "*", "http://api.example.com/v1/orders", ""),
        *("/v1/orders/../admin", "/v1/orders/..", "/v1/orders/./x", "/v1/orders//x", "//v1/orders", "/v1/orders/..;/x"),
        *("/v1/orders/%2e%2e/admin", "/v1/orders/%2E./x", "/v1/orders%2fx", "/v1/orders/%2f..", "/v1/orders/%5c..%5cx"),
        *("/v1/orders/%252e%252e/x", "/v1/orders/..%00/x", "/v1/orders/\\..\\x", "/v1/orders/%c0%ae%c0%ae/x"),
        *("/v1/orders/%ef%bc%8e%ef%bc%8e/x", "/v1/orders/%ef%bc%8f..", "/v1/orders/\uff0e\uff0e/x", "/v1/orders/.. /x"),
        *("/v1/orders/%20../x", "/v1/orders/x%0d%0aHost:evil", "/V1/orders", "/v1/%6frders", "/v1/orders/%ff"),
    ],
)
def test_a_path_elsewhere_or_one_that_servers_read_in_two_ways_is_not_allowed(path: str) -> None:
    assert not allows(BOUND, "api.example.com", "GET", path)


SEGMENTS = st.lists(
    st.sampled_from(["..", ".", "", "%2e", "%2f", "..;", "a", "\\", "%5c", "%252f", "\uff0e", "orders", "v1"]),
    max_size=6,
)


@given(SEGMENTS, st.sampled_from(["/", "%2f", "\\", "//"]))
def test_no_path_that_any_reader_takes_out_of_the_bound_one_is_allowed(segments: list[str], between: str) -> None:
    path = "/v1/orders/" + between.join(segments)
    if allows(BOUND, "api.example.com", "GET", path):
        assert set(segments) <= {"a", "orders", "v1", ""}
        assert "//" not in path
        assert between == "/" or len(segments) < 2


def test_method_and_destination_both_count() -> None:
    assert allows(BOUND, "API.example.com", "POST", "/v1/orders")
    for host, method in (("api.example.com", "DELETE"), ("api.example.com", "get"), ("www.example.com", "GET")):
        assert not allows(BOUND, host, method, "/v1/orders")
    anything = HostBinding("api.example.com")
    assert allows(anything, "api.example.com", "PATCH", "/a/../b")
    assert not allows(anything, "api.example.com", "TRACE", "/")
    assert not allows(anything, "api.example.com", "OPTIONS", "*")


def test_a_binding_ends_by_its_host_as_it_was_bound_or_by_its_tool() -> None:
    assert ends(BOUND, "api.example.com", "")
    assert not ends(HostBinding("*.example.com"), "api.example.com", "")
    assert ends(ToolBinding("write", "text"), "", "write")
    assert not ends(ToolBinding("write", "text"), "write", "")
