"""What the committed samples are made of: bones, boxes about them, and how they move."""
