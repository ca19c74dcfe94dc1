"""Prediction-powered estimates: what humans would say of all units, from their answers to some."""
