"""Parts of `scripts/fuzz.py`: ways to damage files, the table of targets, the law, and the tallies."""
