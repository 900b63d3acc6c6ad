"""The host's end of the private channel."""

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.core.execution import TestOutcome
from benchwright.execution.channel import FrameReader
from benchwright_guest import frames

KEY = b"k" * 32

text = st.text(max_size=20)
MESSAGES = st.lists(
    st.fixed_dictionaries({"kind": st.just("note"), "level": text, "what": text})
    | st.fixed_dictionaries(
        {"kind": st.just("fixture"), "name": text, "message": text, "exception": text, "missing_module": text}
    )
    | st.fixed_dictionaries(
        {
            "kind": st.just("test"),
            "id": text,
            "outcome": st.sampled_from([outcome.value for outcome in TestOutcome]),
            "seconds": st.floats(0, 1e6),
            "exception": text,
            "message": st.text(st.characters(codec=None), max_size=20),
            "missing_module": text,
        }
    )
    | st.fixed_dictionaries({"kind": st.just("closing"), "missing": st.lists(text, max_size=2)}),
    min_size=1,
    max_size=5,
)
CLOSING = {"kind": "closing", "missing": []}
NOTE = {"kind": "note", "level": "observation", "what": "something"}


def encode(messages: list[dict[str, Any]], key: bytes = KEY, first: int = 0) -> bytes:
    """The stream of an honest driver."""
    stream = b""
    for sequence, message in enumerate(messages, first):
        payload = json.dumps(message).encode()
        stream += frames.HEADER.pack(len(payload)) + frames.sign(key, sequence, payload) + payload
    return stream


def read(*parts: bytes) -> FrameReader:
    """A reader that was fed these parts and the end."""
    reader = FrameReader(KEY)
    for part in parts:
        reader.feed(part)
    reader.end()
    return reader


@given(MESSAGES, st.lists(st.integers(0, 400), max_size=8))
def test_any_split_of_the_bytes_gives_the_same_messages(messages: list[dict[str, Any]], cuts: list[int]) -> None:
    """Where the kernel cuts the stream does not matter."""
    stream = encode(messages)
    places = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    reader = read(*(stream[start:end] for start, end in pairwise(places)))
    assert list(reader.messages) == messages
    assert reader.errors == ()


@given(MESSAGES, st.data())
def test_a_flipped_bit_stops_reading(messages: list[dict[str, Any]], data: st.DataObject) -> None:
    """No changed byte gets through, and nothing after it is believed."""
    stream = bytearray(encode(messages))
    place = data.draw(st.integers(0, len(stream) - 1))
    stream[place] ^= 1 << data.draw(st.integers(0, 7))
    reader = read(bytes(stream))
    assert list(reader.messages) == messages[: len(reader.messages)]
    assert len(reader.messages) < len(messages)
    assert len(reader.errors) == 1


@given(MESSAGES, st.data())
def test_a_stream_cut_inside_a_frame_is_an_error(messages: list[dict[str, Any]], data: st.DataObject) -> None:
    """A truncated end is told apart from an orderly one; whole frames before it are kept."""
    stream = encode(messages)
    ends = {len(encode(messages[:count])) for count in range(len(messages) + 1)}
    cut = data.draw(st.integers(0, len(stream)))
    reader = read(stream[:cut])
    assert bool(reader.errors) == (cut not in ends)
    assert list(reader.messages) == messages[: sum(end <= cut for end in ends) - 1]


def test_a_frame_cut_off_by_our_own_kill_is_no_error() -> None:
    """A process killed at its limit may have been writing, which is not interference."""
    reader = FrameReader(KEY)
    reader.feed(encode([NOTE, CLOSING])[:-3])
    reader.end(killed=True)
    assert list(reader.messages) == [NOTE]
    assert reader.errors == ()


@pytest.mark.parametrize(
    "stream",
    [
        encode([CLOSING], key=b"x" * 32),
        encode([NOTE], first=1),
        encode([NOTE]) * 2,
        b"TEST OK\n" * 20,
    ],
    ids=["another key", "another sequence", "replayed", "text"],
)
def test_what_the_driver_did_not_sign_is_refused(stream: bytes) -> None:
    """Frames under another key or out of their order, and other bytes, are errors."""
    reader = read(stream)
    assert len(reader.messages) <= 1
    assert len(reader.errors) == 1


def test_a_frame_that_claims_to_be_huge_is_refused_at_once() -> None:
    """A length over the limit is an error before any memory is spent on it."""
    reader = FrameReader(KEY)
    reader.feed(frames.HEADER.pack(frames.MAX_FRAME_BYTES + 1))
    assert "claims" in reader.errors[0]


def test_nothing_is_read_after_an_error() -> None:
    """An honest frame behind a forged one does not count."""
    reader = read(encode([NOTE], key=b"x" * 32), encode([NOTE]))
    assert list(reader.messages) == []
    assert len(reader.errors) == 1


@pytest.mark.parametrize(
    "message",
    [
        [],
        {},
        {"kind": "pass everything"},
        {"kind": "closing", "missing": [1]},
        {"kind": "closing"},
        {"kind": "note", "level": "observation", "what": None},
        {
            "kind": "test",
            "id": "a",
            "outcome": "splendid",
            "seconds": 0,
            "exception": "",
            "message": "",
            "missing_module": "",
        },
        {
            "kind": "test",
            "id": "a",
            "outcome": "passed",
            "seconds": -1,
            "exception": "",
            "message": "",
            "missing_module": "",
        },
        {
            "kind": "test",
            "id": "a",
            "outcome": "passed",
            "seconds": True,
            "exception": "",
            "message": "",
            "missing_module": "",
        },
    ],
)
def test_signed_messages_of_another_shape_are_refused(message: Any) -> None:
    """A signature alone is not enough: what the protocol does not have stops the reading."""
    reader = read(encode([message, CLOSING]))
    assert list(reader.messages) == []
    assert len(reader.errors) == 1
