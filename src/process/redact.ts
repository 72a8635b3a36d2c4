const HIDDEN = '***';

/** What looks like a secret in free text, most specific first; the first group is kept. */
const SECRETS: RegExp[] = [
  // The password of a URL; it may itself hold `@`, so everything up to the last `@` before a slash or space goes.
  /(\b[a-z][a-z0-9+.-]*:\/\/[^\s:/@]*:)[^\s/]*(?=@)/gi,
  // By name, whatever it is part of (PGPASSWORD, aws_secret_access_key): in URLs, environments, JSON and configurations.
  // A hint's own `PASSWORD=…` stays.
  /(\b\w*(?:password|passwd|pwd|secret_key|access_key|authtoken|access_token|refresh_token|id_token|client_secret|scram_client_key|scram_server_key)["']?\s*[=:]\s*)(?!…(?:\s|$))(?:'(?:[^']|'')*'|"[^"]*"|[^\s&,;]+)/gi,
  // In SQL: CREATE ROLE … PASSWORD '…', CREATE USER MAPPING … OPTIONS (password '…').
  /(\bpassword\s+)(?:E'(?:[^'\\]|\\.|'')*'|'(?:[^']|'')*'|(\$\w*\$).*?\2)/gis,
  /(\$aes\$)[0-9a-f]+/gi,
  // A token in a header.
  /(\bbearer\s+)[\w.~+/-]{16,}=*/gi,
  // A JSON Web Token, which begins with an object in base64.
  /()\beyJ[\w-]{5,}\.[\w-]+\.[\w-]*/g,
];

/** The text without passwords, tokens and keys: for everything that came from a tool, a server or a URL. */
export function redact(text: string): string {
  return SECRETS.reduce((redacted, pattern) => redacted.replace(pattern, `$1${HIDDEN}`), text);
}
