-- Signed heads: what the journal was at a size. A copy of each is kept outside this file.

CREATE TABLE heads (
    size integer PRIMARY KEY,    -- how many events it covers: the first ones, up to the seq of this number
    head text NOT NULL,          -- JSON, as in the copy
    edge bytea NOT NULL          -- the tree's right edge, to go on from; empty but for the newest head
);
