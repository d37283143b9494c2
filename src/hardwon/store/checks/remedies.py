"""What to do about damage, in the words that every check uses."""

from __future__ import annotations

REPAIR = "`hardwon repair` keeps what is intact, `hardwon restore` brings a backup back"
KEEP = f"{REPAIR}; the file stays as it is until then"
REBUILD = "it is derived: `hardwon init --rebuild` makes it anew"
# How a check begins that the disk kept from reading: no damage, and no answer either.
REFUSED = "the disk refused to read"
