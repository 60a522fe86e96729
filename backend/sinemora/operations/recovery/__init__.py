"""Recovery to a point in time: an archive of base backups and WAL, its restore, and a drill that measures both."""
