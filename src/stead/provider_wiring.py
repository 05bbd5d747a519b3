"""Puts the parts together that change when the person changes providers: models, search, MCP servers, allowed hosts.

Layer: a part of the composition root, as ``memory_wiring``.
"""

from __future__ import annotations

import msgspec

from stead.domain import events as ev
from stead.egress.proxy import EgressProxy
from stead.mcp_wiring import McpHouse
from stead.providers.directory import ProviderConfig, require_valid, secret_name
from stead.providers.models import ProviderModels
from stead.runtime.home import HomeState
from stead.runtime.searching import SearchService


class ConfiguredProviders:
    """Providers as the runtime asks about them (``runtime.home.ProviderService``)."""

    def __init__(self, models: ProviderModels, egress: EgressProxy, search: SearchService, mcp: McpHouse) -> None:
        self._models = models
        self._egress = egress
        self.search = search
        self.mcp = mcp.room
        self.rows, self.check, self.discover = models.rows, models.check, models.discover

    def require_valid(self, configured: ev.ProviderConfigured) -> None:
        """Refuse a configuration that cannot work."""
        require_valid(ProviderConfig(**msgspec.structs.asdict(configured)))

    secret_name = staticmethod(secret_name)

    def configure(self, state: HomeState) -> None:
        """Use these providers, this chain, this search engine and these allow-lists of hosts from now on."""
        self._egress.configure(state.hosts)
        self.search.configure(state.search)
        configured = [ProviderConfig(**msgspec.structs.asdict(fact)) for fact in state.providers.values()]
        self._models.configure(configured, state.chain, state.models, state.roles)
