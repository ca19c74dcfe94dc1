"""Models: the file, the terms and the log density of a model, and the catalogue of those that ship."""
