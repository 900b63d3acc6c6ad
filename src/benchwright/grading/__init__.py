"""The one pipeline: prepare, run, record, judge, row."""
