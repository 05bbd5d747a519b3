"""The content of a prompt: what the person says, what they hand over with it, and pictures.

Layer: a door. The person's own text is their word. What an editor adds to it, such as a file that is open, was
written by others: the daemon gets it apart, as material that grants nothing. A link is only named: the model reads what
it points at with its own tools, through the gate.
"""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import unquote

from stead.client import Client, Json
from stead.protocols.acp.jsonrpc import INVALID_PARAMS, RpcError

BLOCKS_LIMIT = 200
_UPLOAD_S = 60.0


class Said(NamedTuple):
    """A prompt, taken apart.

    Args:
        text: the person's words, with the links that they name.
        context: texts that they hand over.
        files: name and Base64 of pictures and documents.
    """

    text: str
    context: list[Json]
    files: list[Json]


def read(blocks: object, directory: str) -> Said:
    """Take a prompt apart; files of the session's folder are named as its tools name them.

    Raises:
        RpcError: it is no prompt, or holds what is not taken here.
    """
    if not isinstance(blocks, list) or not blocks or len(blocks) > BLOCKS_LIMIT:
        raise RpcError(INVALID_PARAMS, f"prompt is a list of 1 to {BLOCKS_LIMIT} content blocks")
    said = Said("", [], [])
    for block in blocks:
        if not isinstance(block, dict):
            raise RpcError(INVALID_PARAMS, "a content block is an object")
        said = _add(said, block, directory)
    return said


def _add(said: Said, block: Json, directory: str) -> Said:
    match block:
        case {"type": "text", "text": str(text)}:
            return said._replace(text=said.text + text)
        case {"type": "image", "data": str(data), "mimeType": str(media_type)}:
            name = _name(block.get("uri")) or f"image.{media_type.rpartition('/')[2]}"
            said.files.append({"name": name[:100], "data": data})
        case {"type": "resource_link", "uri": str(uri)}:
            return said._replace(text=f"{said.text}{_named(uri, directory)}")
        case {"type": "resource", "resource": {"uri": str(uri), "text": str(text)}}:
            said.context.append({"name": _name(uri) or uri, "text": text})
            return said._replace(text=f"{said.text}{_named(uri, directory)}")
        case {"type": "resource", "resource": {"uri": str(uri), "blob": str(data)}}:
            said.files.append({"name": (_name(uri) or "file")[:100], "data": data})
        case _:
            kind = str(block.get("type"))[:40]
            raise RpcError(INVALID_PARAMS, f"a content block of type {kind!r} is not taken, or lacks a field")
    return said


def upload(client: Client, said: Said) -> Json:
    """The fields of a message; its pictures are uploaded first.

    Raises:
        ApiError: the daemon does not take one.
    """
    names = [client.post("/attachments", file, timeout_s=_UPLOAD_S)["content"] for file in said.files]
    context = {"context": said.context} if said.context else {}
    return {"text": said.text, **({"attachments": names} if names else {}), **context}


def _named(uri: str, directory: str) -> str:
    """What stands in the text for a file or page that the person points at."""
    if not uri.startswith("file://"):
        return f" {uri} "
    path = unquote(uri.removeprefix("file://"))
    return f" {path.removeprefix(directory.rstrip('/') + '/') or path} "


def _name(uri: object) -> str:
    """The last part of an address; "" where there is none."""
    return unquote(uri.rstrip("/").rpartition("/")[2]) if isinstance(uri, str) else ""
