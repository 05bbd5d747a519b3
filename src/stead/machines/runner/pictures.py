"""Opening what hostile pictures and documents hold: scaling with the browser's decoder, and counting pages.

Layer: machines, runner. Standard library only. It runs in a machine that is made for one file and has nothing else in
it: no workspace, no keys, no network.
"""

from __future__ import annotations

import json
import re
import zlib
from binascii import Error, a2b_base64

from .devtools import Gone
from .frames import Fault

TYPE_CHECKING = False
if TYPE_CHECKING:  # a type checker takes it for true; see ``jobs``
    from collections.abc import Callable, Iterator
    from typing import Any

_SCALE = """(async (text, edge, most) => {
  const image = await createImageBitmap(new Blob([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))]));
  let share = Math.min(1, edge / Math.max(image.width, image.height));
  for (let tries = 0; tries < 6; tries += 1, share *= 0.7) {
    const [width, height] = [image.width, image.height].map((side) => Math.max(1, Math.round(side * share)));
    const canvas = new OffscreenCanvas(width, height), pen = canvas.getContext("2d");
    pen.imageSmoothingQuality = "high";
    pen.drawImage(image, 0, 0, width, height);
    let blob = await canvas.convertToBlob({type: "image/png"});
    if (blob.size > most / 4) {
      pen.globalCompositeOperation = "destination-over";
      pen.fillStyle = "white";
      pen.fillRect(0, 0, width, height);
      blob = await canvas.convertToBlob({type: "image/jpeg", quality: 0.85});
    }
    if (blob.size > most) continue;
    const reader = new FileReader();
    await new Promise((done) => { reader.onload = done; reader.readAsDataURL(blob); });
    return {data: reader.result.split(",")[1]};
  }
  return {};
})"""
_STREAM = re.compile(rb"stream\r?\n")
_PAGE = re.compile(rb"/Type\s*/Page(?![A-Za-z])")
_COUNT = re.compile(rb"/Count\s+([0-9]{1,9})")
_LONG = 64 << 20
"""Bytes that all streams together may hold once they are opened; what is longer has too many pages in any case."""


def scaled(run: Callable[[str, float], dict[str, Any]], data: str, edge: int, most: int, deadline: float) -> bytes:
    """A picture as PNG or JPEG, with edges up to ``edge`` pixels and up to ``most`` bytes.

    Raises:
        Fault: it cannot be decoded.
    """
    try:
        return a2b_base64(run(f"{_SCALE}({json.dumps(data)}, {edge}, {most})", deadline).get("data", ""))
    except (Fault, Gone, Error, TypeError, ValueError) as error:
        raise Fault("the picture could not be decoded; it is damaged, or has too many pixels") from error


def pages(data: bytes) -> int:
    """How many pages a PDF says that it has, or has: the larger figure. 1 at least.

    Raises:
        Fault: it is encrypted, or holds more than is opened.
    """
    texts = [data, *_object_streams(data)]
    if any(b"/Encrypt" in text for text in texts):
        raise Fault("the document is encrypted; save it without a password")
    seen = sum(len(_PAGE.findall(text)) for text in texts)
    said = max((int(count) for text in texts for count in _COUNT.findall(text)), default=0)
    if not (seen or said):
        raise Fault("the document has no pages; it may be damaged")
    return max(seen, said if seen != said else 0, 1)


def _object_streams(data: bytes) -> Iterator[bytes]:
    """What the streams of objects hold, in which newer documents keep their pages."""
    room = _LONG
    for piece in data.split(b"endstream"):  # so that a document of many streams is read in linear time
        begins = _STREAM.search(piece)
        if not begins or b"/ObjStm" not in piece[: begins.start()][-600:].rpartition(b" obj")[2]:
            continue
        try:
            found = zlib.decompressobj().decompress(piece[begins.end() :], room)
        except zlib.error:
            continue  # its pages, if it has any, are those that the rest says
        room -= len(found)
        if not room:
            raise Fault("the document holds too much; split it")
        yield found
