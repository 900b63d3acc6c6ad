"""Estimates and their intervals; pure."""
