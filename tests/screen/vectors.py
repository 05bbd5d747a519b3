"""Our own samples of secrets, made from the published shape of each, in the places where they are met."""

from __future__ import annotations

import random
import re

from stead.screen.detection import entropy
from stead.screen.secret_names import NAMED
from stead.screen.secret_rules import TOKENS
from tests.screen.grammar import sample

PLACES = (
    "{name}={secret}",
    "export {name}='{secret}'",
    '"{name}": "{secret}",',
    "{name}: {secret}\n",
    "https://api.example.com/v1?{name}={secret}&page=2",
    "the key ({name}: {secret}), as agreed",
)
"""The last two are what a scanner of source code misses: something follows that is no quote and no space."""

_ISSUERS = {"dd_a[a-z]{2}_key": "dd_api_key", r"sonar[_.-]?(?:login|token)": "sonar_token"}


def made(seed: int = 8) -> list[tuple[str, str, str]]:
    """Rule, secret and text of every shape in every place."""
    rows: list[tuple[str, str, str]] = []
    for table, named in ((TOKENS, False), (NAMED, True)):
        for rule, words, shape, least in table:
            rng = random.Random(f"{seed} {rule}")
            for place in PLACES:
                secret = _likely(shape, max(least, 2.5 if named else 0), named, rng)
                name = _issuer(words) if named else "service_key"
                rows.append((rule, secret, place.format(name=name, secret=secret)))
    return rows


def _likely(shape: str, least: float, digit: bool, rng: random.Random) -> str:
    """A sample as an issuer could have made it: by chance a short one has too little entropy, or no digit."""
    for _ in range(500):
        secret = sample(shape, rng)
        if entropy(secret.encode()) >= least and (not digit or any(map(str.isdigit, secret))):
            return secret
    raise AssertionError(f"{shape} cannot have an entropy of {least}")


def _issuer(words: str) -> str:
    """A variable's name with the issuer in it."""
    first = re.split(r"\|(?![^(]*\))", words)[0]
    plain = re.sub(r"\[[^\]]*\](?:\{[0-9,]*\}|\?)?", "_", first)
    return f"{_ISSUERS.get(first) or plain}_key"
