"""File formats of the X-Ray engine (S.T.A.L.K.E.R.)."""

from ... import lazy

lazy.attach(__name__)
