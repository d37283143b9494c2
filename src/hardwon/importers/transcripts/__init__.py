"""What agents' clients wrote of their sessions: found, and read into the same events as their hooks tell (docs/transcripts.md)."""
