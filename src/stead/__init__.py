"""Stead: an agent that acts in your stead, and that you can trust to."""

__version__ = "0.1.0"
