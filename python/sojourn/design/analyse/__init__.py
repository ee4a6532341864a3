"""What the runs say: effects, analysis of variance, residuals."""
