"""Sandboxes: where everything that a model asks for is done. Each call takes a live permit."""
