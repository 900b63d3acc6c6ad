"""What the words above a block of code say of it, when a reply holds several that define the entry point.

Small and literal on purpose: a rule that reads more into the text would be wrong more often.
"""

import re

# These speak of the block that follows, wherever they stand in the last sentences before it.
_ANOTHER = re.compile(
    r"\b(?:alternative(?:ly)?|alternate|optional(?:ly)?"
    r"|another (?:\w+ )?(?:way|approach|option|version|solution|method|implementation)"
    r"|(?:could|can) also (?:write|implement|express)|as a one-?liner)\b",
    re.IGNORECASE,
)
_AGAIN = re.compile(
    r"\b(?:oops|my mistake|correction|let me (?:fix|correct|redo|rewrite|revise)"
    r"|wait\b[^.\n]{0,40}\b(?:wrong|incorrect|not right|a mistake)|it should (?:be|have been)(?=\W*\Z))\b",
    re.IGNORECASE,
)
# These do so only when they open the sentence right before it: "that was wrong" speaks of what came earlier.
_FILLERS = (
    r"(?:\W|here(?:'s|’s| is| are)|this is|below is|for reference|as|and|the|an?|my|your|our|with|first|one|step \d+)*+"
)
_WORSE = re.compile(
    rf"{_FILLERS}(?:incorrect|wrong|buggy|broken|na[iï]ve|original|previous|old|initial|(?:un|non-)optimi[sz]ed"
    rf"|before(?=\W*$|[ ]the|[ ]version)|bad(?=\W*$|[ ](?:code|example|practice|version))"
    rf"|common (?:mistake|error|pitfall)s?"
    rf"|(?:don['’]t|do not|never|avoid) (?:do|write|use|doing|writing|using) (?:this|it)|better than(?=\W*$))\b",
    re.IGNORECASE,
)
_BETTER = re.compile(rf"{_FILLERS}(?:final|corrected|recommended|fixed|revised|updated)\b", re.IGNORECASE)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
_REACH = 400
_SENTENCES = 3


def standing(words: str, code: str) -> int:
    """How the words before a block rank it: 1 as the final one, -1 as an alternative or as a wrong one, else 0.

    A comment in the block's first line counts as the sentence right before it.
    """
    first, _, _ = code.lstrip().partition("\n")
    sentences = [text for text in _SENTENCE_END.split(words[-_REACH:]) if text.strip()][-_SENTENCES:]
    if first.startswith("#"):
        sentences.append(first)
    if not sentences:
        return 0
    if _BETTER.match(sentences[-1]):
        return 1
    if _WORSE.match(sentences[-1]):
        return -1
    for sentence in reversed(sentences):
        if _ANOTHER.search(sentence):
            return -1
        if _AGAIN.search(sentence):
            return 1
    return 0
