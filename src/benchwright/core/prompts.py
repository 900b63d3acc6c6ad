"""What a model is sent for one problem."""

import enum
from dataclasses import dataclass


class Mode(enum.StrEnum):
    """How a model is spoken to."""

    CHAT = "chat"
    """As an instruction-tuned model: a message from a user, answered by an assistant."""
    BASE = "base"
    """As a base model: a raw text, which it continues."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A prompt as it is sent, together with what its answer must be read with."""

    mode: Mode
    text: str
    """The user's message; in base mode the raw text that the model continues."""
    prefill: str = ""
    """Beginning of the assistant's answer, written on the model's behalf; empty in base mode."""
    lead: str = ""
    """What the answer goes on from and has to be read together with: the prefill, or the code that a base model was
    given to complete."""
    stop: tuple[str, ...] = ()
    """Texts that end the answer; they do not belong to it."""
    template_digest: str
    """SHA-256 of everything that went around the problem's own text: the same for all problems of a run."""
