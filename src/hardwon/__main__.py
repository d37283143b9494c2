"""``python -m hardwon``."""

import gc
import sys

gc.set_threshold(100_000)  # as in the installed command

from hardwon.doors.cli import main  # noqa: E402

sys.exit(main())
