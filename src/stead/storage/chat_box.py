"""The outbox of chats, with the messages there that may be changed.

Layer: storage. A target of it is a place of ``domain.channels``: a thread of a chat.
"""

from __future__ import annotations

from contextlib import closing

from stead.domain.notices import Notice
from stead.storage.outbox import Outbox, notice_text

MOST_POSTED = 2000
"""Messages that may be changed later; older ones stay as they are."""
_SAY = """
    INSERT OR IGNORE INTO messages (id, target, notices, made_ms, state, tries, next_ms, why, ended_ms)
    VALUES (?, ?, ?, ?, 'open', 0, 0, '', 0)
"""
_OF_CHAT = """
    SELECT (SELECT count(*) FROM notices WHERE substr(target, 1, :n) = :begins)
         + (SELECT count(*) FROM messages WHERE substr(target, 1, :n) = :begins AND state = 'open'),
           (SELECT count(*) FROM messages WHERE substr(target, 1, :n) = :begins AND state = 'lost'),
           coalesce((
               SELECT why FROM messages WHERE substr(target, 1, :n) = :begins AND state <> 'void' AND tries > 0
               ORDER BY state = 'open' DESC, n DESC LIMIT 1
           ), '')
"""
_FILES = """
    SELECT n.value ->> 'of' FROM messages, json_each(notices) n
    WHERE state = 'open' AND n.value ->> 'kind' = 'call' AND n.value ->> 'of' <> ''
"""
_TARGETS = "SELECT target FROM notices UNION SELECT target FROM messages WHERE state = 'open'"


class ChatBox(Outbox):
    """See ``Outbox``."""

    schemas = ("outbox.sql", "chats.sql")
    loses = "what was to be sent to chats by then is lost, and what people write meanwhile is read"

    def check(self) -> None:
        """Read it from the disk: where it is damaged, a connection that has all of it in memory goes on for hours."""
        with self._database.faults(), closing(self._database.open()) as connection:
            connection.execute(_TARGETS).fetchall()

    def say(self, target: str, id: str, notice: Notice) -> None:
        """Have something sent, once for an id: Stead's own words, all of a question, what a session's call says."""
        with self._writing() as connection:
            connection.execute(_SAY, (id, target, notice_text((notice,)), notice.ts_ms))

    def files(self) -> list[str]:
        """Names of the contents that messages of sessions are to take along."""
        with self._reading() as connection:
            return [content for (content,) in connection.execute(_FILES)]

    def targets(self) -> list[str]:
        """Those for which something waits."""
        with self._reading() as connection:
            return [target for (target,) in connection.execute(_TARGETS)]

    def post(self, target: str, about: str, message: str) -> None:
        """Remember the platform's name of a message."""
        with self._writing() as connection:
            connection.execute("INSERT OR REPLACE INTO posted VALUES (?, ?, ?)", (target, about, message))
            connection.execute("DELETE FROM posted WHERE rowid <= (SELECT max(rowid) FROM posted) - ?", (MOST_POSTED,))

    def posted(self, about: str) -> dict[str, str]:
        """The platform's names of the messages about something, by target."""
        with self._reading() as connection:
            return dict(connection.execute("SELECT target, message FROM posted WHERE about = ?", (about,)))

    def about(self, target: str) -> list[str]:
        """What the messages of a target that may be changed are about, the newest first."""
        with self._reading() as connection:
            found = connection.execute("SELECT about FROM posted WHERE target = ? ORDER BY rowid DESC", (target,))
            return [about for (about,) in found]

    def of_chat(self, begins: str) -> tuple[int, int, str]:
        """Of the targets that begin so: what waits, what was given up of late, and why the last try failed."""
        with self._reading() as connection:
            row = connection.execute(_OF_CHAT, {"n": len(begins), "begins": begins}).fetchone()
        return row[0], row[1], row[2]

    def retry(self) -> None:
        """Have all that is tried again later be tried now."""
        with self._writing() as connection:
            connection.execute("UPDATE messages SET next_ms = 0 WHERE state = 'open'")

    def drop(self, channel: str, chat: str = "") -> None:
        """A channel, or one chat of it, is no more: nothing waits for it and nothing is known of it."""
        begins = f"{channel}\n{chat}\n" if chat else f"{channel}\n"
        with self._writing() as connection:
            for table in ("notices", "messages", "posted"):
                wanted = f"DELETE FROM {table} WHERE substr(target, 1, ?) = ?"  # noqa: S608 - three constants
                connection.execute(wanted, (len(begins), begins))
