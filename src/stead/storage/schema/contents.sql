-- The index of the kept contents. Names are digests under a key of the home; 32 bytes each.

CREATE TABLE meta (name text PRIMARY KEY, value text NOT NULL);

-- Where each sealed chunk lies. A bad one was found damaged: it still serves nobody, and is stored anew when met.
CREATE TABLE chunks (
    name blob PRIMARY KEY, pack integer NOT NULL, at integer NOT NULL, size integer NOT NULL, bad integer NOT NULL
) WITHOUT ROWID;
CREATE INDEX chunks_by_pack ON chunks (pack, at);

-- The chunks of each content that has several, one name after another. A content of one chunk has that chunk's name.
CREATE TABLE contents (name blob PRIMARY KEY, chunks blob NOT NULL);

CREATE TABLE trees (name blob PRIMARY KEY, entries blob NOT NULL);

-- The last tree of each folder.
CREATE TABLE folders (directory blob PRIMARY KEY, root blob NOT NULL, files integer NOT NULL);

-- What each file looked like from outside when its content was last read, so that it need not be read again.
CREATE TABLE seen (
    directory blob NOT NULL, path blob NOT NULL, tree blob NOT NULL, files blob NOT NULL,
    PRIMARY KEY (directory, path)
);
