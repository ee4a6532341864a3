"""Where answers come from: solved, simulated and measured, by one protocol (`source.Source`)."""
