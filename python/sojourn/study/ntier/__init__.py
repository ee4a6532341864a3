"""A site of several tiers that share cores: what each demands of a core, and what more cores would do."""
