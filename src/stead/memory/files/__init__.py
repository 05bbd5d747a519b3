"""Memory as files that a person reads and edits: their codec, their merge, and their folder."""
