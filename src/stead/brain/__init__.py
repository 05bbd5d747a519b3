"""What to do next, given what happened: pure. Knows nothing of the guardian."""
