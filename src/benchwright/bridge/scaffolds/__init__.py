"""Scaffolds: what lets a model act in a repository; our own loop, and other people's agents."""
