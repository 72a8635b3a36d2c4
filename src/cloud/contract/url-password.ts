/** Keys of a target that hold connection URLs. */
export const URL_KEYS = [
  'snapshot.src_url',
  'snapshot.dst_url',
  'sanitize.dst_url',
  'subset.src_url',
  'subset.dst_url',
] as const;

const SECRET_PARAMETERS = /^(password|passwd|pass|sslpassword|passfile)$/i;

/**
 * A connection URL without the password that stands in it. A template is not a password: the builder fills it in.
 * Ambiguous text counts as a password.
 */
export function withoutPassword(url: string): string {
  const [, scheme = '', rest = ''] = /^([a-z][a-z0-9+.-]*:\/\/)?([\s\S]*)$/i.exec(url) ?? [];
  const [address = '', ...queries] = rest.split('?');
  const at = address.lastIndexOf('@');
  const user = address.slice(0, Math.max(at, 0));
  const [name = '', ...password] = user.split(':');
  const kept = password.length === 0 || isTemplate(password.join(':')) ? user : name;
  const query = queries
    .join('?')
    .split('&')
    .filter((part) => !isSecretParameter(part));
  const asked = queries.length > 0 && query.join('&') !== '' ? `?${query.join('&')}` : '';
  return `${scheme}${at < 0 ? '' : `${kept}@`}${address.slice(at + 1)}${asked}`;
}

function isSecretParameter(part: string): boolean {
  const [name = '', ...value] = part.split('=');
  return SECRET_PARAMETERS.test(decoded(name)) && !isTemplate(value.join('='));
}

function isTemplate(text: string): boolean {
  return /^\{\{\s*`\w+`\s*\|\s*env\s*\}\}$/.test(text);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
