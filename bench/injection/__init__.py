"""Prompt injection measured without a model: AgentDojo's ground truth, and a model that obeys every injection."""
