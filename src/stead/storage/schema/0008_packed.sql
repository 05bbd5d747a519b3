-- From here on payloads of events are packed (packing.py); those from before stay as they are. No table changes. A Stead from
-- before could not read them: the number of this step is what tells it so.

PRAGMA user_version = 8;
