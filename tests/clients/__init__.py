"""The real coding agents against a scripted model on loopback: see docs/testing.md."""
