"""Prompt injections against Stead's own tools: data, and a replay that any policy can be put into."""
