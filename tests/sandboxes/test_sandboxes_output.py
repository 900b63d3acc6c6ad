"""Facts about what is kept of a command's output."""

from benchwright.sandboxes.output import Output


def test_output_keeps_head_and_tail() -> None:
    """Up to the limit everything is kept; beyond, half of it from either end, and the rest is counted."""
    output = Output(10)
    output.add(b"0123456789")
    assert (output.kept, output.total) == (b"0123456789", 10)
    output.add(b"abc")
    assert output.kept == b"01234\n[benchwright: 3 bytes left out]\n89abc"
    output.add(b"x" * (4 << 20))
    assert output.kept == b"01234\n[benchwright: 4194307 bytes left out]\nxxxxx"
    empty = Output(0)
    empty.add(b"ab")
    assert (empty.kept, empty.total) == (b"\n[benchwright: 2 bytes left out]\n", 2)
