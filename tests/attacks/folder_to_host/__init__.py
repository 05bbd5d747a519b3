"""Ways from a folder to the host: what a machine plants, judged by running the person's own programs afterwards."""
