"""The embedder that comes with Stead: texts to vectors, offline, in a process of its own.

Layer: memory. ``embedder`` is what others use; it and ``process`` run in the daemon, ``wire`` on both sides, everything
else in the worker alone: numpy would take as much memory as the daemon does.
"""
