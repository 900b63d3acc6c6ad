"""What a model is shown of foreign bytes."""

import re

from hypothesis import given
from hypothesis import strategies as st

from benchwright.bridge.scaffolds.tool_texts import clipped, clipped_text, harmless

NOTE = re.compile(r"\n\[… ([\d,]+) bytes left out …\]\n")


def test_controls_become_pictures() -> None:
    """Tabs and line ends stay, colours go, a progress bar is unrolled, and the rest can be seen."""
    assert harmless("a\tb\r\nc\x00\x07\x7f\x85\ud800") == "a\tb\r\nc␀␇␡\ufffd\ufffd"
    assert harmless("\x1b[1;31mred\x1b[0m \x1b]0;title\x07 10%\r20%") == "red ␛]0;title␇ 10%\n20%"


@given(st.text())
def test_nothing_else_is_changed(text: str) -> None:
    """A text without controls stays as it is, and what comes out has none."""
    shown = harmless(text)
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]", shown)
    assert harmless(shown) == shown
    if not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]", text):
        assert shown == text


def test_short_output_is_whole() -> None:
    """Up to the limit, nothing is left out; bytes that are no text are replaced."""
    assert clipped(b"x" * 10, 10) == "x" * 10
    assert clipped(b"a\xffb", 10) == "a\ufffdb"
    assert clipped_text("ü\ud800", 10) == "ü?"


@given(st.text(min_size=1, max_size=400), st.integers(8, 100))
def test_head_tail_and_the_number_of_missing_bytes(text: str, limit: int) -> None:
    """No character of the text is cut, and all bytes are accounted for."""
    data = harmless(text).encode()
    shown = clipped(data, limit)
    if len(data) <= limit:
        assert shown == data.decode()
        return
    note = NOTE.search(shown)
    assert note is not None
    head, tail = shown[: note.start()].encode(), shown[note.end() :].encode()
    assert data.startswith(head)
    assert data.endswith(tail)
    assert len(head) + len(tail) + int(note[1].replace(",", "")) == len(data)
    assert limit - 8 <= len(head) + len(tail) <= limit + 4


def test_what_a_sandbox_has_left_out_is_counted_too() -> None:
    """A clipped output has a note of the sandbox's own in its middle, which is not shown."""
    data = b"a" * 20 + b"\n[left out]\n" + b"z" * 20
    shown = clipped(data, 20, total=1_000_000)
    assert shown == "a" * 10 + "\n[… 999,980 bytes left out …]\n" + "z" * 10
