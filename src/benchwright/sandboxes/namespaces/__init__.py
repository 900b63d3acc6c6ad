"""The parts of the ``namespace`` sandbox; see `benchwright.sandboxes.namespace`."""
