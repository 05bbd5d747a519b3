-- What else is kept of chats; the outbox's tables are in outbox.sql.

-- The platform's names of messages that may be changed later, by what they are about.
CREATE TABLE posted (target text NOT NULL, about text NOT NULL, message text NOT NULL, PRIMARY KEY (target, about));
