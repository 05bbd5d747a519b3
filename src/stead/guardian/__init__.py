"""Yes, ask, or no: pure and total, default deny. Knows nothing of the loop."""
