"""The questions of lag reports as SQL: a file each, in Spark's dialect."""
