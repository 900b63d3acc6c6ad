"""The parts of the ``docker`` sandbox: an engine, its containers, the commands in them."""
