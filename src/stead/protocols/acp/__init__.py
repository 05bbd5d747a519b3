"""The Agent Client Protocol, version 1, over stdio: editors as clients of the daemon.

Layer: a door. The process is a bridge without state of its own: sessions live in the daemon and outlive their editor. A
prompt is accepted, its session's timeline is followed, and items are sent by their ids, as version 2 of the protocol
has it; ``rendering`` writes that down as version 1. Standard library and ``client`` only, since an editor waits for it.

Source: https://agentclientprotocol.com, and the schema in npm ``@agentclientprotocol/sdk`` 2.4.0.
"""
