"""Camera paths (`.anm`)."""

from .... import lazy

lazy.attach(__name__)
