"""A bucket for states and ledgers: made, or compared with how it should be; and changed only when told so."""
