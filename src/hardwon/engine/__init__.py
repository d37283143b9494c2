"""The engine composes the rooms and decides nothing; see docs/architecture.md for its two walks."""
