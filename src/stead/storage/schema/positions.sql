-- How far each channel was read, in its platform's own terms, and by which bot: to another one it means nothing.
CREATE TABLE positions (channel text PRIMARY KEY, cursor text NOT NULL, account text NOT NULL);

-- As every file of this kind has; nothing of the journal is looked at here.
CREATE TABLE progress (seq integer NOT NULL);
