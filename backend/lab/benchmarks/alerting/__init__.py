"""Tools for the figures of alerts on a whole product: agents that report in time, and a webhook listener."""
