const HIDDEN = '***';

const BY_FORM: RegExp[] = [
  // Password and user name of a URL may contain `@`: masked up to the last `@` before a slash or space.
  /(\b[a-z][a-z0-9+.-]*:\/\/[^\s:/]*:)[^\s/]*(?=@)/gi,
  /([?&]\w*(?:password|passwd|pwd|token|secret|scram_client_key|scram_server_key)\w*=)[^\s&#]+/gi,
  // CREATE ROLE … PASSWORD '…', CREATE USER MAPPING … OPTIONS (password '…').
  /(\bpassword\s+)(?:E'(?:[^'\\]|\\.|'')*'|'(?:[^']|'')*'|(\$\w*\$).*?\2)/gis,
  /(\$aes\$)[0-9a-f]+/gi,
  /(\bbearer\s+)[\w.~+/-]{16,}=*/gi,
  // A JSON Web Token begins with an object in base64.
  /()\beyJ[\w-]{5,}\.[\w-]+\.[\w-]*/g,
];

/**
 * Secrets by name, also as part of a word (PGPASSWORD, aws_secret_access_key): in environments, JSON and
 * configurations. A hint's own `PASSWORD=…` stays, and a server's `using password: YES`.
 */
const BY_NAME =
  /(\b\w*(?:password|passwd|pwd|secret_key|access_key|authtoken|access_token|refresh_token|id_token|client_secret|scram_client_key|scram_server_key)["']?\s*[=:]\s*)(?!…(?:\s|$)|(?:YES|NO)\))(?:'(?:[^']|'')*'|"[^"]*"|[^\s&,;]+)/gi;

/** Masks passwords, tokens and keys in text from a tool, a server, a file or the environment. */
export function redact(text: string): string {
  return hideForms(text, [...BY_FORM.slice(0, 1), BY_NAME, ...BY_FORM.slice(1)]);
}

/**
 * For the program's own text, such as SQL, plans and results: `password = md5(id)` is no secret there. `hideKnown`
 * masks known values.
 */
export function redactOwn(text: string): string {
  return hideForms(text, BY_FORM);
}

function hideForms(text: string, patterns: RegExp[]): string {
  return patterns.reduce((redacted, pattern) => redacted.replace(pattern, `$1${HIDDEN}`), text);
}

const SHORTEST_KNOWN = 6;

/**
 * The values that can be searched for, in each notation: plain, JSON, URL. Short values and lower-case words are left
 * out: `postgres` would mask every name.
 */
export function knownSecrets(values: readonly string[]): string[] {
  const distinct = values.filter(
    (value) => value.length >= SHORTEST_KNOWN && !/^(?:\p{Ll}+|\p{Lu}+|\d+)$/u.test(value),
  );
  const written = distinct.flatMap((value) => [value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value)]);
  return [...new Set(written)].sort((a, b) => b.length - a.length);
}

export function hideKnown(text: string, known: readonly string[]): string {
  return known.reduce((hidden, value) => hidden.replaceAll(value, HIDDEN), text);
}
