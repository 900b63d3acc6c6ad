"""Tools in the form that a provider has of its own: what is sent and received is translated below Inspect."""

from benchwright.bridge.native.attaching import attach_native

__all__ = ["attach_native"]
