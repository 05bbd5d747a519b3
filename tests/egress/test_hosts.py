"""Host patterns: what they cover, and what is none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stead.domain.errors import InvalidRequest
from stead.domain.hosts import HostPattern, parse_host

LABELS = st.from_regex(r"[a-z]([a-z0-9-]{0,10}[a-z0-9])?", fullmatch=True)
HOSTS = st.lists(LABELS, min_size=2, max_size=4).map(".".join)


def test_a_name_covers_itself_at_the_usual_ports_only() -> None:
    pattern = parse_host("Packages.Example.com.")
    assert pattern == HostPattern("packages.example.com")
    assert pattern.covers("packages.example.com", 80) and pattern.covers("packages.example.com", 443)
    assert not pattern.covers("packages.example.com", 8443)
    assert not pattern.covers("a.packages.example.com", 443)
    assert not pattern.covers("xpackages.example.com", 443)
    assert not pattern.covers("packages.example.com.evil.example", 443)


def test_a_star_covers_every_name_below_and_not_the_name() -> None:
    pattern = parse_host("*.example.com")
    assert pattern.covers("a.example.com", 443) and pattern.covers("a.b.example.com", 80)
    assert not pattern.covers("example.com", 443)
    assert not pattern.covers("badexample.com", 443)


def test_a_port_covers_that_port_and_no_other() -> None:
    pattern = parse_host("git.example.com:9418")
    assert pattern.covers("git.example.com", 9418)
    assert not pattern.covers("git.example.com", 443)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "example",
            "localhost",
            ".",
            "..",
            "a..example.com",
            "-a.example.com",
            "exa mple.com",
            "https://a.example",
        ),
        *("a.example.com/x", "user@a.example.com", "*", "*.com", "*.*.example.com", "a.*.example.com", "*example.com"),
        *("127.0.0.1", "2130706433", "0x7f.0x1", "1.2.3.4:80", "[::1]", "a.example.com:0", "a.example.com:65536"),
        *("a.example.com:", "a.example.com:80:80", "a.example.com\n", "b\u00fccher.example", "a.example.com:\uff18"),
        "a" * 64 + ".example.com",
    ],
)
def test_what_is_no_pattern_of_names_is_refused(text: str) -> None:
    with pytest.raises(InvalidRequest):
        parse_host(text)


def test_a_call_names_its_hosts_one_by_one() -> None:
    with pytest.raises(InvalidRequest, match="name each"):
        parse_host("*.example.com", wildcard=False)


@given(HOSTS, st.booleans(), st.integers(0, 65535))
def test_a_pattern_reads_back_as_it_is_written(name: str, below: bool, port: int) -> None:
    pattern = HostPattern(name, below, port)
    try:
        assert parse_host(str(pattern)) == pattern
    except InvalidRequest as refused:
        assert "is an address" in str(refused)


@given(HOSTS, HOSTS, st.sampled_from([80, 443, 8443]))
def test_an_exact_name_covers_no_other(one: str, other: str, port: int) -> None:
    assert HostPattern(one).covers(other, port) == (one == other and port in (80, 443))
    assert HostPattern(one, below=True).covers(other, 443) == (other != one and other.endswith("." + one))


@given(st.text(max_size=300))
def test_no_text_does_anything_but_parse_or_be_refused(text: str) -> None:
    try:
        parse_host(text)
    except InvalidRequest:
        return
