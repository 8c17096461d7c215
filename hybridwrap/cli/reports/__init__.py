"""The formats of a report: one module each, with `render`."""
