"""How many tokens a text can be at most, without the provider's tokenizer.

Layer: brain. Pure and cheap; knows no provider. Budgets are reserved with these figures before a request is sent, so a
figure may be too high and must never be too low.

Tokenizers of today's models merge neighbouring bytes until no pair is in their vocabulary, and none merges across a
word's edges. Four facts about the published vocabularies give a bound (``bench/estimate_bound.py`` checks them):

1.  A token has at least one byte. So every byte counts one token, less what follows.
2.  Any two neighbours out of the letters ``_FREE``, and any letter after one space, are a token. So no two of them
    stay alone side by side, and ``m`` in a row are at most ``(2 m + 1) // 3`` tokens: alone, pair, alone, pair.
3.  A space goes with the punctuation after it, and of a run of spaces sixteen are one token.
4.  The words of ``_WORDS``, alone or after one space, are one token each.

Digits, capitals and bytes beyond ASCII keep their one token a byte. Against o200k_base, English prose and code come out
at twice their true count, JSON at 1.7 times, random base64 at 1.4, Chinese at 1.6 (rare) to 4.8 (common).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import repeat

import msgspec

from stead.domain.messages import (
    PDF,
    AssistantMessage,
    Attachment,
    Message,
    ResultsMessage,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    UserMessage,
)
from stead.domain.tools import ToolSpec

REQUEST_OVERHEAD = 640
"""What a provider adds to every request with tools, in tokens: the largest published figure is 530."""
TOOL_OVERHEAD = 32
"""What frames one tool: its place in the provider's own rendering of schemas."""
MESSAGE_OVERHEAD = 24
"""What frames one message, call or result: role marks, ids, and the filler that keeps roles alternating."""
FOREIGN_OVERHEAD = 48
"""What frames the words of others: two marks with a word of eight hex digits, but for the source that they name."""

_LEAST_SHOWN, _MOST_SHOWN, _PAGE_TEXT = 1200, 4096, 3000
"""Tokens of a picture, and of the text of a page of a document."""

_FREE = b"abcdefghilmnoprstuw"
_PUNCTUATION = b"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
_SPACES = re.compile(rb"  +")


def _table(classes: dict[str, bytes], rest: str) -> bytes:
    """A translation of all 256 bytes into one sign a class."""
    signs = {byte: sign for sign, members in classes.items() for byte in members}
    return bytes(ord(signs.get(byte, rest)) for byte in range(256))


_ROWS = _table({"a": _FREE, "s": b" "}, ".")
_GAPS = _table({"p": _PUNCTUATION, "s": b" "}, ".")
_LETTERS = bytes(range(65, 91)) + bytes(range(97, 123)) + bytes(range(128, 256))
_SPLIT = bytes(byte if byte in _LETTERS else 1 if byte == 0x20 else 0x20 for byte in range(256))


def estimate_tokens(text: str) -> int:
    """An upper bound of the tokens in a text; 0 for "".

    Args:
        text: any string, lone surrogates included.
    """
    data = text.encode("utf-8", "surrogatepass")
    tokens = 0
    if b"  " in data:
        tokens = sum(1 + len(run) // 16 for run in _SPACES.findall(data))
        data = _SPACES.sub(b" ", data)
    runs = data.translate(_SPLIT).replace(b"\1", b" \1").split()
    return tokens + _letter_bound(data) - sum(map(_SAVED.get, runs, repeat(0)))


_kept_tokens = lru_cache(maxsize=256)(estimate_tokens)
"""For texts that are the same in the requests of all sessions."""


def estimate_request(instructions: str, tools: Iterable[ToolSpec], messages: Iterable[Message]) -> int:
    """An upper bound of the input tokens of a request, the frames around its parts included.

    Args:
        instructions: the system text, may be empty.
        tools: what is offered.
        messages: the history, or only its new tail: then give no instructions and no tools.
    """
    tokens = _kept_tokens(instructions) + MESSAGE_OVERHEAD
    frames = 0
    for tool in tools:
        frames = REQUEST_OVERHEAD
        schema = msgspec.json.encode(tool.parameters).decode()
        tokens += TOOL_OVERHEAD + _kept_tokens(f"{tool.name} {tool.description} {schema}")
    return frames + tokens + sum(estimate_message(message) for message in messages)


def estimate_message(message: Message) -> int:
    """An upper bound of the tokens that a message adds to a request, its frames included."""
    match message:
        case UserMessage(text=text):
            frames = (3 if message.told else 2) * MESSAGE_OVERHEAD
            texts = estimate_tokens(text) + estimate_tokens(message.told)
            return frames + texts + _marks(message) + _shown(message.attachments)
        case AssistantMessage(parts=parts):
            return MESSAGE_OVERHEAD + sum(_part_tokens(part) for part in parts)
        case ResultsMessage(results=results):
            frames = MESSAGE_OVERHEAD * len(results)
            return frames + sum(
                estimate_tokens(result.text) + _marks(result) + _shown(result.attachments) for result in results
            )


def _shown(attachments: Iterable[Attachment]) -> int:
    return sum(MESSAGE_OVERHEAD + len(one.name.encode()) + estimate_attachment(one) for one in attachments)


def estimate_attachment(shown: Attachment) -> int:
    """An upper bound of the tokens of a picture or a document, by any vendor's count.

    Vendors count a picture by patches or tiles, or as a fixed number: Anthropic a token for 750 pixels, OpenAI at most
    2.46 tokens for each of at most 1,536 patches of 32 by 32 or 170 for a tile of 512 by 512 after 85, Google 258 for a
    tile or 1,120 for a picture. A page of a PDF is its picture and its text, 3,000 tokens of text at most by Anthropic.
    (One family alone counts more, gpt-4o-mini, where a picture costs as much money as elsewhere and 33 times the
    tokens.)
    """
    if shown.media_type == PDF:
        return max(1, shown.pages) * (_PAGE_TEXT + _MOST_SHOWN // 2)
    patches = -(-shown.width // 32) * -(-shown.height // 32)
    return max(_LEAST_SHOWN, min(_MOST_SHOWN, patches * 5 // 2))


def _marks(said: UserMessage | ToolResult) -> int:
    """What the marks around the words of others come to; each line in them that looks like a mark is indented."""
    if not said.foreign:
        return 0
    source_bytes = len(said.source.encode("utf-8", "surrogatepass"))
    return FOREIGN_OVERHEAD + source_bytes + said.text.count("<<<") + said.text.count(">>>")


def _part_tokens(part: Text | Thinking | ToolCall) -> int:
    match part:
        case Text(text=text):
            return estimate_tokens(text)
        case Thinking(text=text, signature=signature):
            return MESSAGE_OVERHEAD + estimate_tokens(text) + len(signature)
        case ToolCall(tool=tool, arguments=arguments):
            # Arguments that are no JSON are sent again inside JSON, where quotes and backslashes take one byte more.
            escapes = arguments.count('"') + arguments.count("\\")
            return MESSAGE_OVERHEAD + estimate_tokens(tool) + estimate_tokens(arguments) + escapes


def _letter_bound(data: bytes) -> int:
    """Facts 1 to 3 for bytes without runs of spaces.

    ``m`` letters in a row save ``(m + 1) // 3``, and ``(m + 2) // 3`` after a space that belongs to them. Lengthening
    each row by one or two signs turns both into a count of ``aaa``.
    """
    rows = (b"." + data).translate(_ROWS).replace(b"sa", b"|aaa").replace(b".a", b".aa")
    return len(data) - rows.count(b"aaa") - data.translate(_GAPS).count(b"sp")


_WORDS = """
ab abc able about above absolute accept accepted access account action actions active actual actually add added
adding additional address adds after again agent ai alias all allow allowed allows alone along already also always
an and annotations another any anything api app appear append application applications apply are arg args argument
arguments around array as ascii ask assert associated async at attached attempt attribute attributes auth
authentication author auto available avoid await back bad bar base based bash basic be because been before being
below best better between bin binary bind bit blob block body bool boolean both bound branch break broken browser
buffer bug bugs build building built but by byte bytes cache call callback called calling calls can cannot case
cases catch cause cc cd change changed changes changing character characters charge check checked checking checks
child choice choose ci class classes clean clear cli client clone close closed cmd code coding collection color com
come comes command commands comment comments commit common compatible compile compiled compiler complete completion
component components condition conditions config configuration configure configured connect connection consider
consistent console const contain contained contains content contents context continue contract control convert
copies copy copyright core correct could count create created creating creation cross current currently custom data
date db dd def dev dict did diff dir direct directory disk do doc docs document does domain done double down due
during each early east easy ec edit editing editor effect either elif else email empty enable enabled encoding end
endpoint ends engine ensure enter entries entry env environment equal error errors escape etc even event events
every exact example examples except exception exceptions exclude exec execute execution exist existing exists exit
expect expected explicit export express expression extend extension extensions external extra fail failed fails
failure false fast feature features fetch few field fields file filename files filter final find first fix fixed
flag flags folder follow foo for force form format formats forward found framework free from full fully function
functions future general generate generated generator get gets git give given global go good got graph group groups
had handle handler hard has hash have having header headers help helper here high history hold hook hooks host how
html http https human id identifier identity if ignore ignored image implement implementation implemented import
important in include included includes including index individual info information init initial input insert inside
install installed instance instances instead instructions int integer interface internal into invalid io is issue
issues it item items its join js json just keep key keys keyword keywords kind know known label lambda language
large last later latest law leading least leave left legacy len length less let level lib libraries library license
licenses like limit limited limits line lines link linked links list listed lists load loaded loading local location
lock log logic long look looking loop lower ls machine made mail main make makes making many map mapping mark marked
master match matches max may md mean message messages method might mode model module more most move much must my
name named names namespace native necessary need needed needs nested net network never new next no node none nor
normal not note notes now null number object objects of off often old older on once one ones only open operation
operations option optional options or order org origin original os other others otherwise our out output outside
over override own owner pack package page pages parameter parameters parent parse parsed parser part partial parts
party pass passed password patch path paths pattern pending people per perform performance permission permissions
person pip pkg place placed places plain platform please plus point points policy port position possible post pre
preferred prefix prepare present prevent previous primary print printed prior private problem process processing
produce product program progress project projects prompt properties property protocol provide provided provider
proxy public publish published pull purpose push put py query raise range rather raw read reading reads real really
reason received recent record ref refer reference references related release released remain remove replace report
reported reports repository represent request require required requires reset resolve resource resources restart
retry return returned right role root rule rules run running runs runtime safe same save scope script search section
see select self send sent session set sets shall shell short show side sign simple since single size skip small so
socket some source sources space spaces spec specific split src stable stop str sub such suite support supported
sure switch sync sys system systems table tag tags take takes target tell test tests text than that the them then
there they this thus time times title to token too tool tools top total tree try ts tuple turn two txt type types
under unicode unique unknown unless until up update updated updates url us usage use used user users uses using usr
usually utf util valid validation value values var variable very via view visible wait want warn warning warnings
was way ways we web well were west what when where whether which while who whole whose why will window with within
without won word words work working works workspace world would wrap wrapper write writing written wrong www yet you
your zero
"""

_SAVED = {
    lead.replace(b" ", b"\1") + word: _letter_bound(lead + word) - 1
    for word in _WORDS.encode().split()
    for lead in (b"", b" ")
}
"""What a word that is one token saves beyond the bound of its letters; a byte 1 stands for the space before it."""
