"""Which runs to make: full, fractional and sampled designs, their order, and how many repetitions."""
