"""Pages of docs/reference that are made from the code: verbs, the Python index, keys of study and model files."""
