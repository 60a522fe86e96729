"""What the figures of alerts are measured with on a whole product: agents that report in time, somebody who listens."""
