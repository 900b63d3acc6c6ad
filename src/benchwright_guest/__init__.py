"""The guest: what runs inside a target environment (Python 3.8 and newer, standard library only).

A *mother* process imports the environment's heavy libraries once; it forks *slots*, each of which lives in
namespaces of its own; a slot forks one *child* per job, which executes an answer and its tests and reports on
a private, signed channel.  The guest shares no import with the host program; what they agree on is the
protocol described in :mod:`benchwright_guest.frames`.
"""
