-- Where what is spent comes from: the hour of a request, the door that a session was opened through, and whose subagent
-- it is. It holds no content, and stays when a session's payloads are erased, as the ledger does.

ALTER TABLE ledger ADD COLUMN hour text NOT NULL DEFAULT '';   -- "00" to "23", of the day; '' where it is not known

CREATE TABLE openings (
    session text PRIMARY KEY,
    root text NOT NULL,          -- itself; of a subagent, the session of a person's that is above it
    door text NOT NULL           -- cli, web, schedule:NAME and such, of the root; '' where it is not known
);

-- Of sessions from before, only what a schedule opened is known, by the command's id: schedule:NAME:MILLISECONDS.
INSERT INTO openings
SELECT session, session, substr(cause, 1, length(cause) - 14)
FROM events WHERE tag = 'session.opened' AND session_seq = 1 AND cause LIKE 'schedule:%';
