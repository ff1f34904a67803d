"""The parts of `scripts/fuzz.py`: how files are damaged, what is tried with them, what the law is, what is counted."""
