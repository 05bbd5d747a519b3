"""What a value must look like to be the value of something: an age is a number, an address has a street.

Layer: brain. Pure. Of "my height is …" people complete the sentence with metres, and with pixels where they talk of a
page. A value that does not fit is no statement about the person, or none that is understood.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from stead.brain.name_tables import TOOLS
from stead.brain.names import is_nation, is_product, may_be_home

_MONTHS = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_ROLES = (
    "engineer|developer|programmer|designer|teacher|nurse|doctor|lawyer|accountant|architect|student|writer|"
    "journalist|researcher|scientist|analyst|consultant|director|electrician|plumber|carpenter|chef|translator|"
    "photographer|musician|freelancer|professor|lecturer|baker|farmer|pilot|pharmacist|dentist|librarian|editor|"
    "economist|biologist|chemist|physicist|mathematician|administrator|mechanic|bookseller|gardener|manager"
)
_OF_ROLES = (
    "senior|junior|lead|staff|principal|chief|head|freelance|part-time|full-time|retired|certified|software|data|web|"
    "back-?end|front-?end|full-?stack|mobile|devops|security|network|systems?|site|reliability|machine|learning|ml|qa|"
    "test|hardware|mechanical|civil|electrical|chemical|structural|sound|audio|video|game|graphic|ux|ui|product|project|"
    "interior|fashion|landscape|primary|secondary|elementary|high|school|maths?|english|french|german|spanish|music|art|"
    "history|science|physics|chemistry|biology|kindergarten|special|piano|yoga|phd|doctoral|graduate|undergraduate|"
    "medical|law|nursing|research|postdoctoral|financial|business|tax|legal|technical|copy|travel|sports|political|"
    "investigative|solutions?|cloud|enterprise|managing|creative|film|theatre|sous|pastry|sworn|literary|wedding|"
    "assistant|associate|visiting|adjunct|emergency|paediatric|pediatric|care|veterinary|database|marketing|clinical|"
    "forensic|marine|molecular|computational|applied|theoretical|social|independent|self-employed|licensed|registered|"
    "it|hr|ai|embedded|firmware|platform|infrastructure|build|release|automation|robotics|quantitative|insurance|"
    "urban|airline|commercial|organic|engineering|office|store|community|account|sales|support|operations|computer"
)
JOB = re.compile(rf"(?:(?:{_OF_ROLES}) ){{0,4}}(?:{_ROLES})", re.I)
"""What people are by profession; "terrible programmer" is none."""

_TOOLS = frozenset(TOOLS.split())
_BRANCHES = "main|master|trunk|develop|development|dev|staging|production|release|stable|next|edge|default|mainline"
_MEASURED = re.compile(
    r"\d[\d.,]*\s*(?:[kmgt]i?b|[kmg]b/s|bytes?|m?s|secs?|seconds?|min|minutes?|hours?|days?|%|px|cores?|threads?|"
    r"percent|x)?\b",
    re.I,
)
_GOES_ON = re.compile(
    r"\b(?:and|but|which|that|is|are|was|it|who|because|so|not|no|after|before|when|while|since|until|without|your|you|"
    r"then|than|too|very|by)\b",
    re.I,
)
_NAMED = re.compile(
    r"(?-i:[A-ZÀ-Þ0-9])[^\s,;:]*(?: (?:of|the|and|de|van|von|for|at|&|(?-i:[A-ZÀ-Þ0-9])[^\s,;:]*)){0,5}", re.I
)
_RIDE = re.compile(
    r"an? (?:[\w-]+ ){0,3}(?:van|car|sedan|estate|saloon|suv|truck|pickup|coup[eé]|hatchback|convertible|minivan|"
    r"hybrid|camper|roadster|scooter|moped|motorbike|motorcycle|bike|bicycle|e-?bike|tandem|racer)|"
    r"an? (?:\w+ ){0,2}(?-i:[A-ZÀ-Þ])[\w-]+(?: [\w-]+){0,2}",
    re.I,
)
_OWN_TOOLS = re.compile(
    r"(?:n?vim|neovim|emacs|nano|helix|micro|kakoune|vs ?code|zsh|bash|fish|tmux|kitty|xterm|alacritty|wezterm|ghostty|"
    r"iterm2?|macos|linux|windows|ubuntu|debian|fedora|nixos|arch(?: linux)?|firefox|chrome|chromium|safari|qwerty|"
    r"qwertz|azerty|dvorak|colemak)",
    re.I,
)
_NOTHING = re.compile(
    r"(?:none|null|nil|undefined|empty|missing|wrong|taken|invalid|required|unknown|true|false|n/?a|tbd|todo)\b", re.I
)
_DIGIT = re.compile(r".*\d.*")
_DATE = re.compile(
    rf"(?:the )?\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{_MONTHS}(?:,? \d{{4}})?|"
    rf"{_MONTHS} (?:the )?\d{{1,2}}(?:st|nd|rd|th)?(?:,? \d{{4}})?|\d{{4}}-\d\d-\d\d|"
    r"\d{1,2}[./]\d{1,2}[./](?:\d{2,4})?",
    re.I,
)
_STREET = re.compile(
    r"(?=[^/\\:=]*$)(?=.*[A-Za-zÀ-ÿ]{3})(?=.*\b\d{1,5}[a-z]?\b)(?!\w+ \d{1,5}\.)[^\s.@]+\.?(?: [^\s@]+){1,8}", re.I
)
_ALLERGENS = (
    r"(?:pea)?nuts?|milk|dairy|lactose|gluten|wheat|eggs?|soya?|sesame|fish|shellfish|strawberries|apples|pollen|grass|"
    r"birch|dust(?: mites)?|cats?|dogs?|horses|penicillin|aspirin|ibuprofen|latex|nickel|bees?|wasps?|ragweed|hay fever"
)
_DIETS = (
    "vegan|vegetarian|pescatarian|keto|ketogenic|paleo|low[- ]carb|low[- ]salt|gluten-free|lactose-free|halal|kosher|"
    "plant-based|mediterranean"
)
_PHONE = r"\+?[\d(][\d ()./-]{4,22}\d(?: ?(?:ext\.?|x) ?\d+)?"
_LENGTH = r"\d[\d.,]* ?(?:m|cm|metres?|meters?|ft|feet|foot|'|\")(?: ?\d[\d.]* ?(?:cm|in|inches|\")?)?"
_HANDLE = r"@?(?=[\w.-]*(?:[A-Z\d_.]|\w-\w))[\w.-]{2,39}|@[\w.-]{2,39}"
_MONEY = r"[€$£]? ?\d[\d.,]* ?(?:[€$£]|[A-Z]{3}|euros?|dollars?|pounds?|kroner|francs?)?(?: (?:an?|per) \w+)?"

_OF_ATTRIBUTES: Mapping[str, str] = {
    "birthday|date of birth": _DATE.pattern,
    "phone number|mobile number|phone": _PHONE,
    "email|email address|e-mail": r"[^\s@]+@[^\s@]+\.\w+",
    "address|home address": _STREET.pattern,
    "postcode|zip code": r"(?=.*\d)[\w -]{3,10}",
    "time ?zone": r"[A-Z]\w+/\w+(?:/\w+)?|(?-i:[A-Z]{2,5})(?: ?[+-]\d{1,2}(?::?\d\d)?)?|\w+ time",
    "blood type": r"(?:a|b|ab|o|0)(?: ?[+-]| (?:rh )?(?:positive|negative))",
    "shoe size": r"(?:eu |uk |us )?\d{1,2}(?:[.,]5)?",
    "height": _LENGTH,
    "weight": r"\d[\d.,]* ?(?:kg|kilos?|lbs?|pounds|stone|st)",
    "age": r"\d{1,3}(?: years?(?: old)?)?",
    "job|job title|profession|title": rf"(?:an? |the )?(?:{JOB.pattern}|(?:head|director|vp) of [\w &-]+|c[teofip]o)",
    "pronouns": r"\w+/\w+(?:/\w+)?",
    r"user ?name|handle|github (?:user ?name|handle|account)": f"(?-i:{_HANDLE})",
    "currency": r"(?-i:[A-Z]{3})|euros?|dollars?|pounds?|kroner|kronor|yen|francs?|[€$£]",
    "locale": r"(?-i:[a-z]{2}(?:[_-][A-Z]{2})?(?:\.[\w-]+)?)|(?-i:[A-Z])\w+",
    "hourly rate|day rate": _MONEY,
    "working hours|office hours|work hours|bedtime|lunch break": _DIGIT.pattern,
    "licen[cs]e plate|vat number|customer number|membership number": _DIGIT.pattern,
    "allerg(?:y|ies)": rf"(?:{_ALLERGENS})(?:(?:, (?:and )?| and )(?:{_ALLERGENS}))*",
    "diet": _DIETS,
    "home airport": r"(?-i:[A-Z]{3})|(?-i:[A-Z])[\w -]+",
}
_FORMS = tuple((re.compile(names, re.I), re.compile(form, re.I)) for names, form in _OF_ATTRIBUTES.items())
_BY_NAME = re.compile(r"laptop|operating system|os|editor|ide|shell|terminal|browser|keyboard", re.I)
_OF_NATIONS = re.compile(r"nationality|native language|mother tongue|keyboard layout", re.I)
_RIDES = re.compile(r"car|bike", re.I)
_HOMES = re.compile(r"city|country|home ?town|school|university|gym|department", re.I)


def fits(attribute: str, value: str) -> bool:
    """Whether a value may be somebody's.

    Args:
        attribute: as people call it: "height".
        value: "1.80 m".
    """
    if _NOTHING.match(value):
        return False
    form = next((form for names, form in _FORMS if names.fullmatch(attribute)), None)
    if form is not None:
        return form.fullmatch(value) is not None
    if _OF_NATIONS.fullmatch(attribute):
        return is_nation(value) or (_NAMED.fullmatch(value) is not None and not is_product(value))
    if _RIDES.fullmatch(attribute):
        return _RIDE.fullmatch(value) is not None or _named(value)
    if _BY_NAME.fullmatch(attribute):
        return _named(value) or _OWN_TOOLS.fullmatch(value) is not None
    return _named(value) and (not _HOMES.fullmatch(attribute) or may_be_home(value))


def is_tool(value: str) -> bool:
    """Whether a value may be what something is done with: a program, a script, something with a name or a path."""
    if _MEASURED.match(value) or len(value.split()) > 5 or _GOES_ON.search(value):
        return False
    first = value.split()[0]
    if first.casefold() in _TOOLS or re.search(r"[a-z][A-Z]|[\w~]/|\w\.\w|_|\w-\w|`", value):
        return True
    if re.fullmatch(
        r"(?:the |our |an? )?(?:[\w-]+ ){1,3}(?:script|target|command|runner|image|container|wrapper|job)", value
    ):
        return True
    return _named(value) and not is_nation(first)


def is_of_system(thing: str, value: str, *, called: bool) -> bool:
    """Whether a value may be a system's: its address, its number, its name.

    Args:
        thing: what of it: "server", "port", "branch".
        value: see there.
        called: it was said to be its name.
    """
    if len(value.split()) > 5 or _GOES_ON.search(value) or _NOTHING.match(value):
        return False
    if called or re.search(r"\d|[\w~]/|\w\.\w|\w_\w|[\"'`]", value):
        return called or not re.match(r"\d[\d.,]*\s*(?:%|percent|days?|minutes? (?:late|behind|old)|x\b)", value)
    if thing in ("currency", "language", "region") or re.fullmatch("time ?zone", thing):
        return _NAMED.fullmatch(value) is not None or fits(thing, value)
    if thing == "branch":
        return re.fullmatch(_BRANCHES, value, re.I) is not None
    if thing in ("server", "host", "hostname", "machine", "cluster", "namespace", "registry", "bucket", "queue"):
        return re.fullmatch(r"[a-z]+-[a-z-]+", value) is not None
    return thing == "database" and is_product(value) and _named(value)


def _named(value: str) -> bool:
    """Whether a value is by its capitals or figures the name of something."""
    return _NAMED.fullmatch(value) is not None and not is_nation(value) and not _NOTHING.match(value)
