const CREDENTIAL_HEADER = /auth|key|token|secret|cookie|credential/i;

/** What must not be shown: the key, and what headers carry whose names say that it is a credential. */
export function secretsOf(apiKey: string | undefined, headers: Readonly<Record<string, string>>): readonly string[] {
  const secrets = apiKey === undefined ? [] : [apiKey];
  for (const [name, value] of Object.entries(headers)) {
    if (!CREDENTIAL_HEADER.test(name)) continue;
    // `Bearer <token>`: the token alone is a secret too.
    secrets.push(value, value.slice(value.lastIndexOf(' ') + 1));
  }
  return secrets;
}
