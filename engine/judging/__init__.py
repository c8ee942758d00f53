"""`keisei judge`: judgments of game records in words, as JSON, as pictures, one by one or a folder at a time."""
