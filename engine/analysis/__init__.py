"""`keisei analysis`: positions analysed for programs, as lines of JSON in and out, many at a time over one net.

A query names a game and turns of it; `reader` takes lines apart, `parse` reads queries, `scheduler` runs the searches
of all of them together, `answer` writes what they found. docs/analysis.md says what the keys mean.
"""
