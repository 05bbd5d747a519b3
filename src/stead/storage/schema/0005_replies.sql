-- What each reply of a model to a session was, for the trust tier of its model. It follows from the journal, holds no
-- content, and stays when a session's payloads are erased, as the ledger does.

CREATE TABLE replies (
    session text NOT NULL,
    number bigint NOT NULL,      -- of the request
    ts_ms bigint NOT NULL,
    provider text NOT NULL,
    model text NOT NULL,
    calls bigint NOT NULL,
    malformed bigint NOT NULL,
    unknown bigint NOT NULL,
    sent_back integer NOT NULL,  -- 0 or 1
    ended text NOT NULL,         -- how the run or turn ended by it; "" for not
    PRIMARY KEY (session, number)
);
CREATE INDEX replies_by_model ON replies (provider, model, ts_ms);
