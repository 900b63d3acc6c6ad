"""The inside of a workspace for repository problems: process 1 of its namespaces, which serves the host.

Started as ``python -I -S <this package>/__main__.py DESCRIPTOR``; the descriptor is a sequenced-packet socket.
It runs in the host program's own Python, of which nothing can be imported once the host's files are out of reach.
Messages are JSON objects, most with descriptors attached; :mod:`.serve` lists them.

:mod:`.launch` makes the namespaces, :mod:`.tree` the file system, :mod:`.privileges` gives up rights for good,
:mod:`.command` becomes a command, :mod:`.files` writes and reads files.
"""
