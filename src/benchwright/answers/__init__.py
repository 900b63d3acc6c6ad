"""From a record to an answer, and from a test source to a plan; pure."""
