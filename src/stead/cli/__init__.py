"""The command line. Imports nothing heavy at its start."""
