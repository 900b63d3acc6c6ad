"""The inside of a workspace for repository problems: process 1 of its namespaces, which serves the host.

Started as ``python -I -S <this package>/__main__.py DESCRIPTOR``; the descriptor is a sequenced-packet socket.
It runs in the host program's own Python, of which nothing can be imported once the host's files are out of reach.
Messages are JSON objects, most with descriptors attached; :mod:`.serve` lists them, :mod:`.live` those of a workspace
whose commands run side by side.

:mod:`.launch` makes the namespaces, :mod:`.tree` the file system, :mod:`.privileges` gives up rights for good,
:mod:`.command` and :mod:`.live_command` become a command, :mod:`.children` deals with processes, :mod:`.files` writes
and reads files, :mod:`.archive` whole folders, :mod:`.written` tells what commands have written.
"""
