"""Sentences as a way to fill in the form of a rule: a small grammar, the same for four languages.

Layer: brain. Pure. ``tokens`` finds values and words, the tables of the languages say what the words stand for, and
``grammar`` makes a rule of it or refuses the whole sentence.
"""
