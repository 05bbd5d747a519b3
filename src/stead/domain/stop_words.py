"""Words of grammar: they say nothing about what a text is about.

Layer: domain. Data alone.
"""

from __future__ import annotations

_STOP = """
    a about above after again against all also am an and any are as at be because been before being below between
    both but by can cannot could did do does doing don done down during each else ever few for from further get go
    got had has have having he hello her here hers herself hey hi him himself his how i if in into is it its itself
    just know let like ll m me mention mentioned might more most must my myself no nor not now of off ok okay on
    once only or other our ours ourselves out over own please re s same shall she should so some such t tell than
    that the their theirs them themselves then there these they this those through to too under until up us ve very
    was we were what when where which while who whom whose why will with would yes you your yours yourself
    yourselves
"""
STOP = frozenset(_STOP.split())
"""Lower case."""
