"""Pure core of the transport advisor: evidence, rules and their precedence."""
