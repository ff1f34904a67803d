"""The formats of the X-Ray engine (S.T.A.L.K.E.R.)."""
