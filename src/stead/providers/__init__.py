"""Models behind one port. The only package that imports a vendor SDK."""
