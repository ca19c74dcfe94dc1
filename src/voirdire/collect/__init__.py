"""Ask language models to judge, and keep what they answer as tables of votes, scores and labels."""
