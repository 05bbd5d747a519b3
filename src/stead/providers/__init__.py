"""Models of every vendor behind one port, and the rehearsal model that serves when there is none.

The price list and the parser of HTTP load with the first request: importing ``stead.providers.models`` stays cheap.
"""
