"""Facts about choosing among blocks and joining them."""

import pytest
from extraction_programs import ENTRY, PLAIN, WRONG, code_of, results

from benchwright.answers.extraction import extract
from benchwright.answers.wording import standing
from benchwright.core.answers import CodeAnswer

RIGHT = f"```python\n{PLAIN}```\n"
OTHER = f"```python\n{WRONG}```\n"


@pytest.mark.parametrize(
    "reply",
    [
        f"{OTHER}Wait, that is wrong.\n{RIGHT}",
        f"{OTHER}That was incorrect. Let me fix it:\n\n{RIGHT}",
        f"First draft:\n{OTHER}Now properly:\n{RIGHT}",
        f"{RIGHT}Alternatively, with a loop:\n{OTHER}",
        f"{RIGHT}\n### Alternative\n\nThis is slower.\n\n{OTHER}",
        f"{RIGHT}Here is another way to do it:\n{OTHER}",
        f"{RIGHT}Optional: a shorter version.\n{OTHER}",
        f"The original code:\n{OTHER}Fixed:\n{RIGHT}",
        f"Here is the corrected version:\n{RIGHT}and for reference the original one:\n{OTHER}",
        f"**Final solution:**\n{RIGHT}As a comparison:\n{OTHER}",
        f"**After:**\n{RIGHT}**Before:**\n{OTHER}",
        f"{RIGHT}```python\n# Naive version\n{WRONG}```",
        f"{RIGHT}The naïve approach would be:\n{OTHER}",
        f"{RIGHT}Its signature:\n```python\ndef task_func(x):\n    ...\n```",
        f'{RIGHT}Its outline:\n```python\ndef task_func(x):\n    """Doc."""\n    # your code here\n    pass\n```',
        f"{RIGHT}Abstract:\n```python\ndef task_func(x):\n    raise NotImplementedError\n```",
        f"{RIGHT}Only a part:\n```python\ndef task_func(x):\n    x = 2\n    ...\n    return x\n```",
        f"{RIGHT}Broken:\n```python\ndef task_func(x:\n    return\n```",
        f"{OTHER}Fixed:\n```python\n!pip install x\n{PLAIN}```\n",
        f"{RIGHT}You could also write it with numpy:\n{OTHER}",
        f"{RIGHT}Or as a one-liner:\n{OTHER}",
        f"{RIGHT}A common mistake:\n{OTHER}",
        f"{RIGHT}Don't do this:\n{OTHER}",
        f"{RIGHT}❌ Bad:\n{OTHER}",
        f"{RIGHT}This is better than:\n{OTHER}",
        f"The final version:\n{OTHER}Wait, that is wrong. It should be:\n{RIGHT}",
        f"{RIGHT}To cache it:\n```python\nimport functools\ntask_func = functools.lru_cache(task_func)\n```\n",
        f"{RIGHT}Elsewhere:\n```python\nimport solution\ntask_func = solution.task_func\ntask_func(1)\n```\n",
        f"{RIGHT}A stub:\n```python\nfrom unittest.mock import MagicMock\ntask_func = MagicMock()\n```\n",
        f"{OTHER}{RIGHT}Usage:\n```python\nfrom solution import task_func\nprint(task_func(1))\n```\n",
    ],
)
def test_the_last_complete_block_wins_unless_words_say_otherwise(reply: str) -> None:
    """Of several blocks with the entry point the last counts, less alternatives, old versions and mere signatures."""
    assert code_of(reply) == PLAIN.strip()


def test_the_first_lines_of_a_definition_are_no_later_version_of_it() -> None:
    """A block that repeats how an earlier definition begins explains it; one that differs replaces it."""
    code = 'def task_func(x):\n    """Doc."""\n    if not x:\n        return None\n    return x + 1'
    begun = "def task_func(x):\n    # Nothing?\n    if not x:\n        return None\n"
    assert code_of(f"```python\n{code}\n```\nFirst we look:\n```python\n{begun}```\n") == code
    other = begun.replace("None", "0").rstrip()
    assert code_of(f"```python\n{code}\n```\nShorter:\n```python\n{other}\n```\n") == other


def test_an_assignment_can_define_the_function_anew() -> None:
    """A later block that makes the function of something else than itself is a version of it."""
    assert code_of(f"{OTHER}Shorter:\n```python\ntask_func = lambda x: x + 1\n```\n") == "task_func = lambda x: x + 1"


def test_the_note_says_how_many_blocks_there_were() -> None:
    """The number of blocks that define the entry point is noted, and why one was taken."""
    last = extract(f"{OTHER}{RIGHT}", entry_point=ENTRY)
    first = extract(f"{RIGHT}Alternatively:\n{OTHER}", entry_point=ENTRY)
    assert isinstance(last, CodeAnswer)
    assert isinstance(first, CodeAnswer)
    assert last.notes == ("blocks that define task_func: 2; the last one was taken",)
    assert first.notes == ("blocks that define task_func: 2; their headings speak for an earlier one",)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("", 0),
        ("Here is the code:", 0),
        ("Make sure to install numpy before running:", 0),
        ("Unlike the original approach, this works:", 0),
        ("That is wrong.", 0),
        ("The final version is shorter. Usage:", 0),
        ("### Final code", 1),
        ("The original has a bug. Here is the corrected version of the original code:", 1),
        ("Oops, let me fix that:", 1),
        ("Before the fix:", -1),
        ("Here is an alternative, improved version:", -1),
        ("2. **Optional**: caching", -1),
    ],
)
def test_words_before_a_block_rank_it(words: str, expected: int) -> None:
    """Only a few words count, and most of them only where they open the sentence right before the block."""
    assert standing(words, PLAIN) == expected


JOINED = {
    "imports": ["import math", "def task_func(x):\n    return math.floor(x)"],
    "a constant": ["LIMIT = 3", "def task_func(x):\n    return LIMIT"],
    "a helper and what it needs": [
        "import math",
        "def helper(x):\n    return math.floor(x)",
        "def task_func(x):\n    return helper(x)",
    ],
    "a helper given afterwards": ["def task_func(x):\n    return helper(x)", "def helper(x):\n    return -x"],
    "a class": [
        "class Box:\n    size = 3",
        "class Bigger(Box):\n    more = 4",
        "def task_func(x):\n    return Bigger.size",
    ],
    "imports of an earlier version": [
        "import math\n\ndef task_func(x):\n    return 0",
        "def task_func(x):\n    return math.ceil(x)",
    ],
    "an assignment": ["def helper(x):\n    return x * 2", "task_func = helper"],
}


@pytest.mark.parametrize("pieces", JOINED.values(), ids=JOINED)
@pytest.mark.parametrize("between", ["\n", "\nNext, the following.\n\n", "```\npip install x\n```\n"])
def test_blocks_that_lend_what_is_needed_are_joined(pieces: list[str], between: str) -> None:
    """Imports, constants and helpers in blocks of their own come along, in order, and demos do not."""
    demo = "```python\nprint(task_func(int(input())))\n```\n"
    reply = between.join(f"```python\n{piece}\n```\n" for piece in pieces) + demo
    answer = extract(reply, entry_point=ENTRY)
    assert isinstance(answer, CodeAnswer)
    assert answer.strategy == "joined"
    assert results(answer.code) == results("\n".join(pieces))


def test_a_block_that_lends_nothing_is_not_joined() -> None:
    """Other blocks stay out when the chosen one needs nothing of them."""
    assert code_of(f"```python\nimport os\nVALUE = 3\n```\n{RIGHT}") == PLAIN.strip()


def test_the_nearest_block_before_lends_a_name() -> None:
    """Of two blocks that bind a needed name the one nearest before the answer is taken."""
    pieces = ["N = 1", "N = 2", "def task_func(x):\n    return N", "N = 3"]
    assert results(code_of("".join(f"```python\n{piece}\n```\n" for piece in pieces))) == [2, 2, 2, 2]


def test_side_effects_of_an_earlier_block_of_imports_come_along() -> None:
    """An import that only has to be executed stays with the imports that are lent."""
    imports = "```python\nimport antigravity_like_switch\nimport math\n```\n"
    assert code_of(f"{imports}```python\ndef task_func(x):\n    return math.pi\n```").startswith(
        "import antigravity_like_switch\nimport math\n"
    )
