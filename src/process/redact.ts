const HIDDEN = '***';

/** What is a secret by its form, whatever stands around it; the first group is kept. */
const BY_FORM: RegExp[] = [
  // The password of a URL; it and the user's name may hold `@`, so all up to the last `@` before a slash or space goes.
  /(\b[a-z][a-z0-9+.-]*:\/\/[^\s:/]*:)[^\s/]*(?=@)/gi,
  // The parameters of a URL.
  /([?&]\w*(?:password|passwd|pwd|token|secret|scram_client_key|scram_server_key)\w*=)[^\s&#]+/gi,
  // In SQL: CREATE ROLE … PASSWORD '…', CREATE USER MAPPING … OPTIONS (password '…').
  /(\bpassword\s+)(?:E'(?:[^'\\]|\\.|'')*'|'(?:[^']|'')*'|(\$\w*\$).*?\2)/gis,
  /(\$aes\$)[0-9a-f]+/gi,
  // A token in a header.
  /(\bbearer\s+)[\w.~+/-]{16,}=*/gi,
  // A JSON Web Token, which begins with an object in base64.
  /()\beyJ[\w-]{5,}\.[\w-]+\.[\w-]*/g,
];

/**
 * What is a secret by its name, whatever it is part of (PGPASSWORD, aws_secret_access_key): in environments, JSON and
 * configurations. A hint's own `PASSWORD=…` stays, and a server's `using password: YES`.
 */
const BY_NAME =
  /(\b\w*(?:password|passwd|pwd|secret_key|access_key|authtoken|access_token|refresh_token|id_token|client_secret|scram_client_key|scram_server_key)["']?\s*[=:]\s*)(?!…(?:\s|$)|(?:YES|NO)\))(?:'(?:[^']|'')*'|"[^"]*"|[^\s&,;]+)/gi;

/**
 * The text without passwords, tokens and keys: for everything that came from a tool, a server, a file or the
 * environment, of which nobody knows what it is.
 */
export function redact(text: string): string {
  return hideForms(text, [...BY_FORM.slice(0, 1), BY_NAME, ...BY_FORM.slice(1)]);
}

/**
 * The same for text that the program writes itself, such as SQL, plans and results: `password = md5(id)` is no secret
 * there. Secrets that are known by their value are hidden by `hideKnown`.
 */
export function redactOwn(text: string): string {
  return hideForms(text, BY_FORM);
}

function hideForms(text: string, patterns: RegExp[]): string {
  return patterns.reduce((redacted, pattern) => redacted.replace(pattern, `$1${HIDDEN}`), text);
}

const SHORTEST_KNOWN = 6;

/**
 * The values that can be told from other words, in every way in which they are written: as they are, in JSON, in a URL.
 * A short value, or one of small letters only, may be any word: `postgres` would hide the names of everything.
 */
export function knownSecrets(values: readonly string[]): string[] {
  const distinct = values.filter(
    (value) => value.length >= SHORTEST_KNOWN && !/^(?:\p{Ll}+|\p{Lu}+|\d+)$/u.test(value),
  );
  const written = distinct.flatMap((value) => [value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value)]);
  return [...new Set(written)].sort((a, b) => b.length - a.length);
}

/** The text without the values that are known to be secrets. */
export function hideKnown(text: string, known: readonly string[]): string {
  return known.reduce((hidden, value) => hidden.replaceAll(value, HIDDEN), text);
}
