"""Connections to hosts of the Internet. Layer: net."""
