"""Compression methods of the games, without bpy: LZO1X, LZSS, and the adaptive LZHUF of X-Ray."""
