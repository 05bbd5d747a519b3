"""A strict signal-cli: the JSON-RPC of ``signal-cli daemon --http --receive-mode=manual``, 0.14, over a real server.

It does what that does for good and ill: it serves one ``receive`` at a time, hands each message over once, and does not
notice that who asked for it is gone. Requests that the real one would refuse are refused with its codes and words.
"""

from __future__ import annotations

import asyncio
import base64
import json
import re
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from itertools import count
from typing import Any
from uuid import UUID, uuid5

from tests.fakes.faults import Fault
from tests.fakes.http import Exchange, Request, serve

GROUP = base64.b64encode(bytes(range(200, 232))).decode()
_DATA_URI = re.compile(r"data:[\w.+-]+/[\w.+-]+(;filename=[^;,]+)?;base64,([A-Za-z0-9+/=]*)")
_NUMBER = re.compile(r"\+[0-9]{5,20}")
_RECEIVING = "Receive command cannot be used if messages are already being received."

_NULLABLE = {"type": ["string", "null"]}
_MENTION = {
    "type": "object",
    "required": ["name", "number", "uuid", "start", "length"],
    "properties": {"number": _NULLABLE, "uuid": _NULLABLE, "start": {"type": "integer"}, "length": {"type": "integer"}},
}
RECEIVED: dict[str, Any] = {
    "type": "object",
    "required": ["envelope", "account"],
    "properties": {
        "account": {"type": "string"},
        "envelope": {
            "type": "object",
            "required": ["source", "sourceNumber", "sourceUuid", "sourceName", "sourceDevice", "timestamp"],
            "properties": {
                "sourceNumber": _NULLABLE,
                "sourceUuid": _NULLABLE,
                "sourceDevice": {"type": "integer"},
                "timestamp": {"type": "integer"},
                "dataMessage": {
                    "type": "object",
                    "required": ["timestamp", "message", "expiresInSeconds"],
                    "properties": {
                        "timestamp": {"type": "integer"},
                        "message": _NULLABLE,
                        "viewOnce": {"type": "boolean"},
                        "mentions": {"type": "array", "items": _MENTION},
                        "attachments": {
                            "type": "array",
                            "items": {"type": "object", "required": ["contentType", "filename", "id", "size"]},
                        },
                        "quote": {"type": "object", "required": ["id", "authorNumber", "authorUuid", "text"]},
                        "groupInfo": {
                            "type": "object",
                            "required": ["groupId", "type"],
                            "properties": {"type": {"enum": ["DELIVER", "UPDATE"]}},
                        },
                    },
                },
            },
        },
    },
}
"""What it hands over, as its manual and the types of its output have it."""


class Refused(Exception):
    """An error of JSON-RPC, by its code."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code, self.data = code, data


class SignalCli:
    """A running one, of one account or of several."""

    def __init__(self, *accounts: str, alone: bool) -> None:
        self.accounts, self.alone = list(accounts), alone
        self.unloaded: set[str] = set()
        """Registered ones that it could not load as it began; a call that names one has it try again."""
        self.port = 0
        self.sent: list[dict[str, Any]] = []
        self.handed: list[int] = []
        self.calls: list[str] = []
        self.attachments: dict[str, bytes] = {}
        self._waiting: deque[dict[str, Any]] = deque()
        self._came = asyncio.Event()
        self._receiving = False
        self._times = count(1_700_000_000_000)
        self._faults: list[tuple[str, Fault | Refused]] = []

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def waiting(self) -> int:
        """How many messages it has not handed over."""
        return len(self._waiting)

    def next(self, method: str, fault: Fault | Refused) -> None:
        """What the next call of a method comes to."""
        self._faults.append((method, fault))

    def say(self, person: str, text: str | None = None, **message: Any) -> int:
        """Somebody writes; gives the message's time, by which Signal knows it."""
        return self.envelope(
            person, lambda at: {"dataMessage": {"timestamp": at, "message": text, "expiresInSeconds": 0, **message}}
        )

    def envelope(self, person: str, content: Callable[[int], dict[str, Any]]) -> int:
        """Anything comes from somebody."""
        at = next(self._times)
        source = {"source": person, "sourceNumber": None, "sourceUuid": person, "sourceName": "Anna", "sourceDevice": 1}
        self.raw({"envelope": {**source, "timestamp": at, **content(at)}, "account": self.accounts[0]})
        return at

    def raw(self, item: Any) -> None:
        """Hand over whatever this is."""
        self._waiting.append(item)
        self._came.set()

    async def handle(self, request: Request, exchange: Exchange) -> None:
        """Answer one request."""
        if request.path != "/api/v1/rpc":
            return await exchange.send(404, b"")
        if request.method != "POST":
            return await exchange.send(405, b"")
        if not request.headers.get("content-type", "").startswith("application/json"):
            return await exchange.send(415, b"")
        id: Any = None
        try:
            call = json.loads(request.body)
            if not isinstance(call, dict) or call.get("jsonrpc") != "2.0" or not isinstance(call.get("method"), str):
                raise Refused(-32600, "invalid request")
            if set(call) - {"jsonrpc", "id", "method", "params"} or not isinstance(call.get("params", {}), dict):
                raise Refused(-32600, "invalid request")
            if (id := call.get("id")) is None:
                return await exchange.send(201, b"")
            self.calls.append(call["method"])
            for at, (method, fault) in enumerate(self._faults):
                if method == call["method"]:
                    del self._faults[at]
                    if isinstance(fault, Refused):
                        raise fault
                    return await fault(request, exchange)
            result = await self._call(call["method"], dict(call.get("params", {})))
            answer = {"jsonrpc": "2.0", "result": result, "id": id}
        except ValueError as error:
            answer = {"jsonrpc": "2.0", "error": {"code": -32700, "message": str(error), "data": None}, "id": None}
        except Refused as refused:
            told = {"code": refused.code, "message": str(refused), "data": refused.data}
            answer = {"jsonrpc": "2.0", "error": told, "id": id}
        await exchange.send(200, json.dumps(answer).encode())

    async def _call(self, method: str, params: dict[str, Any]) -> Any:
        calls: dict[str, Callable[[dict[str, Any]], Awaitable[Any]]] = {
            "version": self._version,
            "receive": self._receive,
            "send": self._send,
            "sendTyping": self._typing,
            "getAttachment": self._attachment,
            "getUserStatus": self._status,
            "listGroups": self._groups,
            "listStickerPacks": self._stickers,
        }
        if method == "listAccounts" and not self.alone:
            return [{"number": one} for one in self.accounts if one not in self.unloaded]
        if method not in calls:
            raise Refused(-32601, "Method not implemented")
        if not self.alone:
            account = params.pop("account", None)
            if account is not None and account not in self.accounts:
                raise Refused(-32602, "Specified account does not exist")
            if account is None and len(self.accounts) != 1 and method != "version":
                raise Refused(-32602, "Method requires valid account parameter")
            self.unloaded.discard(account or "")
        return await calls[method](params)

    async def _version(self, params: dict[str, Any]) -> Any:
        return {"version": "0.14.6"}

    async def _receive(self, params: dict[str, Any]) -> Any:
        if unknown := set(params) - {"timeout", "maxMessages"}:
            raise Refused(-32600, f'Unrecognized field "{min(unknown)}"')
        wait_s, most = params.get("timeout", 3.0), params.get("maxMessages", -1)
        if not isinstance(wait_s, int | float) or not isinstance(most, int):
            raise Refused(-32600, "Cannot deserialize value")
        if self._receiving:
            raise Refused(-1, _RECEIVING)
        self._receiving = True
        came: list[Any] = []
        try:
            async with asyncio.timeout(wait_s if wait_s >= 0 else None):
                while most < 0 or len(came) < most:
                    while not self._waiting:
                        self._came.clear()
                        await self._came.wait()
                    came.append(self._waiting.popleft())
        except TimeoutError:
            pass
        finally:
            self._receiving = False
        self.handed += [
            one["envelope"]["timestamp"] for one in came if isinstance(one, dict) and "timestamp" in one["envelope"]
        ]
        return came

    def _to(self, params: dict[str, Any]) -> list[dict[str, Any]]:
        people, group = params.pop("recipient", []), params.pop("groupId", None)
        people = [people] if isinstance(people, str) else people
        if not people and not group:
            raise Refused(-1, "No recipients given")
        if group is not None and group != GROUP:
            raise Refused(-1, f"Group not found: {group}")
        for one in people:
            if not _NUMBER.fullmatch(one) and not _is_uuid(one):
                raise Refused(-1, f"Invalid phone number: {one}")
        to = people or [str(uuid5(UUID(int=0), "a member"))]
        within = {"groupId": group} if group else {}
        address = [{"uuid": one if _is_uuid(one) else None, "number": None if _is_uuid(one) else one} for one in to]
        return [{"recipientAddress": {**one, "username": None}, **within, "type": "SUCCESS"} for one in address]

    async def _send(self, params: dict[str, Any]) -> Any:
        params.pop("account", None)
        message = dict(params)
        results = self._to(params)
        text, files, edits = params.pop("message", ""), params.pop("attachment", []), params.pop("editTimestamp", None)
        if params:
            raise Refused(-1, f"unknown parameters {sorted(params)}")  # the real one overlooks them
        if not isinstance(text, str) or not (text or files):
            raise Refused(-1, "Sending empty message is not allowed")
        if not all(_DATA_URI.fullmatch(one) for one in files):
            raise Refused(-32603, "Failed to send message: a file was not found (AttachmentInvalidException)")
        if edits is not None and edits not in [one["timestamp"] for one in self.sent]:
            raise Refused(-1, "no such message")
        at = next(self._times)
        self.sent.append({**message, "timestamp": at})
        return {"timestamp": at, "results": results}

    async def _typing(self, params: dict[str, Any]) -> Any:
        params.pop("account", None)
        return {"timestamp": next(self._times), "results": self._to(params)}

    async def _attachment(self, params: dict[str, Any]) -> Any:
        if "id" not in params or ("recipient" in params) == ("groupId" in params):
            raise Refused(-1, "Missing attachment id parameter")
        if params["id"] not in self.attachments:
            raise Refused(-1, f"Could not find attachment with ID: {params['id']}")
        return {"data": base64.b64encode(self.attachments[params["id"]]).decode()}

    async def _status(self, params: dict[str, Any]) -> Any:
        return [
            {
                "recipient": one,
                "number": one,
                "username": None,
                "uuid": str(uuid5(UUID(int=0), one)),
                "isRegistered": True,
            }
            for one in params["recipient"]
        ]

    async def _groups(self, params: dict[str, Any]) -> Any:
        return [{"id": GROUP, "name": "The garden", "isMember": True, "isBlocked": False, "members": []}]

    async def _stickers(self, params: dict[str, Any]) -> Any:
        return []


def _is_uuid(text: str) -> bool:
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False


@asynccontextmanager
async def signal_cli(*accounts: str, alone: bool = False) -> AsyncIterator[SignalCli]:
    """One on loopback; ``alone``: it was begun with ``-a``, for one account."""
    running = SignalCli(*accounts, alone=alone)
    async with serve(running.handle) as running.port:
        yield running
