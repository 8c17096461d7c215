"""Where people look: comments on pull and merge requests, and chat."""
