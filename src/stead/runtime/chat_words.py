"""What of a session's words does not go to a chat: addresses that its model put together, and names of what it runs on.

Layer: runtime. Both are known by facts: what the model was given to read, and which models, providers and tools there
are. What the person wrote themselves is nothing that they must not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from stead.domain.messages import ResultsMessage
from stead.domain.sessions import Session
from stead.guardian.flow import stands_in
from stead.screen.links import links

LEFT_OUT = "[an address is left out that the model put together: it is on the page]"
_ALL_LEFT_OUT = "[this has addresses that the model put together: it is on the page]"


def without_strange(text: str, session: Session, page: str) -> str:
    """A text without addresses that its model put together after it had read what others wrote.

    A client finds addresses in more spellings than the one in which ``links`` gives them, so that what has one is taken
    out whole, as often as is needed: a word, a line, all of it.

    Args:
        text: a model's.
        session: the model's.
        page: Stead's own address, which may stand there.
    """
    if not session.sources or not links(text):
        return text
    known = _read(session)

    def strange(part: str) -> bool:
        return any(
            link != page and not link.startswith(f"{page}/") and not stands_in(link, known) for link in links(part)
        )

    lines: list[str] = []
    for line in text.split("\n"):
        if strange(line):
            line = "".join(LEFT_OUT if strange(word) else word for word in re.split(r"(\s+)", line))
        lines.append(LEFT_OUT if strange(line) else line)
    clean = "\n".join(lines)
    return _ALL_LEFT_OUT if strange(clean) else clean


def without_names(text: str, session: Session, tools: Iterable[str], *, own: bool) -> str:
    """A text that names no model of the session's and no tool by its internal name.

    Args:
        text: a model's, or Stead's own.
        session: whose.
        tools: the names of all.
        own: Stead's own words of a fault, which may also name a provider. In a model's, what is a plain word too stays.
    """
    names: dict[str, str] = {name: "a tool" for name in tools if "_" in name}
    for ref in session.spec.chain:
        names |= {f"{ref.provider}/{ref.model}": "the model", ref.model: "the model"}
        if own:
            names[ref.provider] = "the provider"
    held = {
        name: said
        for name, said in names.items()
        if (own or not name.isalpha()) and not stands_in(name, session.words) and name.casefold() in text.casefold()
    }
    for name in sorted(held, key=len, reverse=True):
        text = re.sub(rf"(?i)(?<![\w-]){re.escape(name)}(?![\w-])", held[name], text)
    return text


def _read(session: Session) -> Sequence[str]:
    """All texts that a session's model was given."""
    texts = [*session.words]
    for message in session.messages:
        if isinstance(message, ResultsMessage):
            texts += [result.text for result in message.results]
    return texts
