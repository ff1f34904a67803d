"""The formats of Operation Flashpoint and Arma."""
