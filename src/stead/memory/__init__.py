"""What is remembered, found again and forgotten: the index, recall, and the vectors of texts.

Layer: adapter, beside tools, providers, machines and egress. Knows storage, brain and domain; no door and no session.
"""
