-- The index of one place. Not numbered: it is derived, so a changed schema means dropping it and replaying the journal.

CREATE TABLE progress (
    seq integer NOT NULL,        -- of the last event taken in
    chain blob NOT NULL,         -- its chain hash: another one there means another journal
    known integer NOT NULL,      -- how many memories there are
    said integer NOT NULL,       -- how many turns
    model text NOT NULL,         -- that made the vectors, "" for none yet
    schema text NOT NULL         -- digest of this file
);

-- Memories, and turns of conversations. The text stands in known or said, under the same number.
CREATE TABLE items (
    id integer PRIMARY KEY AUTOINCREMENT, -- never given twice: a vector that is under way may be of one that is gone
    ref text NOT NULL UNIQUE,    -- the memory's id, or "e_" and the event's seq
    source text NOT NULL,        -- as in domain.memory.Source
    level text NOT NULL,         -- as in Scope; whose place it is follows from the file
    integrity text NOT NULL,
    confidentiality integer NOT NULL, -- its place in Confidentiality, the least restricted first
    typed integer NOT NULL,
    ts_ms integer NOT NULL,      -- when it was said, or recorded
    session text NOT NULL,       -- of a turn; "" for memories
    seq integer NOT NULL,        -- of a turn; 0 for memories
    who text NOT NULL,           -- of a turn; "" for memories
    embedded integer NOT NULL DEFAULT 0, -- it has a vector
    status text,                 -- of a memory; of a turn 'failed', when its run came to nothing
    -- of memories alone
    valid_from integer,
    valid_to integer,
    retired integer,
    expires integer,
    pinned integer,
    standing integer,
    kind text,
    key text,
    origin text,
    run text,
    saying blob,                 -- digest of the text as texts are compared
    uses integer,
    last_used integer
);
CREATE INDEX turns ON items (session, seq) WHERE source <> 'memory';
CREATE INDEX levels ON items (level);
CREATE INDEX speakers ON items (who) WHERE source = 'talk';
CREATE INDEX listed ON items (ts_ms, id) WHERE source = 'memory';
CREATE INDEX keys ON items (key) WHERE key <> '';
CREATE INDEX sayings ON items (saying) WHERE saying IS NOT NULL;
CREATE INDEX told ON items (id) WHERE pinned OR standing;
CREATE INDEX used ON items (uses DESC, ref) WHERE uses > 0;
-- For figures over all of it, which read no row.
CREATE INDEX figures ON items (status, origin, kind, run, uses, ts_ms, retired) WHERE source = 'memory';
CREATE INDEX turned ON items (ts_ms, source) WHERE source <> 'memory';
CREATE INDEX bare ON items (source <> 'memory', id DESC) WHERE NOT embedded;
CREATE INDEX strangers ON items (id) WHERE integrity = 'untrusted' AND NOT typed;

-- Apart from items, which every word of a query runs over: narrow rows are read four times as fast.
CREATE TABLE memories (
    item integer PRIMARY KEY REFERENCES items (id) ON DELETE CASCADE,
    row blob NOT NULL            -- JSON of MemoryRow
);

-- What memories are asked for by, as words.spoken has it.
CREATE TABLE names (
    item integer NOT NULL REFERENCES items (id) ON DELETE CASCADE,
    phrase text NOT NULL,
    PRIMARY KEY (phrase, item)
) WITHOUT ROWID;
CREATE INDEX names_by_item ON names (item);

-- The words of turns that memories rest on; "start" and "until" are places in the turn's text.
CREATE TABLE grounds (
    seq integer NOT NULL,        -- of the turn, which may be of another place
    start integer NOT NULL,
    until integer NOT NULL,
    item integer NOT NULL REFERENCES items (id) ON DELETE CASCADE,
    PRIMARY KEY (seq, item, start)
) WITHOUT ROWID;
CREATE INDEX grounds_by_item ON grounds (item);

-- The long words of those phrases, which a slip of the pen may miss.
CREATE TABLE spellings (
    start text NOT NULL,         -- the letters that are seldom mistyped
    length integer NOT NULL,
    word text NOT NULL,
    item integer NOT NULL REFERENCES items (id) ON DELETE CASCADE,
    PRIMARY KEY (start, length, word, item)
) WITHOUT ROWID;
CREATE INDEX spellings_by_item ON spellings (item);

-- Which session was told of a memory, once each: items.uses is how many there are, items.last_used the last one's time.
CREATE TABLE uses (
    item integer NOT NULL REFERENCES items (id) ON DELETE CASCADE,
    session text NOT NULL,
    ts_ms integer NOT NULL,      -- when it was told last
    PRIMARY KEY (item, session)
) WITHOUT ROWID;
CREATE INDEX uses_by_session ON uses (session);

-- All of one model, which stands in progress: another one's are of no use to it.
CREATE TABLE vectors (
    item integer PRIMARY KEY REFERENCES items (id) ON DELETE CASCADE,
    vector blob NOT NULL         -- domain.embedding.VectorBytes
);

-- Two, because how rare a word is differs between what is known and what was said. A head has the names and the day,
-- and what words.beside makes of a text in which FTS5 would not find the words.
CREATE VIRTUAL TABLE known USING fts5 (head, text, tokenize = 'porter unicode61 remove_diacritics 2');
INSERT INTO known (known, rank) VALUES ('secure-delete', 1);
CREATE VIRTUAL TABLE said USING fts5 (head, text, tokenize = 'porter unicode61 remove_diacritics 2');
INSERT INTO said (said, rank) VALUES ('secure-delete', 1);
