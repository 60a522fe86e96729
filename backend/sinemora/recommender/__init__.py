"""What delay costs each application, and where its machines and tasks should run."""
