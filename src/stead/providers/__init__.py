"""Models of every vendor behind one port, and the rehearsal model that serves when there is none.

The HTTP library and the price list are imported at the first request: importing ``stead.providers.models`` stays cheap.
"""
