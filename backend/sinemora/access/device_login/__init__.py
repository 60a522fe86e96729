"""Sign-in of a device without a browser (RFC 8628): a person confirms a code, and the device gets an API key."""
