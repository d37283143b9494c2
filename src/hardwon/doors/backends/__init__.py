"""Hardwon behind the memory interfaces of other programs: one module each, which imports that program when it is imported."""
