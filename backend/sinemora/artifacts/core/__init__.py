"""Pure core of artifacts: manifests, similarity, access between agents, choice of peers."""
