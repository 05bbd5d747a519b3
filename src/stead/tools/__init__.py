"""What a model can ask for. Reaches machines only through domain.ports."""
