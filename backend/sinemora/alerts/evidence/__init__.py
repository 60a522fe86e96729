"""Evidence of incidents for a provider: a signed report that a third party can verify."""
