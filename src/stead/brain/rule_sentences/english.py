"""The words of English rules, by what they stand for; see ``grammar``.

Layer: brain. Data only.
"""

WORDS = {
    "D": "never|do not|don' t|must not|must never|may not|may never|should never|should not|cannot|can not"
    "|not allowed to|no|under no circumstances",
    "DY": "nothing",
    "DU": "nobody|no one",
    "K": "ask before|ask me before|always ask before|always ask me before|ask first before|ask me first before"
    "|check with me before|always check with me before|ask for permission before|ask for my permission before",
    "A": "allow|always allow|you may|you may always|you can always|feel free to|it is okay to|it is ok to"
    "|it is fine to",
    "O": "only",
    "W": "without asking|without asking me|without asking first|without asking me first|without my permission"
    "|without my approval|without my consent|without my ok|unless i approve|unless i say so",
    "c": "change|changing|changes|changed|edit|editing|edits|edited|modify|modifying|modified|write|writing|write to"
    "|writing to|touch|touching|touched|overwrite|overwriting|alter|altering|make changes to|make any changes to"
    "|make changes|making changes|making changes to",
    "d": "delete|deleting|deleted|remove|removing|removed|erase|erasing",
    "r": "read|reading|look at|looking at|look into",
    "x": "run|running|execute|executing|start|starting",
    "xv": "use|using",
    "l": "fetch|fetching|download|downloading|visit|visiting|contact|contacting|connect to|connecting to"
    "|connections to|access|accessing|access to|browse|browsing|go|going|requests to|send requests to"
    "|sending requests to|reach|reaching",
    "s": "send|sending",
    "sE": "email|emailing|mail|mailing|e-mail|e-mailing|message|messaging",
    "p": "pay|paying|spend|spending|transfer|transferring",
    "F": "file|files",
    "Y": "anything|everything|something",
    "U": "anyone|anybody|people|someone|addresses|recipients",
    "T": "command|commands|program|programs|shell command|shell commands|script|scripts",
    "B": "network|internet|web|online",
    "S": "website|websites|site|sites|host|hosts|domain|domains|server|servers|page|pages",
    "E": "email|emails|mail|mails|e-mail|e-mails|message|messages",
    "i": "in|inside|inside of|within|under|below|to|at|on|into",
    "f": "from|of",
    "?": "only you|only the|only i",
    "o": "outside|outside of|except|except in|except for|except to|except from|other than|but|apart from|besides"
    "|anywhere but|anywhere except|anywhere outside|anywhere other than|not in|excluding",
    ">": "more than|over|above|amounts over|any amount over",
    "<": "less than",
    "+": "at least",
    "-": "at most|up to",
    "J": "and|or",
    "": "please|the|a|an|any|all|you|always|folder|folders|directory|directories|path|paths|be|may be|is|are|that is"
    "|that are|which are|located|ever|every|whole|program|command|euros|euro|dollars|dollar|money|at all|your|my"
    "|our|of mine|that|other|else",
}
