"""One module per command: parse, call one app function, print."""
