"""Where a person's own words end, and what they hand over begins.

Layer: brain. Pure. To have a letter translated, a diff explained or a page summarised, people paste it behind their
request, and the first person in it is another one. Nothing marks where it begins but the request, a heading, the
form of a letter, a chat or a diff; so whatever is behind such a mark counts as handed over, the person's own last
words among it too.
"""

from __future__ import annotations

import re

from stead.domain.lazy_patterns import lazy_pattern

VERBS = (
    r"add|address|alert|allow|amend|announce|answer|append|apply|archive|ask|assert|assign|assume|"
    r"attach|avoid|back up|begin|book|break|build|bump|buy|call|capitali[sz]e|change|check|choose|"
    r"cite|clean|clear|close|comment|commit|compare|compress|confirm|convert|copy|cover|create|cut|"
    r"date|declare|default|delete|deploy|describe|disable|document|double-?check|download|draft|drop|"
    r"edit|email|enable|encrypt|end|ensure|escape|execute|explain|export|fetch|file|finish|fix|follow|"
    r"force-?push|format|generate|give|go through|greet|group|hard-?code|hide|ignore|import|include|"
    r"increase|indent|inform|install|invoice|keep|label|leave|limit|link|lint|list|log|look (?:at|up|"
    r"for)|lower|mail|make|mark|measure|mention|merge|mock|modify|move|name|note|notify|offer|open|"
    r"order|overwrite|paste|pick|pin|ping|place|post|prefer|prefix|print|propose|publish|pull|push|"
    r"put|quote|raise|read|rebase|refer|regenerate|remind|remove|rename|repeat|replace|reply|report|"
    r"resolve|respond|return|reuse|review|rewrite|round|run|save|say|scan|send|set|share|show|sign|"
    r"skip|sort|speak|split|squash|start|state|stick to|stop|store|strip|suggest|summari[sz]e|switch|"
    r"tag|take|talk|tell|test|touch|track|translate|treat|try|type|update|upgrade|upload|use|"
    r"validate|verify|wait|warn|watch|wrap|write"
)
"""Verbs of orders: what is done at a keyboard."""
PASTED_LINES = 40
"""A turn with more lines hands material over; of its first lines alone the person is likely to be the author."""
_OWN_LINES = 3
_TITLE_CHARS = 60

_FENCE = lazy_pattern(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|<(\w+)[^<>]*>.*?</\1>", re.DOTALL)
_QUOTED = lazy_pattern(r"\"[^\"\n]{12,}\"|\u201c[^\u201d\n]{4,}\u201d|«[^»\n]+»|(?<!\w)'[^'\n]{25,}'(?!\w)")
_LINE_OF_OTHERS = lazy_pattern(
    r"^[ \t]*(?:>|\||\$ |# |//|/\*|\+\+\+|---|@@|[{}\[\]<]|\d{4}-\d\d-\d\d[T ]\d\d:|"
    r"(?:from|to|subject|sent|cc|date|re|fw|fwd|user|assistant|system|human|error|traceback|warning)\s*:).*$",
    re.IGNORECASE | re.MULTILINE,
)
_DIFF = lazy_pattern(r"^(?:[+-][^\s+-]|@@ )", re.MULTILINE)
_LINE_OF_A_DIFF = lazy_pattern(r"^[-+ ].*$", re.MULTILINE)

_TEXTS = (
    r"grammar|spelling|wording|phrasing|punctuation|tone|paragraphs?|sentences?|texts?|passages?|e-?mails?|mails?|"
    r"letters?|(?<!commit )(?<!error )(?<!log )messages?|essays?|posts?|articles?|speech|abstract|cv|resume|résumé|"
    r"description|snippets?|captions?|tweets?|statements?|minutes|quotes?|drafts?|reviews?|answers?|lines?|rows?|entries|words"
)
_POINTS = (
    r"(?:this|these)(?! (?:projects?|repo|repository|workspace|folder|team|week|month|year|morning|"
    r"afternoon|evening|time)\b)|those|following|below|attached|pasted"
)
_WORKS_ON = (
    r"fix|improve|correct|check|review|edit|shorten|condense|expand|format|reformat|explain|analy[sz]e|classify|tag|"
    r"extract|parse|convert|turn|make|read|look at|use|take|consider|given|answer|reply|respond|comment|critique|grade|"
    r"rate|compare|interpret|describe|import|insert|store|save|load|embed|write|draft|tidy|clean|mean|see|"
    r"think of|do|go through|listen to"
)
_HANDED_OVER = lazy_pattern(
    # to a colon
    r"\b(?:translate|proofread|summari[sz]e|rephrase|rewrite|correct|explain|review|analy[sz]e|check|format|parse|read|"
    r"reply to|answer|here is|here's|here are|this is|the following|as follows|below|example|text|mail|email|letter|"
    r"message|quote|story|poem|post|article|draft|write|says?|said|reads?)\b[^\n]{0,80}:\s*(?=\S|\n)"
    # to the end of the sentence that says what is to be done, or what comes
    r"|\b(?:translat(?:e|ion)|proof-?read(?:ing)?|polish|paraphrase|rephrase|reword|rewrite|summari[sz]e|summary of|"
    r"tl;?dr|copy-?edit|transcribe|anonymi[sz]e|redact)\b[^.!?\n]*[.!?\n]"
    rf"|\b(?:{_WORKS_ON})\b[^.!?\n]{{0,60}}\b(?:{_POINTS}|{_TEXTS})\b[^.!?\n]*[.!?\n]"
    rf"|\b(?:{_POINTS}|{_TEXTS})\b[^.!?\n]*\?"
    r"|\b(?:draft|compose|simulate|impersonate|imitate|mimic|invent|make up|come up with)\b[^.!?\n]*[.!?\n]"
    r"|\b(?:write|generate|create|give me|i need|we need)\b[^.!?\n]{0,40}\b(?:cards?|toast|invitation|profiles?|users?|"
    r"customers?|conversation|record|records|accounts?|joke|scene|chapter|announcement|testimonial|introduction)\b"
    r"[^.!?\n]*[.!?\n]"
    r"|\b(?:persona|(?:test|seed|sample|dummy|mock|example|fake) (?:data|user|customer|profile)|fixtures?|"
    r"placeholders?|lorem|lyrics|blog|transcript|excerpt|read-?me|bio|biography|cover letter|"
    r"poem|screenplay|(?<!user )story|novel|diary|dialog(?:ue)?|monologue|upstream|"
    r"forwarded|copied|pasted|commit message of)\b[^.!?\n]*(?:[.!?](?=\s)|\n)"
    r"|^[^\w\n]{0,8}(?:this|here|that|these|those|below|the following|what follows)(?: is|'s| are| was| comes| come)"
    r" (?:an?|the|my|our|his|her|their|what|how|from|\w+'s)\b[^.!?\n]*[.!?\n]"
    # whatever is behind a heading, the head of a letter or a line of a chat
    r"|^#{1,6} \S[^\n]*|^[ \t]*(?:(?:from|to|subject|sent|cc|author)\s*:|commit [\da-f]{7}) ?[^\n]*\n"
    r"|^(?:dear|hi|hello|hey)(?!,? (?:there|again|stead|everyone|everybody)\b),? [^\n.!?]{1,40}[,:]?[ \t]*\n"
    r"|^\W{0,2}\d\d?:\d\d(?::\d\d)?(?: ?[ap]m)?\W{1,3}(?-i:[A-Z])\w+[^\n]{0,30}\n"
    r"|^(?-i:[A-Z])\w+(?: (?-i:[A-Z])\w+)?,? \W?\d\d?:\d\d(?: ?[ap]m)?\W?[ \t]*\n"
    r"|^(?-i:[A-Z])\w+(?: (?-i:[A-Z])\w+)?: [^\n]*\n(?-i:[A-Z])\w+(?: (?-i:[A-Z])\w+)?: ",
    re.IGNORECASE | re.MULTILINE,
)
_POINTING = lazy_pattern(rf"\b(?:{_POINTS})\b", re.IGNORECASE)
_REQUEST = lazy_pattern(
    rf"(?:please |can you |could you |would you )*(?:{VERBS}|find|count|draw|pretty-?print)\b", re.IGNORECASE
)
_ADDITION = lazy_pattern(
    r"\W*(?:by the way|btw|also|and|p\.?s|fyi|note|remember|for the record|one more thing|besides|oh|thanks?|i also)\b",
    re.IGNORECASE,
)
_SIGNED = lazy_pattern(
    r"^[ \t]*(?:(?:best|kind|warm|many)(?: regards| wishes)?|regards|sincerely|cheers|yours(?: \w+)?|greetings|love|"
    r"thanks|thank you|all the best)(?: from \w+)?,?[ \t]*\n+[ \t]*[^\W\d_]+(?: [^\W\d_]+){0,2}[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
_GREETING = lazy_pattern(
    r"\W*(?:hi|hello|hey|good (?:morning|afternoon|evening)|ok|okay|thanks?|thank you|great|perfect|cool|nice|yes|yep|"
    r"yeah|no|nope|right|sure|sorry|well|actually|also|btw|by the way|fyi|note|remember|please|i|i'm|i've|my|we|we're|"
    r"we've|our|always|never|from now on|don't|stop|now|done|good)\b",
    re.IGNORECASE,
)


def own(text: str) -> str:
    """The text with what is not the person's own made unreadable, every character in its place."""
    if _DIFF.search(text):
        text = _LINE_OF_A_DIFF.sub(_hidden, text)
    if signed := _SIGNED.search(text):
        text = "\0" * signed.end() + text[signed.end() :]
    text = _FENCE.sub(_hidden, text)
    text = _QUOTED.sub(_hidden, text)
    ends = [_end_of_request(text), _end_of_first_lines(text)]
    text = _LINE_OF_OTHERS.sub(_hidden, text)
    first = min(end for end in ends if end is not None) if any(end is not None for end in ends) else len(text)
    return text[:first] + "\0" * (len(text) - first)


def _hidden(match: re.Match[str]) -> str:
    return "\0" * len(match[0])


def _end_of_request(text: str) -> int | None:
    """Behind which character everything is handed over; nothing when none is."""
    ends = [match.end() for match in (_HANDED_OVER.search(text),) if match]
    line, more, _ = text.partition("\n")
    if more and _POINTING.search(line):
        ends.append(len(line))
    first, gap, rest = text.lstrip("\n").partition("\n\n")
    if gap and rest.strip():
        at = len(text) - len(text.lstrip("\n")) + len(first)
        title = "\n" not in first and len(first) <= _TITLE_CHARS and first.rstrip()[-1:] not in ".!?,;:"
        asks = first.rstrip().endswith("?") or _REQUEST.match(first)
        if _POINTING.search(first) or (title and not _GREETING.match(first)) or (asks and not _ADDITION.match(rest)):
            ends.append(at)
    return min(ends, default=None)


def _end_of_first_lines(text: str) -> int | None:
    return len("\n".join(text.split("\n")[:_OWN_LINES])) if text.count("\n") > PASTED_LINES else None
