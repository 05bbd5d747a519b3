"""Messaging platforms, each in a process of its own: one file a platform, behind the base in ``base.py``.

Layer: channels. Runs in a machine that shows no folder. It knows the wire of ``domain.channel_wire`` and nothing else
of Stead: no journal, no vault, no session.
"""
