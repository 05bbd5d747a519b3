"""How well what was said and remembered is found again: data, systems, figures."""
