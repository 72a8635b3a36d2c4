import { decode, isAmbiguousUrl, isPublicParameter } from '../../engines/url-parameters.ts';

/** Keys of a target that hold connection URLs. */
export const URL_KEYS = [
  'snapshot.src_url',
  'snapshot.dst_url',
  'sanitize.dst_url',
  'subset.src_url',
  'subset.dst_url',
] as const;

/**
 * A connection URL without the password that stands in it. A template is not a password: the builder fills it in.
 * Ambiguous text counts as a password.
 */
export function withoutPassword(url: string): string {
  const [, scheme = '', rest = ''] = /^([a-z][a-z0-9+.-]*:\/\/)?([\s\S]*)$/i.exec(url) ?? [];
  const [address = '', ...queries] = rest.split('?');
  // The password is not closed before the ?, so nothing after its name is known to be public.
  if (queries.length > 0 && !address.includes('@') && isAmbiguousUrl(url)) return scheme + address.replace(/:.*$/s, '');
  const at = address.lastIndexOf('@');
  const user = address.slice(0, Math.max(at, 0));
  const [name = '', ...password] = user.split(':');
  const kept = password.length === 0 || isTemplate(password.join(':')) ? user : name;
  const query = queries.join('?').split('&').filter(isPublic);
  const asked = queries.length > 0 && query.join('&') !== '' ? `?${query.join('&')}` : '';
  return `${scheme}${at < 0 ? '' : `${kept}@`}${address.slice(at + 1)}${asked}`;
}

function isPublic(parameter: string): boolean {
  const [name = '', ...value] = parameter.split('=');
  return isPublicParameter(decode(name) ?? name) || isTemplate(value.length === 0 ? name : value.join('='));
}

function isTemplate(text: string): boolean {
  return /^\{\{\s*`\w+`\s*\|\s*env\s*\}\}$/.test(text);
}
