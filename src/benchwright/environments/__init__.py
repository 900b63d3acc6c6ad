"""From a specification to an environment that is ready to use."""
