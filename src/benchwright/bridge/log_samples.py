"""The samples of an Inspect log, whoever made it."""

import re
import zipfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from inspect_ai.log import EvalLog, EvalSample, read_eval_log, read_eval_log_sample

_MEMBER = re.compile(r"samples/(.+)_epoch_([0-9]{1,9})(?:\.json|/sample\.json)", re.DOTALL)
"""Files of an archive that hold a sample; the second form is that of samples kept in pieces."""


def samples_in(path: Path, header: EvalLog) -> Iterator[EvalSample]:
    """The samples that are there, by id as the header has them, then by epoch.

    They come one after the other, for logs may be larger than the memory; logs that are no archives, and those of
    older versions, which do not name their samples, are read whole.  What is read is what is there, not what the header
    says that there should be: it may speak of any number of epochs.
    """
    ids = header.eval.dataset.sample_ids
    if ids is None or not zipfile.is_zipfile(path):
        yield from read_eval_log(str(path)).samples or []
        return
    epochs = defaultdict[str, list[int]](list)
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            if found := _MEMBER.fullmatch(name):
                epochs[found[1]].append(int(found[2]))
    for one in ids:
        for epoch in sorted(epochs[str(one)]):
            yield read_eval_log_sample(str(path), one, epoch)
