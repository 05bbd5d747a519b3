"""From a sentence to a rule: every word has to be consumed by one reading, else the whole sentence is refused.

Layer: brain. Pure. Each part of a sentence becomes a letter by the table of a language:

    D never   K ask before   A always allow   O only   W without asking   n m z q  particles of a double negation
    b before, and k ask me, of which each alone decides nothing   V forbidden   w with my consent
    c change  d delete  r read  x run  l reach  s send  p pay  v (after x) use, which the network can follow
    F files  Y anything  U anyone  T commands  B the network  S sites  E mail
    P H M C # a path, host, address, command, number   i in, to   f from, of   o outside, except
    > < + - of amounts   J and   ? what turns the meaning of a mark
    h has to   a all   e a person: left out, except where they turn the meaning of what they stand by

The letters of the decision are taken out, then those of the verbs, and the rest has to fit the verb's own pattern. So
a second clause, a doubled negation, or a word that no table has, can never be passed over.
"""

from __future__ import annotations

import hashlib
import pkgutil
import re
from functools import cache, lru_cache

import msgspec

from stead.brain.rule_sentences.tokens import Token, bare_command, spelled_out, split
from stead.domain.policies import Action, Condition, ConditionRole, Decision, Rule

_LANGUAGES = ("English", "German", "French", "Spanish")
_LONGEST = 9
SENTENCE_CHARS = 500
"""A rule is one sentence of at most so many characters."""
_LETTERS = {"path": "P", "host": "H", "mail": "M", "command": "C", "number": "#", "comma": "J"}
_MARKS = "DVKAOWwbknmzq"
_VERBS = "cdrxlspv"
_DECIDED: dict[str, Decision] = {
    **dict.fromkeys(("D", "O", "AO", "m", "Dm", "mz", "Dmz", "z", "Dz", "Dn", "nz", "Dnz", "nq", "V"), "deny"),
    **dict.fromkeys(("K", "Kb", "Kk", "bk", "DW", "Wm", "DWm", "DWn", "Wmz", "Wnz", "Wz", "DWz", "DWnz"), "ask"),
    **dict.fromkeys(("DWb", "Wbm", "DWbm", "DWbn", "Wbmz", "Wbnz", "DWbnz"), "ask"),
    **dict.fromkeys(("VW", "Ow", "Aw", "AOw", "ADW"), "ask"),
    **dict.fromkeys(("A", "AW", "W"), "allow"),
}
"""What the marks of a sentence say together, each at most once; any other set of them is refused."""
_ONLY = frozenset({"O", "AO", "nq"})
_DOES: dict[str, tuple[Action, ...]] = {
    "c": ("change",),
    "d": ("delete",),
    "r": ("read",),
    "x": ("run",),
    "l": ("leave",),
    "s": ("send",),
    "p": ("send",),
}


def _places(before: str, letters: str, alone: str, by: str = "if") -> re.Pattern[str]:
    """What may stand after a verb: names, names outside of which it holds, both, or a word for all of them."""
    values = rf"[{by}]*[{letters}][FSTU]?(?:J+[{by}]*[{letters}][FSTU]?)*"
    return re.compile(
        rf"{before}(?P<inside>{values})(?:J?o(?P<but>{values}))?|{before}J?o[if]*[FYTSU]?(?P<outside>{values})"
        rf"|[if]*(?P<all>{alone})"
    )


_PATTERNS: dict[str, tuple[ConditionRole, re.Pattern[str]]] = {
    **dict.fromkeys("cdr", ("path", _places("[if]*(?:[FY]|Yf*F)?", "P", "[FY]"))),
    "x": ("command", _places("[if]*[TY]?", "C", "[TY]", "i")),
    "l": ("host", _places("[if]*[YFS]?[if]*[SB]?", "H", "(?:[YFS][if]*)?[BS]")),
    "s": ("recipient", _places("[if]*[EYF]?(?:i*U)?", "MH", "Y|[EY]?i*U|f*E", "i")),
    "p": ("amount", re.compile(r"[if]*(?P<bound>[><+-])#|[if]*#(?P<after>[><+-])")),
}
_PARTED = re.compile(rf"[PHMC#].*[{_MARKS}].*[PHMC#]")
"""A decision between two names may be of one of them alone."""
_LEFT_OUT = "hae"
_TURNED = re.compile(r"[Dmnzq].*[ha]|h.*[Dmnzq]|[oifs]e|Jo|o.*[PHMC][FSTU]?[J,]+[if]+[PHMC]")
"""What need not be done is not forbidden, "never all" leaves some, a rule names no person but by an address, and what
follows "or" stands on the other side where the side is said again: "outside docs/ or in secret/"."""
_PLACE = re.compile(r"o?(?:J*[if]*[PHMC][FSTU]?)+(?=J?[FYTSUEB])")
"""A place that is named before what is in it: "in docs/ nothing may be changed"."""
_BOUNDS = {">": ("..{}", "outside"), "<": ("{}..", "outside"), "+": ("{}..", "inside"), "-": ("..{}", "inside")}


class Refused(msgspec.Struct, frozen=True):
    """A sentence that makes no rule.

    Args:
        why: what was not understood.
        form: what could be read, to be completed by the person; it holds nowhere.
    """

    why: str
    form: Rule


def read(text: str, directory: str = "") -> Rule | Refused:
    """The rule that a sentence says, or why it says none for certain.

    Args:
        text: one sentence in English, German, French or Spanish.
        directory: the folder that it is to hold for; "" for every one.
    """
    said = " ".join(text.split())
    tokens = split(said)
    readings = [(_letters(tokens, language), language) for language in _LANGUAGES]
    rules = {rule for (letters, unread), _ in readings if not unread and (rule := _rule(letters, said, directory))}
    if len(rules) == 1:
        rule = rules.pop()
        if why := narrower(rule):
            return Refused(why, rule)
        return msgspec.structs.replace(rule, id=rule_id(rule))
    (letters, unread), language = min(readings, key=lambda reading: len(reading[0][1]))
    if rules:
        why = "it can be read in two ways"
    elif unread:
        why = f"read as {language}, {', '.join(repr(word) for word in unread[:4])} is not understood here"
    else:
        why = "each part is understood, but together they make no rule that is certain"
    return Refused(why, _form(letters, said, directory))


def understood(text: str, directory: str = "") -> Rule | None:
    """The rule that a sentence says for certain; nothing where it is meant for the model alone."""
    found = read(text, directory) if text.strip() and len(text) <= SENTENCE_CHARS else None
    return found if isinstance(found, Rule) else None


@lru_cache(maxsize=256)
def constraint_rules(constraints: tuple[str, ...]) -> tuple[Rule, ...]:
    """A goal's constraints, as far as they are rules; a constraint allows nothing."""
    return tuple(rule for rule in map(understood, constraints) if rule is not None and rule.decision != "allow")


def narrower(rule: Rule) -> str:
    """Why an allowance would cover less than its words say, so that calls are asked about; "" where it does not."""
    if rule.decision != "allow" or rule.tools:
        return ""
    if "delete" in rule.what and "run" not in rule.what:
        return "what deletes is mostly a command, and the allowance does not name running one; name the command"
    return ""


def rule_id(rule: Rule) -> str:
    """An id that the same rule always gets."""
    plain = msgspec.json.encode([rule.decision, rule.what, rule.tools, rule.where, rule.directory, rule.expires_at_ms])
    return "r_" + hashlib.sha256(plain).hexdigest()[:8]


Letters = list[tuple[str, str]]


def _letters(tokens: list[Token], language: str) -> tuple[Letters, list[str]]:
    """A sentence's letters, each with its value, and the words that the language's table does not have."""
    table, found, unread, at = _phrases(language), Letters(), list[str](), 0
    words = [*(token.text if token.kind in ("word", "comma") else "" for token in tokens), "$"]
    while at < len(tokens):
        token = tokens[at]
        before = "".join(letter for letter, _ in found if letter not in _LEFT_OUT)[-2:]
        after_run = before[-1:] in ("x", "v", "K") or before == "CJ"
        command, end = bare_command(tokens, at, after_run=after_run)
        if command:
            found.append(("C", command))
            at = end
            continue
        for length in range(min(_LONGEST, len(words) - at), 0, -1):
            letters = table.get(tuple(words[at : at + length]))
            if letters is not None:
                found += [(letter, "") for letter in letters]
                at += length
                break
        else:
            if token.kind in _LETTERS:
                found.append((_LETTERS[token.kind], token.text))
            else:
                unread.append(token.text)
            at += 1
    return found, unread


@cache
def _phrases(language: str) -> dict[tuple[str, ...], str]:
    """The letters of each phrase of a language; the table is data of this package."""
    table = (pkgutil.get_data(__package__, "words.txt") or b"").decode().partition(f"[{language}]\n")[2]
    rows = [line.split(": ", 1) for line in table.partition("\n[")[0].splitlines() if line]
    return {
        phrase: letters.strip("~")
        for letters, phrases in reversed(rows)
        for choice in phrases.split(" | ")
        for phrase in spelled_out(choice)
    }


def _rule(letters: Letters, said: str, directory: str) -> Rule | None:
    if _TURNED.search("".join("," if value == "," else letter for letter, value in letters)):
        return None
    letters = [pair for pair in letters if pair[0] not in _LEFT_OUT]
    marks = "".join(sorted(letter for letter, _ in letters if letter in _MARKS))
    decision = _DECIDED.get(marks)
    rest = [pair for pair in letters if pair[0] not in _MARKS]
    text = "".join(letter for letter, _ in rest)
    verbs = re.findall(rf"[{_VERBS}]+(?:J+[{_VERBS}]+)*", text)
    whole = "".join(letter for letter, _ in letters)
    if decision is None or len(verbs) > 1 or "bk" in whole or _PARTED.search(whole):
        return None
    verb, before, after = _split_verb(verbs, text, rest)
    if verb not in {"c", "d", "r", "cd", "cr", "dr", "cdr", "x", "l", "s", "p"}:
        return None
    role, pattern = _PATTERNS[verb[0]]
    # "in docs/, never change anything" names the place before the rest
    place = len(match[0]) if (match := _PLACE.match("".join(letter for letter, _ in before))) else 0
    for values in (before + after, after + before, _bare(before[place:]) + after + before[:place]):
        match = pattern.fullmatch("".join(letter for letter, _ in values))
        if match is not None:
            break
    if match is None or (marks in _ONLY and "r" in verb):
        return None  # "only read in docs/" may speak of reading or of docs/
    what = tuple(action for letter in verb for action in _DOES[letter])
    where = _where(role, match, values)
    outside = any(condition.side == "outside" for condition in where)
    if decision == "allow" and (outside or role == "amount"):
        return None
    if marks in _ONLY:
        if len(where) != 1 or outside:
            return None
        where = (msgspec.structs.replace(where[0], side="outside"),)
    if verb == "s" and "H" in text and not {"E", "U"} & {*text}:
        return None  # "send data to example.com" may speak of mail or of an upload
    if verb == "s" and not where and "E" in text and decision != "ask":
        return None  # no class is mail alone, and a ban on all that acts outside is more than was said
    return Rule("", decision, what, (), where, directory, 0, said, confirmed=False)


def _bare(values: Letters) -> Letters:
    return values[1:] if values and values[0][0] == "J" else values


def _split_verb(verbs: list[str], text: str, rest: Letters) -> tuple[str, Letters, Letters]:
    """The verbs of a sentence in their order, and what stands before and after; a noun can stand for its verb."""
    found = verbs[0] if verbs else ""
    start = text.index(found) if found else len(text)
    before, after = text[:start], text[start + len(found) :]
    verb = "".join(sorted({*found} - {"J"}))
    if not verb:
        verb = "x" if "C" in text else "l" if "B" in text else ""
    elif verb == "vx":
        verb = "l" if "B" in text else "x"
    elif verb == "v":
        verb = ""
    first = len(before) - len(before.lstrip("J"))
    last = len(before.rstrip("Jif")) if found else len(before.rstrip("J"))
    begin = len(text) - len(after.lstrip("J"))
    return verb, rest[first:last], rest[begin : len(text) - (len(after) - len(after.rstrip("J")))]


def _where(role: ConditionRole, match: re.Match[str], values: Letters) -> tuple[Condition, ...]:
    groups = match.groupdict()
    if bound := groups.get("bound") or groups.get("after"):
        form, side = _BOUNDS[bound]
        number = next(value for letter, value in values if letter == "#")
        return (Condition(role, (form.format(number),), "outside" if side == "outside" else "inside"),)
    found = []
    for name in ("inside", "but", "outside"):
        if groups.get(name):
            start, end = match.span(name)
            named = [value for _, value in values[start:end] if value]
            said = tuple(dict.fromkeys(value for value in named if value not in ",;"))
            found.append(Condition(role, said, "inside" if name == "inside" else "outside"))
    return tuple(found)


def _form(letters: Letters, said: str, directory: str) -> Rule:
    """What could be read of a sentence that is refused; the decision is the strictest where it is not certain."""
    marks = "".join(sorted({letter for letter, _ in letters if letter in _MARKS}))
    what = dict.fromkeys(action for letter, _ in letters for action in _DOES.get(letter, ()))
    roles: tuple[tuple[ConditionRole, str], ...] = (("path", "P"), ("host", "H"), ("recipient", "M"), ("command", "C"))
    where = [
        Condition(role, values)
        for role, wanted in roles
        if (values := tuple(dict.fromkeys(value for letter, value in letters if letter == wanted)))
    ]
    return Rule("", _DECIDED.get(marks, "ask"), tuple(what), (), tuple(where), directory, 0, said, confirmed=False)
