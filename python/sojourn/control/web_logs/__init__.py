"""A day each of two public web logs, requests by minute: README.md has source, day and how they were checked."""
