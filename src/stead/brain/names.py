"""Which names are of places, of people, and of neither.

Layer: brain. Pure. English says "I moved to" of cities and of programs, and "my boss is" of people, of nations and of
absences. No list has every name; what is not known to be of a place is not taken for one.
"""

from __future__ import annotations

import re

from stead.brain.name_tables import CITIES, PRODUCTS

_PRODUCTS = frozenset(PRODUCTS.split())
_CITIES = frozenset(CITIES.split())
_NATIONS = re.compile(
    r"(?:afghan|african|albanian|algerian|american|arab|argentin(?:e|ian)|asian|australian|austrian|belgian|brazilian|"
    r"british|bulgarian|canadian|chilean|chinese|colombian|croatian|cuban|cypriot|czech|danish|dutch|egyptian|english|"
    r"estonian|ethiopian|european|filipino|finnish|flemish|french|georgian|german|ghanaian|greek|hungarian|icelandic|"
    r"indian|indonesian|iranian|iraqi|irish|israeli|italian|jamaican|japanese|jewish|kenyan|korean|latvian|lebanese|"
    r"lithuanian|malaysian|maltese|mexican|moroccan|muslim|nepalese|nigerian|norwegian|pakistani|persian|peruvian|"
    r"polish|portuguese|romanian|russian|scottish|serbian|slovak|slovenian|south african|spanish|swedish|swiss|syrian|"
    r"taiwanese|thai|tunisian|turkish|ukrainian|vietnamese|welsh|catholic|buddhist|hindu|christian)",
    re.I,
)
_DAYS = re.compile(
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|march|april|june|july|august|september|october|"
    r"november|december|today|tomorrow|yesterday|christmas|easter",
    re.I,
)
_PLACE = re.compile(
    r"(?:New|San|Santa|São|St\.?|Saint|Port|Fort|Los|Las|El|La|Le|Bad|Den|Cape|Hong|Kuala|Tel|Rio|Buenos|Salt|North|"
    r"South|East|West|Upper|Lower|Great|Little) [A-ZÀ-Þ][\w'-]+(?: [A-ZÀ-Þ][\w'-]+)?|"
    r"[A-ZÀ-Þ][a-zà-ÿ]{2,}(?:ton|ham|burgh?|berg|ville|ford|bury|chester|cester|minster|stadt|heim|borg|haven|mouth|"
    r"grad|abad|polis|hagen|fjord|stead|wick)|[A-ZÀ-Þ]\w+ (?:City|Town|Beach|Springs|Falls|Village)"
)
_CAPITALS = re.compile(r"\b[A-Z]{2,}\b|[a-z][A-Z]|\d|^[A-Z]$")
_TITLED = re.compile(r"(?:Dr|Mr|Mrs|Ms|Prof)\b")


def is_product(name: str) -> bool:
    """Whether a name is of a program, a service or a thing that people talk of by name."""
    return any(word in _PRODUCTS for word in name.casefold().replace("-", " ").split()[:1])


def is_nation(word: str) -> bool:
    """Whether a word says where somebody is from."""
    return _NATIONS.fullmatch(word) is not None


def may_be_person(name: str) -> bool:
    """Whether a name may be somebody's."""
    if is_product(name) or _DAYS.fullmatch(name.split()[0]) or _CAPITALS.search(name):
        return False
    return not any(is_nation(word) for word in name.split())


def is_full(name: str) -> bool:
    """Whether a name has a title, or more than one word."""
    return _TITLED.match(name) is not None or " " in name


def may_be_home(name: str) -> bool:
    """Whether people may live there: everywhere but in programs, and in times."""
    return not (is_product(name) or _CAPITALS.search(name) or _DAYS.fullmatch(name) or is_nation(name))


def is_city(name: str) -> bool:
    """Whether a name is known to be of a place, or looks it."""
    return name.casefold() in _CITIES or (_PLACE.fullmatch(name) is not None and may_be_home(name))
