-- How long each reply took.

ALTER TABLE ledger ADD COLUMN duration_ms bigint NOT NULL DEFAULT 0;   -- 0 where it is not known
