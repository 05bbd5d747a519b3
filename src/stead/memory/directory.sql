-- What is where: derived from the journal and rebuilt from it at any time.

CREATE TABLE progress (
    seq integer NOT NULL,        -- of the last event taken in, by every index
    chain blob NOT NULL,         -- its chain hash: another one there means another journal
    schema text NOT NULL         -- digest of this file
);

CREATE TABLE places (
    place text PRIMARY KEY,
    title text NOT NULL,
    directory text NOT NULL
);

CREATE TABLE sessions (
    session text PRIMARY KEY,
    place text NOT NULL,         -- where its turns are indexed
    title text NOT NULL,
    attended integer NOT NULL,
    tainted integer NOT NULL     -- its model has read strangers' words
);

CREATE TABLE memories (
    id text PRIMARY KEY,
    place text NOT NULL
);

CREATE TABLE proposals (
    id text PRIMARY KEY,
    seq integer NOT NULL,
    ts_ms integer NOT NULL,
    answer text NOT NULL,        -- "" while it waits
    row blob NOT NULL            -- JSON of MemoryProposed
);
CREATE INDEX proposals_waiting ON proposals (answer, seq);

CREATE TABLE runs (
    run text PRIMARY KEY,
    seq integer NOT NULL,
    ts_ms integer NOT NULL,
    row blob NOT NULL            -- JSON of MemoryConsolidated
);

CREATE TABLE positions (
    place text NOT NULL,
    model integer NOT NULL,      -- of the runs of a model
    upto integer NOT NULL,       -- the last event that they have read
    PRIMARY KEY (place, model)
);

CREATE TABLE days (
    seq integer PRIMARY KEY,
    place text NOT NULL,
    ts_ms integer NOT NULL,
    session text NOT NULL,
    text text NOT NULL,
    failed integer NOT NULL      -- what ended came to nothing
);
CREATE INDEX days_by_place ON days (place, ts_ms);
