-- The read models. Not numbered: they are derived, so a changed schema means dropping them and replaying the journal.

CREATE TABLE progress (
    seq integer NOT NULL,        -- of the last event taken in
    chain blob NOT NULL,         -- its chain hash: another one there means another journal
    schema text NOT NULL         -- digest of this file
);

-- Sessions; those that are no objective have no goal.
CREATE TABLE objectives (
    seq integer PRIMARY KEY,     -- of its first event; newest first is by this
    id text NOT NULL UNIQUE,
    goal text NOT NULL,
    directory text NOT NULL,
    created_ms integer NOT NULL,
    parent text NOT NULL,        -- the session that started it as a subagent, '' for none
    channel text NOT NULL        -- in which others read along what it says, '' for none
);
CREATE INDEX objectives_by_parent ON objectives (parent);

-- Apart from the goal, which may have a megabyte: this is written again with every event.
CREATE TABLE states (
    seq integer PRIMARY KEY,
    session text NOT NULL UNIQUE REFERENCES objectives (id) ON DELETE CASCADE,
    kind text NOT NULL,          -- as in ObjectiveRow
    status text NOT NULL,
    waiting integer NOT NULL,    -- changes that wait for the person
    archived integer NOT NULL,   -- 2 in the trash
    tags text NOT NULL,          -- JSON
    state blob NOT NULL          -- JSON of projection.Objective
);
CREATE INDEX states_by_seq ON states (kind, seq);
CREATE INDEX states_by_status ON states (status, seq);

-- No table without row ids: of a row there that has more than 1 KB, each has a page of its own.
CREATE TABLE items (
    n integer PRIMARY KEY,       -- of * 2^24 + place
    of integer NOT NULL REFERENCES objectives (seq) ON DELETE CASCADE,
    id text NOT NULL,            -- a step's is the key of its call
    step integer NOT NULL,       -- among the steps, 0 for none
    changed integer NOT NULL,    -- the event that changed it last
    item blob NOT NULL           -- JSON of timeline.Item, packed
);
CREATE UNIQUE INDEX items_by_id ON items (of, id);
CREATE INDEX items_by_step ON items (of, step) WHERE step > 0;
CREATE INDEX items_by_change ON items (of, changed);

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
    of integer NOT NULL REFERENCES objectives (seq) ON DELETE CASCADE,
    ts_ms integer NOT NULL,
    type text NOT NULL,
    who text NOT NULL,           -- said or did it, as in HistoryRow
    text blob NOT NULL           -- packed
);
CREATE INDEX texts_by_session ON texts (of);

-- The index of the words has no copy of the texts; where it needs one, it has it unpacked.
CREATE VIEW spoken AS SELECT seq, unpacked(text) AS text FROM texts;
CREATE VIRTUAL TABLE words USING fts5 (
    text, content = 'spoken', content_rowid = 'seq', tokenize = 'porter unicode61 remove_diacritics 2'
);
INSERT INTO words (words, rank) VALUES ('secure-delete', 1);
