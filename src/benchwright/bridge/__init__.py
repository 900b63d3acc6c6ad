"""The border with Inspect: the only package that imports ``inspect_ai``.

Models, transcripts and the viewer are Inspect's; prompts, extraction and grading are the same functions that
``bw grade`` calls.
"""
