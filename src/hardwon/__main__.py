"""``python -m hardwon``."""

import sys

from hardwon.doors.cli import main

sys.exit(main())
