"""A strict MCP server over Streamable HTTP that wants a token, and the authorization server that gives one.

It speaks the stateless revision, refuses a request whose headers do not say what its body does, and keeps what it was
asked. Tokens are single-purpose: each has its scope, and the one for a step-up is another one.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import secrets
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from tests.fakes.http import Exchange, Request, serve

Json = dict[str, Any]
META = "io.modelcontextprotocol"
PEARS = {
    "name": "count_pears",
    "description": "Counts the pears in an orchard.",
    "inputSchema": {"type": "object", "properties": {"orchard": {"type": "string"}}, "required": ["orchard"]},
}


@dataclass
class Orchard:
    """The server, and what it was asked.

    Args:
        guarded: it wants a token.
        issuer: what its metadata says that it is; "" for the truth.
        redirects: where it sends every request instead; "" for nowhere.
        scope: what a call needs.
    """

    guarded: bool = True
    issuer: str = ""
    redirects: str = ""
    scope: str = "pears"
    port: int = 0
    calls: list[Json] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    tokens: dict[str, str] = field(default_factory=dict)
    refreshes: dict[str, str] = field(default_factory=dict)
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    clients: dict[str, Json] = field(default_factory=dict)
    forms: list[dict[str, str]] = field(default_factory=list)
    lasts_s: int = 3600

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        """Of the endpoint."""
        return f"{self.root}/mcp"

    async def answer(self, request: Request, exchange: Exchange) -> None:
        """One request."""
        path = urlsplit(request.path).path
        if path == "/mcp":
            await self._mcp(request, exchange)
            return
        known: dict[str, Json] = {
            "/.well-known/oauth-protected-resource/mcp": {
                "resource": self.url,
                "authorization_servers": [self.root],
                "scopes_supported": ["pears"],
            },
            "/.well-known/oauth-authorization-server": {
                "issuer": self.issuer or self.root,
                "authorization_endpoint": f"{self.root}/authorize",
                "token_endpoint": f"{self.root}/token",
                "registration_endpoint": f"{self.root}/register",
                "token_endpoint_auth_methods_supported": ["none", "client_secret_basic"],
                "code_challenge_methods_supported": ["S256"],
                "authorization_response_iss_parameter_supported": True,
            },
        }
        found = known.get(path)
        if path == "/register":
            client = json.loads(request.body)
            id = f"client-{len(self.clients)}"
            self.clients[id] = client
            found = {**client, "client_id": id}
        elif path == "/token":
            found = self._token(dict(parse_qsl(request.body.decode())), request.headers)
        elif path == "/authorize":
            query = dict(parse_qsl(urlsplit(request.path).query))
            code = secrets.token_hex(8)
            self.codes[code] = query
            back = urlencode({"code": code, "state": query["state"], "iss": self.issuer or self.root})
            await exchange.send(302, b"", {"location": f"{query['redirect_uri']}?{back}"})
            return
        await exchange.send(200 if found else 404, json.dumps(found or {"error": "invalid_grant"}).encode())

    def _token(self, form: dict[str, str], headers: Any) -> Json | None:
        self.forms.append({**form, "authorization": headers.get("authorization", "")})
        scope = form.get("scope", "pears")
        match form["grant_type"]:
            case "authorization_code":
                asked = self.codes.pop(form["code"], None)
                digest = hashlib.sha256(form["code_verifier"].encode()).digest()
                proof = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
                if asked is None or asked["code_challenge"] != proof or asked["resource"] != form["resource"]:
                    return None
                scope = asked.get("scope", "")
            case "refresh_token":
                if form["refresh_token"] not in self.refreshes:
                    return None
                scope = self.refreshes.pop(form["refresh_token"])
            case "client_credentials":
                pair = base64.b64encode(b"robot:robot-secret-value").decode()
                if headers.get("authorization") != f"Basic {pair}":
                    return None
            case _:
                return None
        token, refresh = f"tok-{secrets.token_hex(16)}", f"ref-{secrets.token_hex(16)}"
        self.tokens[token] = scope
        self.refreshes[refresh] = scope
        told = {"access_token": token, "token_type": "Bearer", "expires_in": self.lasts_s, "scope": scope}
        return {**told, "refresh_token": refresh}

    async def _mcp(self, request: Request, exchange: Exchange) -> None:
        if self.redirects:
            await exchange.send(307, b"", {"location": self.redirects})
            return
        scope = self.tokens.get(request.headers.get("authorization", "").removeprefix("Bearer "))
        metadata = f'resource_metadata="{self.root}/.well-known/oauth-protected-resource/mcp"'
        if self.guarded and scope is None:
            await exchange.send(401, b"", {"www-authenticate": f'Bearer {metadata}, scope="pears"'})
            return
        message = json.loads(request.body)
        method, params = message["method"], message.get("params", {})
        self.headers.append(dict(request.headers))
        said = params["_meta"][f"{META}/protocolVersion"], method
        assert (request.headers["mcp-protocol-version"], request.headers["mcp-method"]) == said
        if method == "tools/call":
            assert request.headers["mcp-name"] == params["name"]
            if self.guarded and not set(self.scope.split()) <= set(str(scope).split()):
                challenge = f'Bearer error="insufficient_scope", scope="{self.scope}", {metadata}'
                await exchange.send(403, b"", {"www-authenticate": challenge})
                return
            self.calls.append(params)
        results: dict[str, Json] = {
            "server/discover": {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}},
            "tools/list": {"tools": [PEARS]},
            "tools/call": {"content": [{"type": "text", "text": "There are 41 pears."}]},
        }
        result = results[method]
        if method == "tools/call" and params["arguments"].get("orchard") == "asks" and "inputResponses" not in params:
            ask = {"message": "Which row?", "requestedSchema": {"type": "object", "properties": {"row": {}}}}
            asks = {"row": {"method": "elicitation/create", "params": ask}}
            result = {"resultType": "input_required", "inputRequests": asks, "requestState": "opaque"}
        await exchange.start()
        await exchange.chunk(b": a comment\n\n")
        reply = {"jsonrpc": "2.0", "id": message["id"], "result": result}
        await exchange.chunk(f"event: message\ndata: {json.dumps(reply)}\n\n".encode())
        await exchange.finish()


@contextlib.asynccontextmanager
async def orchard(**settings: Any) -> AsyncIterator[Orchard]:
    """Serve one on loopback."""
    served = Orchard(**settings)
    async with serve(served.answer) as port:
        served.port = port
        yield served
