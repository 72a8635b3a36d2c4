const HIDDEN = '***';

/** Characters of a text from outside that are shown: most of its beginning, and its last lines. */
const LONGEST = 32 * 1024;
const LONGEST_END = 8 * 1024;

type Form = [pattern: RegExp, replacement: (...groups: string[]) => string];

const masked = (_: string, before: string): string => `${before}${HIDDEN}`;

/**
 * Each takes a time that is linear in the length of the text: a match begins at one position of a word only, and a
 * quotation without an end is masked to the end of the text.
 */
const OF_URL: Form = [
  // Password and user name of a URL may contain `@`: masked up to the last `@` before a slash or space.
  /([a-z0-9+.-]:\/\/[^\s:/]*:)[^\s/]*(?=@)/gi,
  masked,
];

const BY_FORM: Form[] = [
  // The name is searched backwards from its =, once.
  [/([?&]\w+=)(?<=(?:password|passwd|pwd|token|secret|scram_client_key|scram_server_key)\w*=)[^\s&#]+/gi, masked],
  // CREATE ROLE … PASSWORD '…', CREATE USER MAPPING … OPTIONS (password '…'), and within a text PASSWORD ''…''.
  [
    /(\bpassword(?:\s+|\s*\(\s*))(?:''(?=[^'\s;,)])[^']*(?:'+|$)|(?:U&|N)?'[^']*(?:''[^']*)*(?:'|$)|E'[^'\\]*(?:(?:\\.|'')[^'\\]*)*(?:'|\\?$)|(\$\w*\$)(?:.*?\2|.*))/gis,
    masked,
  ],
  // CREATE USER … IDENTIFIED WITH plugin BY '…', of MySQL.
  [
    /(\bidentified\s+(?:(?:with|via)\s+\S+\s+)?(?:by|as|using)\s+)(?:'[^'\\]*(?:(?:\\.|'')[^'\\]*)*(?:'|\\?$)|"[^"\\]*(?:(?:\\.|"")[^"\\]*)*(?:"|\\?$))/gis,
    masked,
  ],
  [/(\$aes\$)[0-9a-f]+/gi, masked],
  [/(\bbearer\s+)[\w.~+/-]{16,}=*/gi, masked],
  // A JSON Web Token begins with an object in base64; the first of a word only is tried.
  [/(?<![\w-])((?:(?!\beyJ)[\w-])*)\beyJ[\w-]{5,}\.[\w-]+\.[\w-]*/g, masked],
];

/**
 * Secrets by name, also as part of a word (PGPASSWORD, aws_secret_access_key): in environments, JSON and
 * configurations. A hint's own `PASSWORD=…` stays, and a server's `using password: YES`.
 */
const BY_NAME: Form = [
  /(\b\w*(?:password|passwd|pwd|secret_key|access_key|authtoken|access_token|refresh_token|id_token|client_secret|scram_client_key|scram_server_key)["']?\s*[=:]\s*)(?!…(?:\s|$)|(?:YES|NO)\))(?:'[^']*(?:''[^']*)*'|"[^"]*"|[^\s&,;]+)/gi,
  masked,
];

/** Settings whose name tells a secret: `SET a.api_token = '…'`, `SET @secret := "…"`, `set_config('a.api_key', '…', false)`. */
const OF_SETTING: Form = [
  /(\bset(?:\s{1,99}(?:session|local|global))?\s{1,99}[\w.@"`]{0,99}(?:token|secret|passw|api_?key|credential)[\w.@"`]{0,99}\s{0,99}(?::?=|to\b)\s{0,99}|\bset_config\s{0,99}\(\s{0,99}'[\w.]{0,99}(?:token|secret|passw|api_?key|credential)[\w.]{0,99}'\s{0,99},\s{0,99})(?:[EN]?'[^'\\]*(?:(?:\\.|'')[^'\\]*)*(?:'|\\?$)|"[^"]*(?:"|$)|(\$\w*\$)(?:.*?\2|.*)|[^\s;,()]+)/gis,
  masked,
];

/** Masks passwords, tokens and keys in text from a tool, a server, a file or the environment, and cuts a long one. */
export function redact(text: string): string {
  return cut(hideForms(text, [OF_URL, OF_SETTING, BY_NAME, ...BY_FORM]));
}

/**
 * For the program's own text, such as SQL, plans and results: `password = md5(id)` is no secret there. `hideKnown`
 * masks known values.
 */
export function redactOwn(text: string): string {
  return hideForms(text, [OF_URL, ...BY_FORM]);
}

function hideForms(text: string, forms: Form[]): string {
  return forms.reduce((redacted, [pattern, replaced]) => redacted.replace(pattern, replaced), text);
}

function cut(text: string): string {
  if (text.length <= LONGEST) return text;
  const at = text.indexOf('\n', text.length - LONGEST_END);
  const end = at === -1 ? '' : text.slice(at);
  return `${text.slice(0, LONGEST - end.length)}…${end}`;
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
