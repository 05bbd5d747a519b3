"""The words of English rules, by what they stand for; see ``grammar``.

Layer: brain. Data only.
"""

WORDS = {
    "D": "never|do not|don' t|must not|must never|may not|may never|should never|should not|cannot|can not"
    "|not allowed to|no|under no circumstances|never ever|do not ever|don' t ever|must not ever|mustn' t|won' t"
    "|will not|shall not|shall never|shouldn' t|can' t|can never|not|not permitted to|not permitted|not allowed"
    "|never allowed|never allowed to|never permitted to|not okay to|not ok to|never okay to|never ok to"
    "|isn' t allowed to|aren' t allowed to|isn' t allowed|aren' t allowed|do not allow|don' t allow|never allow"
    "|do not permit|never permit|i do not want you to|i don' t want you to|i never want you to|you are not to"
    "|by no means|under no circumstance",
    "DY": "nothing",
    "DU": "nobody|no one",
    "N": "forbid|forbidden|forbidden to|prohibit|prohibited|disallow|disallowed|refrain from|avoid|block|blocked"
    "|ban|banned|refuse to|off limits for",
    "K": "ask before|ask me before|always ask before|always ask me before|ask first before|ask me first before"
    "|check with me before|always check with me before|ask for permission before|ask for my permission before"
    "|ask me every time before|ask every time before|ask me each time before|ask for confirmation before"
    "|ask me for confirmation before|ask for approval before|ask me for permission before"
    "|ask me for approval before|ask for my approval before|ask for my consent before|ask my permission before"
    "|get my approval before|get my permission before|get my consent before|get my okay before|get my ok before"
    "|confirm with me before|always confirm with me before|confirm before|check with me first before|check before"
    "|always ask for permission before|always ask for confirmation before|always ask for approval before"
    "|always ask for my permission before|always ask for my approval before|request permission before"
    "|request my permission before|request my approval before|request approval before|wait for my approval before"
    "|wait for my okay before|wait for my confirmation before|needs my approval|need my approval"
    "|needs my permission|need my permission|requires my approval|require my approval|requires my permission"
    "|require my permission|requires approval|require approval|requires my confirmation|require my confirmation"
    "|needs my confirmation|need my confirmation|requires confirmation|require confirmation"
    "|ask first whenever you want to|ask me first whenever you want to|ask me first when you want to"
    "|ask me when you want to|ask me if you want to|ask me whenever you want to|ask first if you want to"
    "|ask me first if you want to|ask me before you ever|ask before you ever|i want to be asked before"
    "|always get my approval before|always get my permission before|get permission before|get approval before",
    "L": "only after asking me|only after asking|only after asking me first|only with my permission"
    "|only with my approval|only with my consent|only with my explicit approval|only with my explicit permission"
    "|only if i approve|only if i agree|only if i say so|only if i say yes|only when i approve|only once i approve"
    "|only after i approve|only after i confirm|only after i agree|only after my approval",
    "A": "allow|always allow|you may|you may always|you can always|feel free to|it is okay to|it is ok to"
    "|it is fine to|you can|you are allowed to|you' re allowed to|you are free to|you' re free to"
    "|you have permission to|you have my permission to|permit|always permit|is allowed|are allowed"
    "|is always allowed|are always allowed|is fine|are fine|is ok|is okay|are okay|are ok|is always fine"
    "|are always fine|is always ok|is always okay|go ahead and|it' s okay to|it' s ok to|it' s fine to"
    "|it is always ok to|it is always okay to|it is always fine to|it' s always fine to|it' s always okay to"
    "|i allow you to|i am fine with|i' m fine with|i' m okay with|no need to ask before",
    "O": "only|solely|exclusively|only ever",
    "O-": "no more than|not more than",
    "W": "without asking|without asking me|without asking first|without asking me first|without my permission"
    "|without my approval|without my consent|without my ok|unless i approve|unless i say so|unless i agree"
    "|unless i ask you to|unless i tell you to|unless i confirm|unless i confirm it|unless i approve it"
    "|unless i allow it|unless i explicitly allow it|unless i explicitly say so|unless i explicitly approve"
    "|unless i have approved|unless i have approved it|unless i said so|unless you ask me first"
    "|unless you ask first|unless you ask me|unless you have asked me|unless you have my permission"
    "|unless you have my approval|until i approve|until i say so|until i confirm|until i have approved"
    "|until i have approved it|until you have asked me|before asking|before asking me|before i approve"
    "|before i confirm|before i have approved|before checking with me|without checking with me"
    "|without checking with me first|without confirming|without confirming with me|without confirming with me first"
    "|without confirmation|without my confirmation|without permission|without approval|without consent"
    "|without my okay|without my explicit approval|without my explicit permission|without my explicit consent"
    "|without my go-ahead|without prior approval|without my prior approval|without asking for permission"
    "|without asking for my permission|without asking my permission|without asking for confirmation"
    "|without asking me every time|without asking every time|without getting my approval"
    "|without getting my permission|without consulting me|without having asked me|without me approving"
    "|without me approving it|without my say-so|without my agreement|without further questions"
    "|except with my permission|except with my approval|except after asking me|except if i say so"
    "|except when i say so",
    "c": "change|changing|changes|changed|edit|editing|edits|edited|modify|modifying|modified|write|writing"
    "|write to|writing to|touch|touching|touched|overwrite|overwriting|alter|altering|make changes to"
    "|make any changes to|make changes|making changes|making changes to|update|updating|updated|updates to|rewrite"
    "|rewriting|rewritten|replace|replacing|replaced|create|creating|created|add|adding|added|save|saving|saved|put"
    "|putting|mess with|messing with|tamper with|tampering with|modifies|modification of|modifications to"
    "|changes to|edits to|written to|written|make edits to|making edits to|make any edits to|adjust|adjusting"
    "|write access to",
    "d": "delete|deleting|deleted|remove|removing|removed|erase|erasing|wipe|wiping|wiped|get rid of|getting rid of"
    "|destroy|destroying|destroyed|trash|trashing|deletion of|removal of|purge|purging|deletes|removes",
    "r": "read|reading|look at|looking at|look into|open|opening|opened|view|viewing|inspect|inspecting|peek at"
    "|peek into|peeking at|peeking into|look inside|looking inside|looking into|reads|see|examine|examining"
    "|read access to",
    "x": "run|running|execute|executing|start|starting|launch|launching|launched|invoke|invoking|invoked|executed"
    "|executes|runs|ran|execution of|trigger|triggering",
    "xv": "use|using|use of|used|uses|usage of",
    "l": "fetch|fetching|download|downloading|visit|visiting|contact|contacting|connect to|connecting to"
    "|connections to|access|accessing|access to|browse|browsing|go|going|requests to|send requests to"
    "|sending requests to|reach|reaching|make requests to|making requests to|make any requests to"
    "|make network requests to|send any requests to|talk to|talking to|ping|pinging|query|querying|upload|uploading"
    "|uploads to|upload to|load|loading|surf|surfing|connection to|connect|connecting|connections|traffic to"
    "|calls to|navigate to|navigating to|fetches from|downloads from|downloaded|fetched|contacted|accessed|visited"
    "|go online|going online|get anything from|make calls to|make connections to|making connections to"
    "|make a connection to|open connections to|opening connections to|request|requesting",
    "s": "send|sending|sends|sent|forward|forwarding|forwarded",
    "sE": "email|emailing|mail|mailing|e-mail|e-mailing|message|messaging|write emails to|write an email to"
    "|writing emails to|write mails to|emailed|emails to|send mails|reply to|replying to|mail to",
    "p": "pay|paying|spend|spending|transfer|transferring|payments|payment|payments of|make payments"
    "|make payments of|make a payment of|making payments|making payments of|buy|buying|purchase|purchasing"
    "|purchases|wire|wiring|transfers|transfers of|transferred|spent|paid|order|ordering|charge|charging",
    "F": "file|files|documents|document|file contents",
    "Y": "anything|everything|something|stuff|things|thing|any changes|content|contents|data",
    "U": "anyone|anybody|people|someone|addresses|recipients|recipient|address|person|persons|everyone"
    "|everybody|others|contacts|anyone else|anybody else|someone else|other people",
    "T": "command|commands|program|programs|shell command|shell commands|script|scripts|terminal command"
    "|terminal commands|bash commands|shell scripts|tool|tools|executables|binaries",
    "B": "network|internet|web|online|internet access|network access|web access|network connections"
    "|network requests|outside world|internet connection|internet connections",
    "S": "website|websites|site|sites|host|hosts|domain|domains|server|servers|page|pages|webpage|webpages|web page"
    "|web pages|web site|web sites|url|urls|service|services|machine|machines|endpoint|endpoints|web server"
    "|web servers|links|addresses on",
    "E": "email|emails|mail|mails|e-mail|e-mails|message|messages",
    "i": "in|inside|inside of|within|under|below|to|at|on|into",
    "f": "from|of",
    "?": "only you|only the|only i|not all|not every|not everything|not always|not only|not just|not necessarily"
    "|not everyone|not any",
    "o": "outside|outside of|except|except in|except for|except to|except from|other than|but|apart from|besides"
    "|anywhere but|anywhere except|anywhere outside|anywhere other than|not in|excluding|that is not in"
    "|that are not in|that isn' t in|that aren' t in|which are not in|which is not in|not within|not inside"
    "|not under|not at|not from|not on|other than in|other than to|other than those in|other than the ones in"
    "|other than those at|except those in|except for those in|except the ones in|except at|except for in"
    "|anywhere outside of|anywhere else than|anywhere other than in|anywhere but in|save for|with the exception of"
    "|who is not at|who are not at|who isn' t at|not belonging to|that do not belong to|different from"
    "|not part of|excluding those in|unless it is in|unless it' s in|unless they are in|unless they' re in"
    "|unless it is to|unless it is for|unless it goes to",
    ">": "more than|over|above|amounts over|any amount over|exceeding|greater than|higher than|larger than"
    "|bigger than|beyond|in excess of|worth more than|costing more than|that exceed|that exceeds|which exceed"
    "|amounts above|amounts exceeding|amounts larger than|amounts greater than|anything above|anything over"
    "|anything more than|a sum over|sums over|sums above",
    "<": "less than",
    "+": "at least|or more|and more|or above|and above|and up|or over|a minimum of",
    "-": "at most|up to|or less|or below|a maximum of",
    "J": "and|or|as well as|nor|or even|plus|and also",
    "": "please|the|a|an|any|all|you|always|folder|folders|directory|directories|path|paths|be|may be|is|are"
    "|that is|that are|which are|located|ever|every|whole|program|command|euros|euro|dollars|dollar|money|at all"
    "|your|my|our|of mine|that|other|else|ever again|kindly|from now on|in future|in the future|going forward"
    "|make sure to|make sure you|make sure that you|be sure to|ensure that you|remember to|remember|note that"
    "|i want you to|i' d like you to|i would like you to|stead|the assistant|the agent|it|must|should|will|shall|me"
    "|first|for any reason|no matter what|under any circumstances|in any case|at any time|at any point|in any way"
    "|whatsoever|as a rule|strictly|absolutely|on my behalf|any of|any other|inside the|named|called|located in the"
    "|stored|usd|eur|dollars worth|to be|being|been|every single|each|single|also|by using|do so",
}
