"""File formats of Operation Flashpoint and Arma."""

from ... import lazy

lazy.attach(__name__)
