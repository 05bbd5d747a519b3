-- The read models. Not numbered: they are derived, so a changed schema means dropping them and replaying the journal.

CREATE TABLE progress (
    seq integer NOT NULL,        -- of the last event taken in
    chain blob NOT NULL,         -- its chain hash: another one there means another journal
    schema text NOT NULL         -- digest of this file
);

-- Sessions; those that are no objective have no goal.
CREATE TABLE objectives (
    id text PRIMARY KEY,
    seq integer NOT NULL UNIQUE, -- of its first event; newest first is by this
    goal text NOT NULL
);

-- Apart from the goal, which may have a megabyte: this is written again with every event.
CREATE TABLE states (
    session text PRIMARY KEY REFERENCES objectives (id) ON DELETE CASCADE,
    seq integer NOT NULL,
    kind text NOT NULL,          -- as in ObjectiveRow
    status text NOT NULL,
    waiting integer NOT NULL,    -- changes that wait for the person
    state blob NOT NULL          -- JSON of projection.Objective
);
CREATE INDEX states_by_seq ON states (kind, seq);
CREATE INDEX states_by_status ON states (status, seq);

CREATE TABLE steps (
    session text NOT NULL REFERENCES objectives (id) ON DELETE CASCADE,
    step integer NOT NULL,
    call text NOT NULL,          -- "" for a reply without a call
    row blob NOT NULL,           -- JSON of StepRow
    PRIMARY KEY (session, step)
);
CREATE INDEX steps_by_call ON steps (session, call);

CREATE TABLE approvals (
    id text PRIMARY KEY,
    session text NOT NULL REFERENCES objectives (id) ON DELETE CASCADE,
    seq integer NOT NULL,
    status text NOT NULL,
    row blob NOT NULL            -- JSON of ApprovalRow
);
CREATE INDEX approvals_by_session ON approvals (session, seq);
CREATE INDEX approvals_by_status ON approvals (status, seq);

CREATE TABLE texts (
    seq integer PRIMARY KEY,
    session text NOT NULL REFERENCES objectives (id) ON DELETE CASCADE,
    ts_ms integer NOT NULL,
    type text NOT NULL,
    who text NOT NULL            -- said or did it, as in HistoryRow
);
CREATE INDEX texts_by_session ON texts (session);

CREATE VIRTUAL TABLE words USING fts5 (text, tokenize = 'porter unicode61 remove_diacritics 2');
INSERT INTO words (words, rank) VALUES ('secure-delete', 1);
