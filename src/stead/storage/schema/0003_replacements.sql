-- Forgetting words of single events: what is read in the place of a payload that is gone.

CREATE TABLE replacements (
    seq integer PRIMARY KEY,     -- of the event, whose payload and salt are null
    version integer NOT NULL,    -- of this payload; the event's own stays in its header
    payload bytea NOT NULL,
    salt bytea NOT NULL          -- the stream's last content.redacted about the event commits to all of this
);

-- Redactions whose bytes may still be in the write-ahead log.
CREATE TABLE scrubs_due (
    seq integer PRIMARY KEY      -- the last event of the transaction that redacted
);
