"""The one pipeline: prepare, run, record, judge, row; the control runs that stand behind it; and regrading."""
