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
    goal text NOT NULL,
    directory text NOT NULL,
    created_ms integer NOT NULL,
    parent text NOT NULL         -- the session that started it as a subagent, '' for none
);
CREATE INDEX objectives_by_parent ON objectives (parent);

-- Apart from the goal, which may have a megabyte: this is written again with every event.
CREATE TABLE states (
    session text PRIMARY KEY REFERENCES objectives (id) ON DELETE CASCADE,
    seq integer NOT NULL,
    kind text NOT NULL,          -- as in ObjectiveRow
    status text NOT NULL,
    waiting integer NOT NULL,    -- changes that wait for the person
    archived integer NOT NULL,   -- 2 in the trash
    tags text NOT NULL,          -- JSON
    state blob NOT NULL          -- JSON of projection.Objective
);
CREATE INDEX states_by_seq ON states (kind, seq);
CREATE INDEX states_by_status ON states (status, seq);

CREATE TABLE items (
    session text NOT NULL REFERENCES objectives (id) ON DELETE CASCADE,
    place integer NOT NULL,
    id text NOT NULL,            -- a step's is the key of its call
    step integer NOT NULL,       -- among the steps, 0 for none
    changed integer NOT NULL,    -- the event that changed it last
    item blob NOT NULL,          -- JSON of timeline.Item
    PRIMARY KEY (session, place)
) WITHOUT ROWID;
CREATE UNIQUE INDEX items_by_id ON items (session, id);
CREATE INDEX items_by_step ON items (session, step) WHERE step > 0;
CREATE INDEX items_by_change ON items (session, changed);

CREATE TABLE approvals (
    id text PRIMARY KEY,
    session text NOT NULL REFERENCES objectives (id) ON DELETE CASCADE,
    seq integer NOT NULL,
    status text NOT NULL,
    row blob NOT NULL            -- JSON of ApprovalRow, with the time of its answer
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
