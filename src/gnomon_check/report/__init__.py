"""Reports of a run, in the forms that people and machines read."""
