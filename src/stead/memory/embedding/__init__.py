"""The embedder that comes with Stead: texts to vectors, offline, in a process of its own.

Layer: memory. ``embedder`` is what others use; it, ``desk`` and ``child`` run in the daemon. ``frames`` and
``artefact`` are on both sides. Everything else runs in the worker alone: numpy and onnxruntime would double the
daemon's memory.
"""
