"""Doors that speak a public protocol to other programs.

Layer: a door. Each works through ``client`` alone: it may ask for what the command line may ask for, and nothing else.
"""
