-- The journal and what is kept in one transaction with it.
-- Portable on purpose: "bytea" and "bigint" are names that PostgreSQL and SQLite both take.

CREATE TABLE events (
    seq integer PRIMARY KEY,
    session text NOT NULL,
    session_seq bigint NOT NULL,
    ts_ms bigint NOT NULL,
    actor text NOT NULL,
    cause text NOT NULL,
    tag text NOT NULL,
    version integer NOT NULL,
    payload bytea,               -- null once erased, together with its salt
    salt bytea,
    commitment bytea NOT NULL,   -- HMAC-SHA256(salt, payload)
    chain bytea NOT NULL,        -- SHA-256(chain of the row before, header, commitment)
    UNIQUE (session, session_seq)
);

-- Sessions whose deletion is recorded and whose payloads may not be erased yet.
CREATE TABLE erasures_due (
    session text PRIMARY KEY
);

-- What was answered to which command, so that a repeat changes nothing.
CREATE TABLE claims (
    id text PRIMARY KEY,
    digest text NOT NULL,
    session text NOT NULL,
    seq bigint NOT NULL,
    answer text NOT NULL
);

-- One row a model request: reserved before it, settled after it.
CREATE TABLE ledger (
    session text NOT NULL,
    number bigint NOT NULL,
    day text NOT NULL,           -- UTC, YYYY-MM-DD, of the reservation
    state text NOT NULL,         -- reserved, replied or failed
    provider text NOT NULL,      -- "" until a model has replied
    model text NOT NULL,
    tokens bigint NOT NULL,
    usd_micros bigint NOT NULL,
    price_known integer NOT NULL,
    tokens_in bigint NOT NULL,
    tokens_out bigint NOT NULL,
    tokens_cached bigint NOT NULL,
    PRIMARY KEY (session, number)
);
CREATE INDEX ledger_by_day ON ledger (day, tokens, usd_micros);

-- Folded states of long sessions.
CREATE TABLE snapshots (
    session text PRIMARY KEY,
    session_seq bigint NOT NULL,
    chain bytea NOT NULL,        -- of the event at session_seq; another one there makes the snapshot void
    state bytea NOT NULL
);

-- The vault: each value is encrypted once more, under its own key.
CREATE TABLE secrets (
    name text PRIMARY KEY,
    version bigint NOT NULL,
    nonce bytea NOT NULL,
    sealed bytea NOT NULL
);
