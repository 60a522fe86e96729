"""HTTP plumbing of the API: middleware, paging, versions, idempotency, rate limit, files."""
