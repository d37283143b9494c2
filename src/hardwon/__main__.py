"""``python -m hardwon``."""

import gc
import sys

gc.set_threshold(100_000)  # as in the installed command

from hardwon.loading import install  # noqa: E402

install()

from hardwon.doors.cli import main  # noqa: E402

code = main()
gc.freeze()
sys.exit(code)
