"""Pure nouns: facts, requests and ports. No I/O, no clock, no randomness; standard library and msgspec only."""
