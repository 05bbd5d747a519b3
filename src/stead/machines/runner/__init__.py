"""The resident runner: the one part of Stead that runs inside a machine.

Layer: machines. Inside, this folder is alone: standard library only, Python 3.9 or newer, nothing else of Stead can be
imported. It is compiled once, by the very interpreter that will run it, and handed to each machine in memory.

The runner is the first process of the machine's pid namespace. So the kernel drops every signal that a process inside
sends it, and when it dies, everything inside dies. It takes requests on its standard input and answers on its standard
output; commands get pipes of their own. It does what it is asked and is not trusted: the programs inside have the same
user id, so it makes itself undumpable (its memory and descriptors cannot be opened through ``/proc``), and the daemon
bounds and checks every frame.

Imports are most of a machine's start time, so modules are imported where they are first used.
"""
