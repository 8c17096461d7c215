"""A manifest for root modules that exist: they are found, read, named and written down."""
