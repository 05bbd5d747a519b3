"""Package registries as a class of hosts of their own: one word allows them all, and is always shown spelled out.

Layer: domain. A table and nothing else. Each host is one that a package manager installs from by default. Hosts to
which packages are only published (upload.pypi.org, crates.io, www.nuget.org) and hosts that serve whatever anybody
stores there (github.com, storage.googleapis.com) are not among them; npm and RubyGems publish where they install from.
"""

from __future__ import annotations

from collections.abc import Iterable

REGISTRIES = "registries"
"""The word for all of them, in commands and in lists of hosts."""
REGISTRY = "registry"
"""The kind of a source that is registries and nothing else."""

HOSTS: dict[str, tuple[str, ...]] = {
    "Python": ("pypi.org", "files.pythonhosted.org"),  # docs.pypi.org, index API
    "npm": ("registry.npmjs.org", "registry.yarnpkg.com"),  # docs.npmjs.com, config `registry`; classic.yarnpkg.com
    "Rust": ("index.crates.io", "static.crates.io"),  # https://index.crates.io/config.json
    "Go": ("proxy.golang.org", "sum.golang.org"),  # go.dev/ref/mod, GOPROXY and GOSUMDB
    "Ruby": ("rubygems.org", "index.rubygems.org"),  # guides.rubygems.org; bundler.io, compact index
    "Java": (
        "repo.maven.apache.org",
        "repo1.maven.org",
        "plugins.gradle.org",
    ),  # maven.apache.org, super POM; gradle.org
    ".NET": ("api.nuget.org",),  # learn.microsoft.com/nuget, v3 service index
    "PHP": ("repo.packagist.org",),  # getcomposer.org, default repository
    "Elixir": ("repo.hex.pm",),  # hex.pm, specifications
}
"""By whose packages they are."""

_ALL = tuple(host for hosts in HOSTS.values() for host in hosts)


def spelled_out(hosts: Iterable[str]) -> tuple[str, ...]:
    """Patterns of hosts, with the word for all registries replaced by their hosts."""
    return tuple(one for host in hosts for one in (_ALL if host == REGISTRIES else (host,)))


def are_registries(hosts: Iterable[str]) -> bool:
    """Whether these hosts, in lower case, are registries and nothing else."""
    return set(hosts) <= set(_ALL)
