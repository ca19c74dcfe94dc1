"""Families of answers: probabilities of answers as functions of their predictors."""
