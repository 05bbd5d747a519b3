"""Text on its way in and out: hidden characters, secrets, links. Informs and removes; it never allows."""
