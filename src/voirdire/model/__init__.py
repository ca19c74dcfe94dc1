"""What a model is: its file, its terms, its log density, the catalogue of those that ship."""
