"""Models of every vendor behind one port, and the rehearsal model that serves when there is none.

Nothing here imports a vendor's library until the first request: importing ``stead.providers.models`` stays cheap.
"""
