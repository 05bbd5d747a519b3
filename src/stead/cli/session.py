"""``session``: work with the model in a folder, turn by turn.

Layer: cli.
"""

from __future__ import annotations

from stead.cli import attachments, session_files, session_labels, session_reading, session_talking, session_work
from stead.cli.forms import family

_ROWS = session_talking.ROWS | session_reading.ROWS | session_files.ROWS | attachments.ROWS
_ROWS |= session_work.ROWS | session_labels.SESSION_ROWS
COMMANDS = {"session": family("session", _ROWS, "list")}
