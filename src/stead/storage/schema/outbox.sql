-- What is to be sent, until it has been. No words of a session's are in here.

CREATE TABLE progress (seq integer NOT NULL);   -- the last event of the journal that was looked at

-- What is due, and from when on; several may become one message.
CREATE TABLE notices (
    target text NOT NULL, seq integer NOT NULL, due_ms integer NOT NULL, digest integer NOT NULL, notice text NOT NULL,
    PRIMARY KEY (target, seq)
);

-- Messages, in the order in which they go to each target. The id stays the same however often one is sent.
CREATE TABLE messages (
    n integer PRIMARY KEY, id text NOT NULL UNIQUE, target text NOT NULL, notices text NOT NULL,
    made_ms integer NOT NULL, state text NOT NULL,   -- open, sent, lost or void
    tries integer NOT NULL, next_ms integer NOT NULL, why text NOT NULL, ended_ms integer NOT NULL
);
CREATE INDEX messages_by_target ON messages (target, state, n);
