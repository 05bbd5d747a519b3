"""Coding jobs of a usual day over small real projects, done by a scripted model through the whole daemon (S15)."""
