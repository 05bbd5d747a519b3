"""The journal, its read models and the vault: everything that is kept on disk."""
