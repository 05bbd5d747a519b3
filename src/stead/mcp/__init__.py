"""The client of MCP servers: its messages, its two transports, and how it signs in.

Layer: an adapter. It must not know tools, sessions and events; what a server says goes up as it came, bounded.
"""
