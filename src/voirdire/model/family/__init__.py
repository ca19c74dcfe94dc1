"""Families of answers: how the probabilities of answers depend on their predictors."""
