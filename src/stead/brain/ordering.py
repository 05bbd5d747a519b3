"""Whether words tell somebody to do something, or tell what happens.

Layer: brain. Pure. "Always run the tests" is an order and "always returns 500" is the report of a fault; both have lost
their subject. An order begins with the bare form of a verb for something that can be done at a keyboard.
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
"""What an order begins with."""
_NOUNS = (
    r"build|commit|cover|date|default|draft|email|end|file|group|label|limit|link|list|log|mail|mark|name|note|order|"
    r"place|post|print|quote|release|report|review|sort|state|tag|test|track|type|update|watch"
)
"""Those that are nouns as well: "log files pile up" is no order, "log the files" is one."""
_OBJECT = (
    r"the|an?|all|any|my|our|your|their|its|each|every|it|them|this|that|these|those|what|which|whether|how|me|us|to|in|"
    r"on|with|without|at|before|after|only|both|no|by|for|from|and|twice|once|everything|something|anything|nothing|as|"
    r"up|out|off|back|down|over|into|directly|under|new|one|two|\w+ed|\d+"
)
_ORDER = lazy_pattern(
    rf"(?:please )?(?:(?!(?:{_NOUNS})\b)(?:{VERBS})|(?:{_NOUNS})(?= (?:{_OBJECT})\b)) .+",
    re.I,
)
_TELLING = lazy_pattern(
    r".*\b(?:before|yet|since|so far|back then|in my life|that far|for me|in production)$|"
    r".*(?:, (?:that|which|this)(?:'s| is| was)|\b(?:and|but|so) (?:it|they|he|she|everything)|"
    r"\b(?:bug|trouble)$)\b|"
    r"(?:set|put|cut|read|run|split|spread|hit|let) (?:to|by|as|from|in|on|at|into|when|if|up|off|out|across)\b|"
    r"use (?:of|to|cases?)\b|(?:take (?:long|forever|ages|too|more|less)|put (?:much|any)|read (?:it|that|about|so)|"
    r"set (?:foot|off|up properly)|cut (?:it|corners)|say (?:never|die|no)|change a |"
    r"break the|test in|make (?:it|sense)|"
    r"look (?:back|good|the same)|end (?:up|well|in)|start (?:with the same|from scratch)|return(?:ed)? (?:to|from)|"
    r"leave the|mind|break on|fix itself|stop (?:believing|learning|trying)|close properly|open properly|work)\b",
    re.I,
)
"""What begins like an order and tells what happened, or is a proverb."""


def is_order(words: str) -> bool:
    """Whether words are an order."""
    return _ORDER.fullmatch(words) is not None and _TELLING.match(words) is None
