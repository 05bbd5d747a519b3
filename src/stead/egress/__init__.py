"""The one way out of a machine: a proxy on a unix socket, which reaches only what the person allowed."""
