"""Sign-in: passwords, second factors, passkeys, OpenID providers, browser sessions and the account of a person."""
