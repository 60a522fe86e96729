"""Applications: what runs on which VM, what it is sensitive to, how it does now."""
