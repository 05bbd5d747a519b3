"""Bringing notifications to where the person is: desktop, mail, webhook, web push."""
