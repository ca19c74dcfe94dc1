"""Prediction-powered estimates: answers of humans to all units, estimated from their answers to some."""
