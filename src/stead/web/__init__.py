"""The HTTP door: wire to Command, Event to wire."""
