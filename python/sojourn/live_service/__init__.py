"""A service that runs: series of its metrics, its settings, and the lease on them. Nothing is imported here: the keeper of a lease is a
process of its own, and small."""
