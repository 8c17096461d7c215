"""The graph of a stack with its statuses, in the formats in which it is looked at."""
