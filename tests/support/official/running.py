"""Our program, called in this process as the shell would call it."""

import contextlib
import io
import re
from collections.abc import Sequence
from unittest.mock import patch

from kgroups.cli.app import main
from tests.support.kafka.official_tools import Answer


def run_ours(arguments: Sequence[str]) -> Answer:
    """What `kgroups ARGUMENTS` prints, and its exit code."""
    out, err = io.StringIO(), io.StringIO()
    status = 0
    with (
        patch("sys.argv", ["kgroups", *arguments]),
        patch("kgroups.cli.output.outlet.protect"),  # the process's own streams are not redirected
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else int(end.code is not None)
    return Answer(out.getvalue(), err.getvalue(), status)


def without_undo(stderr: str) -> str:
    """What was said besides the path of the undo file."""
    return re.sub(r"^undo file: .*\n", "", stderr, flags=re.MULTILINE)
