"""Files of the tools that people use, as tables of votes, scores and labels: one reader a tool."""
