"""Schedulers: who runs which job when.  :mod:`.base` is the protocol, :mod:`.local` uses this machine."""
