"""The storage study: what an I/O costs in CPU, by path."""
