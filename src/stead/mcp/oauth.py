"""Signing in to a server: OAuth 2.1 for one resource, as the Model Context Protocol has it.

Layer: mcp. Knows no door and no vault but by their ports. A server leads to its authorization server, and both are
strangers: metadata is believed only where it names the issuer that it was looked up for and the resource that is
asked, an answer only with our state and that issuer, and what was registered with one issuer goes to no other.

Source: RFC 6749, 7636 (PKCE), 8414, 8707 (resource), 9207 (issuer), 9728 (protected resource); OpenID Discovery.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
import time
from collections.abc import Mapping
from typing import Literal, Protocol, TypeVar
from urllib.parse import quote, urlencode, urlsplit

import msgspec

from stead.domain.errors import FetchFault
from stead.domain.mcp import Json, McpServer, secret_name
from stead.domain.ports import Secrets
from stead.mcp.http import Places
from stead.mcp.messages import CLIENT, HANDSHAKE
from stead.net.json_lines import read_message

ANSWER_BYTES = 256 << 10
_EARLY_S = 30.0
"""A token is renewed so long before it ends."""
_NAMED = re.compile(r"([a-z_]+)=(?:\"([^\"]*)\"|([^\s,]+))")

F = TypeVar("F")


class Registration(msgspec.Struct, frozen=True):
    """A client as an authorization server knows it. Its secret lies apart."""

    client_id: str
    issuer: str
    method: Literal["none", "client_secret_post", "client_secret_basic"] = "none"


class Granted(msgspec.Struct, frozen=True):
    """What is known of a token, apart from it. ``ends_s``: when it ends, 0 when that was not said."""

    token_url: str
    issuer: str
    scope: str = ""
    ends_s: float = 0.0


class _Server(msgspec.Struct, frozen=True):
    """An authorization server, of its metadata what is used."""

    issuer: str
    authorization_endpoint: str = ""
    token_endpoint: str = ""
    registration_endpoint: str = ""
    scopes_supported: tuple[str, ...] = ()
    token_endpoint_auth_methods_supported: tuple[str, ...] = ()
    authorization_response_iss_parameter_supported: bool = False
    client_id_metadata_document_supported: bool = False


class _Resource(msgspec.Struct, frozen=True):
    resource: str
    authorization_servers: tuple[str, ...] = ()
    scopes_supported: tuple[str, ...] | None = None


class Person(Protocol):
    """Where a person signs in. ``redirect``: where their browser comes back to."""

    redirect: str

    async def come_back(self, url: str, state: str) -> Mapping[str, str]:
        """Have the person open a URL; gives the parameters that they came back with.

        Raises:
            FetchFault: they did not, in time.
        """


class OAuth:
    """Tokens for one server. Implements ``http.Authorizes``.

    Args:
        server: whose.
        places: which addresses may be asked.
        vault: where tokens and secrets are.
        person: signs in, while there is one; without, a challenge that needs one is refused.
        document: the URL of a document that describes us, taken for a client's id by servers that know such; or "".
    """

    def __init__(
        self, server: McpServer, places: Places, vault: Secrets, person: Person | None = None, document: str = ""
    ) -> None:
        self._server = server
        self._places = places
        self._vault = vault
        self._person = person
        self._document = document
        self._tries = 0

    async def header(self) -> str:
        """See ``Authorizes``."""
        token, granted = self._get("token"), self._granted()
        if not token:
            return ""
        if granted and granted.ends_s and granted.ends_s < time.time() + _EARLY_S:
            await self._renew(granted)
            token = self._get("token")
        return f"Bearer {token}" if token else ""

    async def challenged(self, status: int, asked: str) -> bool:
        """See ``Authorizes``."""
        wanted = {name: quoted or plain for name, quoted, plain in _NAMED.findall(asked[:4000])}
        step_up = status == 403 and wanted.get("error") == "insufficient_scope"
        if (status == 403 and not step_up) or self._tries >= 3:
            return False
        self._tries += 1
        granted = self._granted()
        if status == 401 and granted and self._get("refresh") and await self._renew(granted):
            return True
        if self._person is None and self._server.grant == "authorization_code":
            if step_up:  # for the next time that the person signs in
                await self._vault.put(
                    self._key("wanted"), f"{granted.scope if granted else ''} {wanted.get('scope', '')}"
                )
            raise FetchFault("{!r} wants you to sign in: stead mcp login {}", self._server.name, self._server.name)
        resource = await self._resource(wanted.get("resource_metadata", ""))
        issuer = self._issuer(resource)
        metadata = await self._metadata(issuer, strict=resource is not None)
        scope = self._scope(wanted.get("scope"), resource, metadata, granted if step_up else None)
        target = resource.resource if resource else self._server.url.partition("#")[0]
        if self._server.grant == "client_credentials":
            await self._by_credentials(metadata, scope, target)
        else:
            await self._by_person(metadata, scope, target)
        return True

    # -- discovery --------------------------------------------------------------------------------------------------

    async def _resource(self, named: str) -> _Resource | None:
        """The server's metadata as a protected resource; nothing for one without any."""
        parts = urlsplit(self._server.url)
        root = f"{parts.scheme}://{parts.netloc}/.well-known/oauth-protected-resource"
        for url in dict.fromkeys(filter(None, (named, root + parts.path.rstrip("/"), root))):
            status, found = await self._fetch(url)
            if status >= 500 or status == 429:
                raise FetchFault("{!r} answers with {} about how to sign in; try again later", url, status)
            if status != 200:
                continue
            resource = _read(found, _Resource)
            if resource is None:
                continue
            if not _covers(resource.resource, self._server.url):
                raise FetchFault("{!r} signs in for another resource, {!r}", self._server.url, resource.resource[:200])
            return resource
        return None

    def _issuer(self, resource: _Resource | None) -> str:
        parts = urlsplit(self._server.url)
        named = resource.authorization_servers if resource else ()
        if self._server.issuer:
            if named and not any(_same(issuer, self._server.issuer) for issuer in named):
                raise FetchFault("{!r} leads to other authorization servers than yours: {}", self._server.name, named)
            return self._server.issuer
        return named[0] if named else f"{parts.scheme}://{parts.netloc}"

    async def _metadata(self, issuer: str, *, strict: bool) -> _Server:
        """An authorization server's metadata, which must name the issuer that it was looked up for."""
        parts = urlsplit(issuer)
        root, path = f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")
        known = "/.well-known/oauth-authorization-server"
        urls = [f"{root}{known}{path}", f"{root}/.well-known/openid-configuration{path}"]
        urls += [f"{root}{path}/.well-known/openid-configuration"] if path else []
        for url in urls if strict else urls[:1]:
            status, found = await self._fetch(url)
            if status >= 500:
                raise FetchFault("{!r} answers with {}; try again later", url, status)
            metadata = _read(found, _Server) if status == 200 else None
            if metadata is None:
                continue
            if metadata.issuer != issuer and not (not strict and _same(metadata.issuer, issuer)):
                raise FetchFault("{!r} says that it is {!r}, another issuer", issuer, metadata.issuer[:200])
            return metadata
        if strict or self._server.issuer:
            raise FetchFault("{!r} does not say how to sign in", issuer)
        # The oldest servers are their own authorization server, at fixed places.
        return _Server(issuer, f"{root}/authorize", f"{root}/token", f"{root}/register")

    def _scope(self, wanted: str | None, resource: _Resource | None, metadata: _Server, before: Granted | None) -> str:
        """What is asked for: what the challenge names, else all that the resource has; and what was granted before."""
        named = wanted.split() if wanted is not None else list((resource and resource.scopes_supported) or ())
        if before:
            named = [*before.scope.split(), *named]
        named += [*self._server.scope.split(), *self._get("wanted").split()]
        renewing = self._server.grant == "authorization_code" and "offline_access" in metadata.scopes_supported
        return " ".join(dict.fromkeys([*named, *(["offline_access"] if renewing and named else [])]))

    # -- getting a token --------------------------------------------------------------------------------------------

    async def _by_person(self, metadata: _Server, scope: str, resource: str) -> None:
        assert self._person is not None
        client = await self._client(metadata)
        verifier, state = secrets.token_urlsafe(64), secrets.token_urlsafe(32)
        challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
        query = {
            "response_type": "code",
            "client_id": client.client_id,
            "redirect_uri": self._person.redirect,
            "state": state,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
            "resource": resource,
            **({"scope": scope} if scope else {}),
            **({"prompt": "consent"} if "offline_access" in scope.split() else {}),
        }
        joint = "&" if "?" in metadata.authorization_endpoint else "?"
        if urlsplit(metadata.authorization_endpoint).scheme not in ("http", "https"):
            raise FetchFault("{!r} has no place to sign in", metadata.issuer)
        back = await self._person.come_back(f"{metadata.authorization_endpoint}{joint}{urlencode(query)}", state)
        if not hmac.compare_digest(back.get("state", "").encode(), state.encode()):
            raise FetchFault("the answer is not of this sign-in; sign in again")
        issuer = back.get("iss")
        if issuer != metadata.issuer if issuer is not None else metadata.authorization_response_iss_parameter_supported:
            raise FetchFault("the answer is of another issuer, {!r}", str(issuer)[:200])
        if not (code := back.get("code")):
            raise FetchFault("you were not let in: {}", back.get("error", "no code came back")[:200])
        form = {"grant_type": "authorization_code", "code": code, "redirect_uri": self._person.redirect}
        form |= {"client_id": client.client_id, "code_verifier": verifier, "resource": resource}
        await self._exchange(metadata.token_endpoint, form, client, scope)

    async def _by_credentials(self, metadata: _Server, scope: str, resource: str) -> None:
        client = await self._registered_by_hand(metadata)
        form = {"grant_type": "client_credentials", "resource": resource, **({"scope": scope} if scope else {})}
        await self._exchange(metadata.token_endpoint, form, client, scope)

    async def _client(self, metadata: _Server) -> Registration:
        """The client that the person registered, or one that is registered now, for this issuer alone."""
        assert self._person is not None
        if self._server.client_id:
            return await self._registered_by_hand(metadata)
        if self._document and metadata.client_id_metadata_document_supported:
            return await self._noted(Registration(self._document, metadata.issuer))
        if not metadata.registration_endpoint:
            raise FetchFault(
                "{!r} registers no clients; register one by hand: stead mcp add {} --client-id ID",
                *(metadata.issuer, self._server.name),
            )
        methods = metadata.token_endpoint_auth_methods_supported or ("client_secret_basic",)
        preferred = ("none", "client_secret_post", "client_secret_basic")
        body = {
            "client_name": CLIENT["title"],
            "redirect_uris": [self._person.redirect],
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "application_type": "native",
            "token_endpoint_auth_method": next((one for one in preferred if one in methods), "none"),
        }
        status, found = await self._fetch(metadata.registration_endpoint, msgspec.json.encode(body), "application/json")
        said = _object(found)
        made = said.get("client_id")
        if status not in (200, 201) or not isinstance(made, str) or not made:
            raise FetchFault("{!r} did not register a client: {} {}", metadata.issuer, status, str(said)[:300])
        kept = said.get("token_endpoint_auth_method", "client_secret_basic" if said.get("client_secret") else "none")
        if kept not in preferred:
            raise FetchFault(
                "{!r} registered a client that signs in by {!r}, which is not known", metadata.issuer, kept
            )
        await self._vault.put(self._key("client"), str(said.get("client_secret") or ""))
        return await self._noted(Registration(made, metadata.issuer, kept))

    async def _registered_by_hand(self, metadata: _Server) -> Registration:
        known = metadata.token_endpoint_auth_methods_supported
        method: Literal["none", "client_secret_basic", "client_secret_post"] = "none"
        if self._get("client"):
            method = "client_secret_post" if known and "client_secret_basic" not in known else "client_secret_basic"
        return await self._noted(Registration(self._server.client_id, metadata.issuer, method))

    async def _noted(self, client: Registration) -> Registration:
        await self._vault.put(self._key("registration"), msgspec.json.encode(client).decode())
        return client

    async def _renew(self, granted: Granted) -> bool:
        """A new token by the old one's; where there is none to be had, the old one is forgotten."""
        refresh, client = self._get("refresh"), self._registered(granted)
        if refresh and client:
            form = {"grant_type": "refresh_token", "refresh_token": refresh, "client_id": client.client_id}
            form["resource"] = self._server.url.partition("#")[0]
            try:
                await self._exchange(granted.token_url, form, client, granted.scope)
            except FetchFault:
                await self.forget()
            else:
                return True
        return False

    def _registered(self, granted: Granted) -> Registration | None:
        try:
            known = msgspec.json.decode(self._get("registration") or "null", type=Registration | None)
        except msgspec.MsgspecError:
            return None
        return known if known and known.issuer == granted.issuer else None

    async def _exchange(self, url: str, form: dict[str, str], client: Registration, scope: str) -> None:
        secret = self._get("client")
        headers = {}
        if client.method == "client_secret_basic" and secret:
            pair = f"{quote(client.client_id, safe='')}:{quote(secret, safe='')}"
            headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
        elif client.method == "client_secret_post" and secret:
            form |= {"client_id": client.client_id, "client_secret": secret}
        kind = "application/x-www-form-urlencoded"
        status, found = await self._fetch(url, urlencode(form).encode(), kind, headers)
        said = _object(found)
        token = said.get("access_token")
        if (
            status not in (200, 201)
            or not isinstance(token, str)
            or str(said.get("token_type", "")).lower() != "bearer"
        ):
            raise FetchFault("{!r} gave no token: {} {}", url, status, str(said.get("error", ""))[:200])
        lasts = said.get("expires_in")
        ends_s = time.time() + lasts if isinstance(lasts, int | float) and lasts > 0 else 0.0
        granted = Granted(url, client.issuer, str(said.get("scope") or scope), ends_s)
        if isinstance(again := said.get("refresh_token"), str):
            await self._vault.put(self._key("refresh"), again)
        await self._vault.put(self._key("granted"), msgspec.json.encode(granted).decode())
        await self._vault.put(self._key("token"), token)

    async def forget(self) -> None:
        """Forget the token."""
        for what in ("token", "refresh", "granted"):
            await self._vault.remove(self._key(what))

    async def _fetch(
        self, url: str, body: bytes = b"", kind: str = "", headers: Mapping[str, str] | None = None
    ) -> tuple[int, bytes]:
        own = {"Accept": "application/json", "MCP-Protocol-Version": HANDSHAKE, **(headers or {})}
        own |= {"Content-Type": kind} if kind else {}
        request = self._places.request(url, "POST" if kind else "GET", own, body, streams=False)
        async with self._places.ask(request) as answer:
            found, _ = await answer.body(ANSWER_BYTES)
            return answer.status, found

    def _get(self, what: str) -> str:
        return self._vault.get(self._key(what)) or ""

    def _granted(self) -> Granted | None:
        try:
            return msgspec.json.decode(self._get("granted") or "null", type=Granted | None)
        except msgspec.MsgspecError:
            return None

    def _key(self, what: str) -> str:
        return secret_name(self._server.name, what)


def _read(data: bytes, form: type[F]) -> F | None:
    try:
        return msgspec.json.decode(data, type=form)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return None


def _object(data: bytes) -> Json:
    try:
        return read_message(data)
    except FetchFault:
        return {}


def _same(one: str, other: str) -> bool:
    """Whether two issuers are one; only a root's slash may be left out."""
    return one == other or (one.rstrip("/") == other.rstrip("/") and not urlsplit(one).path.strip("/"))


def _covers(resource: str, url: str) -> bool:
    """Whether a resource is the server, or a part of its address that the server is below."""
    wide, own = urlsplit(resource), urlsplit(url)
    if (wide.scheme.lower(), wide.netloc.lower()) != (own.scheme.lower(), own.netloc.lower()):
        return False
    return f"{own.path.rstrip('/')}/".startswith(f"{wide.path.rstrip('/')}/")
