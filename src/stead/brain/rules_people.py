"""Rules for what a person says of themselves and of people they know.

Layer: brain. Pure. Used by ``brain.extracting`` alone. Keys: ``person.city`` of the person's own, ``person.dentist``
for whoever there is one of, ``person.eva.relation`` for those of whom there may be several.
"""

from __future__ import annotations

import re

from stead.brain.forms import JOB, fits
from stead.brain.names import is_city, is_full, is_product, may_be_home, may_be_person
from stead.brain.stating import IS, NAME, NEW, POINTING, Fields, Rule, article, rule, slug

_SINGLE = (
    "wife|husband|partner|fiancee?|girlfriend|boyfriend|mother|father|mum|mom|dad|boss|manager|supervisor|dentist|"
    "doctor|gp|physician|therapist|lawyer|solicitor|accountant|bookkeeper|landlord|landlady|assistant|secretary|"
    "cleaner|plumber|electrician|gardener|mechanic|hairdresser|barber|vet|tax advis[eo]r|project manager|"
    "product owner|tech lead|team lead|designer|cto|ceo|cfo"
)
_SEVERAL = (
    "son|daughter|child|kid|brother|sister|cousin|uncle|aunt|nephew|niece|grandson|granddaughter|friend|colleague|"
    "teammate|flatmate|housemate|roommate|neighbou?r|dog|cat|horse|client|customer|intern|apprentice"
)
_ATTRIBUTES = (
    "birthday|date of birth|phone number|mobile number|phone|email|email address|e-mail|address|home address|postcode|"
    "zip code|time ?zone|home ?town|city|country|nationality|native language|mother tongue|blood type|shoe size|height|"
    "weight|age|job|job title|title|profession|employer|company|team|department|school|university|office|car|bike|bank|"
    "insurer|insurance|gym|airline|laptop|operating system|os|editor|ide|shell|terminal|browser|keyboard layout|"
    "keyboard|locale|currency|working hours|office hours|work hours|pronouns|user ?name|handle|hourly rate|day rate|"
    "allerg(?:y|ies)|diet|bedtime|lunch break|home airport|licen[cs]e plate|vat number|customer number|"
    r"membership number|github (?:user ?name|handle|account)"
)
_STATE = re.compile(
    r"^(?:broken|down|dead|slow|fine|ok|okay|full|empty|lost|gone|late|coming|wrong|right|ready|blocked|stuck|busy|"
    r"free|closed|open|great|good|bad|terrible|expensive|cheap|annoying|failing|not \w+|\w+ing|\w+ed)\b",
    re.I,
)
_WHICH = "(?: oldest| eldest| youngest| older| younger| best| little| big| old| good)?"


def _own(attribute: str, value: str, text: str, *aliases: str) -> Fields:
    return {
        "kind": "knowledge",
        "text": text,
        "key": f"person.{slug(attribute)}",
        "value": value,
        "aliases": (attribute.casefold(), f"my {attribute.casefold()}", *aliases),
    }


def _name(match: re.Match[str]) -> Fields | None:
    name = match["name"]
    return _own("name", name, f"The person is called {name}.", "who am i") if may_be_person(name) else None


def _city(match: re.Match[str]) -> Fields | None:
    name = match["name"]
    if not (is_city(name) if match["moved"] else may_be_home(name)):
        return None
    return _own("city", name, f"The person lives in {name}.", "home", "where i live")


def _employer(match: re.Match[str]) -> Fields:
    return _own("employer", match["name"], f"The person works for {match['name']}.", "company", "where i work")


def _left_city(match: re.Match[str]) -> Fields:
    name = match["name"]
    return {**_own("city", f"not {name}", f"The person no longer lives in {name}."), "ends": name}


def _left_employer(match: re.Match[str]) -> Fields:
    name = match["name"]
    return {**_own("employer", f"not {name}", f"The person no longer works for {name}."), "ends": name}


def _job(match: re.Match[str]) -> Fields | None:
    job = match["value"]
    return _own("job", job, f"The person works as {article(job)}.", "profession") if JOB.fullmatch(job) else None


def _attribute(match: re.Match[str]) -> Fields | None:
    attribute, value = match["attribute"].casefold(), match["value"]
    if POINTING.search(value) or _STATE.search(value) or not fits(attribute, value):
        return None
    return _own(attribute, value, f"The person's {attribute} is {value}.")


def _single(match: re.Match[str]) -> Fields | None:
    role, name = match["role"].casefold(), match["name"]
    if not may_be_person(name):
        return None
    return {
        "kind": "person",
        "text": f"{name} is the person's {role}.",
        "key": f"person.{slug(role)}",
        "value": name,
        "aliases": (role, f"my {role}", name.casefold()),
    }


def _single_is(match: re.Match[str]) -> Fields | None:
    """Of one word after "my boss is" nobody can tell whether it is a name."""
    return _single(match) if is_full(match["name"]) else None


def _no_longer(match: re.Match[str]) -> Fields | None:
    held = _single(match)
    if held is None:
        return None
    role, name = match["role"].casefold(), match["name"]
    return {**held, "text": f"{name} is no longer the person's {role}.", "value": f"not {name}", "ends": name}


def _attribute_ended(match: re.Match[str]) -> Fields | None:
    attribute, value = match["attribute"].casefold(), match["value"]
    if _STATE.search(value) or not fits(attribute, value):
        return None
    return {**_own(attribute, f"not {value}", f"The person's {attribute} is no longer {value}."), "ends": value}


def _several(match: re.Match[str]) -> Fields | None:
    role, name = match["role"].casefold(), match["name"]
    if not may_be_person(name):
        return None
    return {
        "kind": "person",
        "text": f"{name} is {article(role)} of the person's.",
        "key": f"person.{slug(name)}.relation",
        "value": role,
        "aliases": (name.casefold(), f"my {role}"),
    }


def _theirs(match: re.Match[str]) -> Fields | None:
    name, attribute, value = match["name"], match["attribute"].casefold(), match["value"]
    if POINTING.search(value) or _STATE.search(value) or not fits(attribute, value) or is_product(name):
        return None
    who = name if name[:1].isupper() else f"The person's {name}"
    return {
        "kind": "person",
        "text": f"{who}'s {attribute} is {value}.",
        "key": f"person.{slug(name)}.{slug(attribute)}",
        "value": value,
        "aliases": (name.casefold(), f"{name.casefold()}'s {attribute}"),
    }


def _allergic(match: re.Match[str]) -> Fields:
    what, no = match["value"], bool(match["no"])
    return {
        "kind": "knowledge",
        "text": f"The person is {'not ' if no else ''}allergic to {what}.",
        "key": f"person.allergy.{slug(what)}",
        "value": "no" if no else "yes",
        "aliases": (f"{what} allergy".casefold(), "allergies", "allergic"),
    }


def _diet(match: re.Match[str]) -> Fields:
    what, no = match["value"].casefold(), bool(match["no"])
    return {
        "kind": "knowledge",
        "text": f"The person is {'not ' if no else ''}{what}.",
        "key": f"person.diet.{slug(what)}",
        "value": "no" if no else "yes",
        "aliases": ("diet", what),
    }


_ON = rf"{IS}(?: on)?(?: the(?= \d))?"
_GONE = r"(?: is| are|'s|\u2019s|'re)(?: now)? (?:no longer|not) "
PEOPLE: tuple[Rule, ...] = (
    rule(rf"(?:my name is|my name's|i am called|i'm called|(?:you can |please )?call me) (?P<name>{NAME})", _name),
    rule(
        r"(?:i|we)(?: now| currently)?(?: live in| am based in|'m based in|'re based in| are based in|"
        r"(?P<moved>(?: have|'ve)?(?: just)? (?:moved|relocated) to))"
        rf" (?P<name>{NAME})(?:, [\w ]+| and (?-i:[a-z]).+)?",
        _city,
    ),
    rule(
        r"(?:i|we)(?:(?:'m|'re| am| are) (?:no longer|not) based in| no longer live in| (?:do not|don't) live in|"
        r"(?: have|'ve)? moved away from|'m no longer in)"
        rf" (?P<name>{NAME})(?:, [\w ]+)?",
        _left_city,
    ),
    rule(
        r"i(?: now| currently)?(?: work at| work for| started at| started working (?:at|for)|'m working (?:at|for)|"
        rf" am employed at) (?P<name>{NAME}(?: & {NAME})?)",
        _employer,
    ),
    rule(
        r"i(?: no longer work| (?:do not|don't) work| stopped working|'m no longer working)(?: at| for)"
        rf" (?P<name>{NAME})",
        _left_employer,
    ),
    rule(rf"i(?:'ve| have)? (?:left|quit)(?: my job at)? (?P<name>{NAME})", _left_employer),
    rule(r"i(?: now| currently)?(?: work as|'m| am) an? (?P<value>[\w -]{3,50})", _job),
    rule(rf"(?:my|our){NEW} (?P<role>{_SINGLE})(?: is called| is named|'s name is) (?P<name>{NAME})", _single),
    rule(rf"(?:my|our){NEW} (?P<role>{_SINGLE}){IS} (?P<name>{NAME})", _single_is),
    rule(rf"(?:my|our){NEW} (?P<role>{_SINGLE}){_GONE}(?P<name>{NAME})", _no_longer),
    rule(rf"(?P<name>{NAME}) is(?: now)?(?: my| our){NEW} (?P<role>{_SINGLE})", _single),
    rule(rf"(?P<name>{NAME}) is (?:no longer|not) (?:my|our){NEW} (?P<role>{_SINGLE})", _no_longer),
    rule(rf"(?:my|our) (?P<role>{_SINGLE}),? (?P<name>{NAME}),? (?-i:(?!and\b)[a-z]).+", _single),
    rule(rf"(?:my|our){_WHICH} (?P<role>{_SEVERAL})(?: is called| is named|'s name is) (?P<name>{NAME})", _several),
    rule(rf"(?:my|our){_WHICH} (?P<role>{_SEVERAL}),? (?P<name>{NAME}),? (?-i:(?!and\b)[a-z]).+", _several),
    rule(rf"(?P<name>{NAME}) is (?:my|our){_WHICH} (?P<role>(?!friend){_SEVERAL})", _several),
    rule(rf"(?P<name>{NAME}) is an?{_WHICH} (?P<role>{_SEVERAL}) of (?:mine|ours)", _several),
    rule(rf"(?P<name>{NAME})['\u2019]s (?P<attribute>{_ATTRIBUTES}){_ON} (?P<value>[^,;]{{1,80}})", _theirs),
    rule(
        rf"(?:my|our) (?P<name>{_SINGLE})['\u2019]s (?P<attribute>{_ATTRIBUTES}){_ON} (?P<value>[^,;]{{1,80}})",
        _theirs,
    ),
    rule(rf"(?:my|our){NEW} (?P<attribute>{_ATTRIBUTES}){_ON} (?P<value>[^;]{{1,120}})", _attribute),
    rule(rf"(?:my|our){NEW} (?P<attribute>{_ATTRIBUTES}){_GONE}(?P<value>[^;]{{1,120}})", _attribute_ended),
    rule(r"i(?: am|'m)(?P<no> not| no longer)? allergic to (?P<value>[^,;]{2,60})", _allergic),
    rule(
        r"i(?: am|'m)(?P<no> no longer| not)?(?: an?)? "
        r"(?P<value>vegetarian|vegan|pescatarian|coeliac|teetotal|diabetic)",
        _diet,
    ),
)
