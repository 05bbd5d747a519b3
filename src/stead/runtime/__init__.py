"""The I/O shell around the pure core: one actor per session, the gate, approvals, the bus, recovery."""
