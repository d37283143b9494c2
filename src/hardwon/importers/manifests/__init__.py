"""What each ecosystem's manifests and lock files ask for. ``table`` says which reader a file has."""
