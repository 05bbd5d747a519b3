-- Payloads of old sessions, moved out of this file into sealed files next to it. Headers, commitments and chain stay.

CREATE TABLE archives (
    id integer PRIMARY KEY AUTOINCREMENT,  -- never used twice: the file is archives/ID.stead, eight digits
    session text NOT NULL,
    first bigint NOT NULL,           -- seqs of the events in it
    last bigint NOT NULL,
    events bigint NOT NULL,
    size_bytes bigint NOT NULL,
    key bytea NOT NULL               -- of the file; without it nobody reads a copy of the file either
);
CREATE INDEX archives_by_session ON archives (session);
