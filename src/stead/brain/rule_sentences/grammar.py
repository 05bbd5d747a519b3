"""From a sentence to a rule: every word has to be consumed by one reading, else the whole sentence is refused.

Layer: brain. Pure. Each part of a sentence becomes a letter by the table of a language:

    D never   N forbidden   K ask before   L only with my approval   A always allow   O only   W without asking
    n m z q  particles of a double negation, which N is none of
    c change  d delete  r read  x run  l reach  s send  p pay  v (after x) use, which the network can follow
    F files  Y anything  U anyone  T commands  B the network  S sites  E mail
    P H M C # a path, host, address, command, number   i in, to   f from, of   o outside, except
    > < + - of amounts   J and   ? what turns the meaning of a mark

The letters of the decision are taken out, then those of the verbs, and the rest has to fit the verb's own pattern. So
a second clause, a doubled negation, or a word that no table has, can never be passed over.
"""

from __future__ import annotations

import hashlib
import re
from functools import cache, lru_cache

import msgspec

from stead.brain.rule_sentences import english, french, german, spanish
from stead.brain.rule_sentences.tokens import Token, bare_command, split
from stead.domain.policies import Action, Condition, ConditionRole, Decision, Rule

_TABLES = {"English": english.WORDS, "German": german.WORDS, "French": french.WORDS, "Spanish": spanish.WORDS}
_LONGEST = 7
SENTENCE_CHARS = 500
"""A rule is one sentence of at most so many characters."""
_LETTERS = {"path": "P", "host": "H", "mail": "M", "command": "C", "number": "#", "comma": "J"}
_MARKS = "DNKLAOWnmzq"
_VERBS = "cdrxlspv"
_DECIDED: dict[str, Decision] = {
    **dict.fromkeys(("D", "N", "O", "AO", "m", "Dm", "mz", "Dmz", "z", "Dz", "Dn", "nz", "Dnz", "nq"), "deny"),
    **dict.fromkeys(("K", "L", "AL", "DW", "NW", "Wm", "DWm", "DWn", "Wmz", "Wnz", "DWnz"), "ask"),
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


def _places(before: str, letters: str, alone: str, by: str = "i") -> re.Pattern[str]:
    """What may stand after a verb: names, names outside of which it holds, both, or a word for all of them."""
    values = rf"[{by}]?[{letters}]F?(?:J+[{by}]?[{letters}]F?)*"
    return re.compile(
        rf"{before}(?P<inside>{values})(?:J?o(?P<but>{values}))?|{before}J?o[FYTSU]?(?P<outside>{values})|[if]?(?P<all>{alone})"
    )


_PATTERNS: dict[str, tuple[ConditionRole, re.Pattern[str]]] = {
    "c": ("path", _places("[if]?(?:[FY]|Yf?F)?", "P", "[FY]")),
    **dict.fromkeys(("d", "r"), ("path", _places("f?(?:[FY]|Yf?F)?", "P", "[FY]", "if"))),
    "x": ("command", _places("f?[TY]?", "C", "[TY]", "f")),
    "l": ("host", _places("[YFS]?[if]?[SB]?", "H", "[BS]", "if")),
    "s": ("recipient", _places("f?[EYF]?(?:i?U)?", "MH", "Y|[EY]?i?U|f?E")),
    "p": ("amount", re.compile(r"(?P<bound>[><+-])#|#(?P<after>[><+-])")),
}
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
    readings = [(_letters(tokens, language), language) for language in _TABLES]
    rules = {rule for (letters, unread), _ in readings if not unread and (rule := _rule(letters, said, directory))}
    if len(rules) == 1:
        rule = rules.pop()
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
        before = "".join(letter for letter, _ in found[-2:])
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
    return {
        tuple(phrase.split()): letters
        for letters, phrases in reversed(_TABLES[language].items())
        for phrase in phrases.split("|")
    }


def _rule(letters: Letters, said: str, directory: str) -> Rule | None:
    marks = "".join(sorted(letter for letter, _ in letters if letter in _MARKS))
    decision = _DECIDED.get(marks)
    rest = [pair for pair in letters if pair[0] not in _MARKS]
    text = "".join(letter for letter, _ in rest)
    verbs = re.findall(rf"[{_VERBS}]+(?:J+[{_VERBS}]+)*", text)
    if decision is None or len(verbs) > 1 or ("L" in marks and "J" in text):
        return None  # "ls, and rm only with my approval" may speak of both or of the last
    verb, text, values = _split_verb(verbs, text, rest)
    if verb not in {"c", "d", "r", "cd", "cr", "dr", "cdr", "x", "l", "s", "p"}:
        return None
    role, pattern = _PATTERNS[verb[0]]
    match = pattern.fullmatch(text.strip("J"))
    if match is None or (marks in _ONLY and "r" in verb):
        return None  # "only read in docs/" may speak of reading or of docs/
    if verb == "s" and "H" in text and not {"E", "U"} & {*text}:
        return None  # "send data to example.com" may speak of mail or of an upload
    what = tuple(action for letter in verb for action in _DOES[letter])
    where = _where(role, match, values)
    outside = any(condition.side == "outside" for condition in where)
    if decision == "allow" and (outside or role == "amount"):
        return None
    if marks in _ONLY:
        if len(where) != 1 or outside:
            return None
        where = (msgspec.structs.replace(where[0], side="outside"),)
    if verb == "s" and not where and "E" in text and decision != "ask":
        return None  # no class is mail alone, and a ban on all that acts outside is more than was said
    return Rule("", decision, what, (), where, directory, 0, said, confirmed=False)


def _split_verb(verbs: list[str], text: str, rest: Letters) -> tuple[str, str, Letters]:
    """The verbs of a sentence in their order, and what is left; a noun can stand for the verb that goes with it."""
    if not verbs:
        implied = "x" if "C" in text else "l" if "B" in text else ""
        return implied, text, rest
    before, found, after = text.partition(verbs[0])
    values = [*rest[: len(before)], *rest[len(before) + len(found) :]]
    verb = "".join(sorted({*found} - {"J"}))
    if verb == "vx":
        verb = "l" if "B" in text else "x"
    elif verb == "v":
        verb = ""
    return verb, before + after, values


def _where(role: ConditionRole, match: re.Match[str], values: Letters) -> tuple[Condition, ...]:
    shift = next((at for at, (letter, _) in enumerate(values) if letter != "J"), 0)
    groups = match.groupdict()
    if bound := groups.get("bound") or groups.get("after"):
        form, side = _BOUNDS[bound]
        number = next(value for letter, value in values if letter == "#")
        return (Condition(role, (form.format(number),), "outside" if side == "outside" else "inside"),)
    found = []
    for name in ("inside", "but", "outside"):
        if groups.get(name):
            start, end = match.span(name)
            named = [value for _, value in values[start + shift : end + shift] if value]
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
