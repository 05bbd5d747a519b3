"""What leaves for a person or a channel, beyond the timeline, which shows what was said as it was said.

Layer: runtime. Judges nothing: whether a channel is sent a text is for the guardian to say.
"""

from __future__ import annotations

from stead.screen.inbound import Screened, screen


def outgoing(text: str) -> Screened:
    """A model's text as it goes out: an objective's summary, and each message to a channel.

    What a client would load by itself becomes words, a link says where it leads, what is meant for the program alone
    is left out. Secrets were taken out when the model said it. A summary may hold links that a hostile page has put
    there, and is not held back for that: Stead's own page and command line load nothing and show the real host.
    """
    from stead.screen.outgoing import clean_reply  # its patterns take 20 ms, which the daemon's start need not wait

    seen = screen(text)
    clean = clean_reply(seen.text)
    return Screened(clean.text, (*seen.warnings, *clean.warnings))
