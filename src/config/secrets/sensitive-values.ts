import { SECRET_PARAMETERS } from '../../engines/url-parameters.ts';
import type { EncryptResult } from '../../results/configuration/configuration-results.ts';
import { childShape, type Shape } from '../schema/shape.ts';
import { isTree, type KeyPath, type Tree } from '../tree.ts';
import { ENCRYPTED, encrypt } from './cipher.ts';

export interface TextValue {
  path: KeyPath;
  text: string;
  secret: boolean;
  template: boolean;
}

/** All texts of the file except `secret_key`, which decrypts the others. */
export function textsOf(tree: Tree, root: Shape): TextValue[] {
  function texts(value: unknown, shape: Shape | null, path: KeyPath): TextValue[] {
    if (typeof value === 'string') {
      const { secret = false, template = false } = shape?.traits ?? {};
      return [{ path, text: value, secret, template }];
    }
    const inside = (part: string | number, child: unknown) => texts(child, childShape(shape, part), [...path, part]);
    if (Array.isArray(value)) return value.flatMap((item, index) => inside(index, item));
    return isTree(value) ? Object.entries(value).flatMap(([key, child]) => inside(key, child)) : [];
  }
  return texts(tree, root, []).filter(({ path }) => path.length > 1 || path[0] !== 'secret_key');
}

/** Encrypts the text, or only the password of a URL; or returns why there is nothing to encrypt. */
export function encryptText(
  { text, template }: TextValue,
  secretKey: string,
): { encrypted: string } | { skipped: EncryptResult['skipped'][number]['reason'] } {
  if (text.startsWith(ENCRYPTED)) return { skipped: 'encrypted' };
  const isUrl = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) || (template && text.includes('{{'));
  if (!isUrl) return text === '' ? { skipped: 'no_password' } : { encrypted: encrypt(text, secretKey) };
  const encrypted = replacePasswords(text, (password) => encrypt(urlText(password), secretKey));
  if (encrypted !== text) return { encrypted };
  const isTemplate = template && text.includes('{{');
  return { skipped: text.includes(ENCRYPTED) ? 'encrypted' : isTemplate ? 'template' : 'no_password' };
}

const PASSWORDS = [
  /(:\/\/[^/?#:@]*:)([^/?#]*)(?=@)/,
  ...SECRET_PARAMETERS.map((name) => new RegExp(`([?&]${name}=)([^&#]*)`, 'i')),
];

export function replacePasswords(url: string, replace: (password: string) => string): string {
  const replaced = (whole: string, before: string, password: string): string => {
    if (password === '' || password.includes('{{') || password.includes(ENCRYPTED)) return whole;
    return before + replace(password);
  };
  return PASSWORDS.reduce((text, pattern) => text.replace(pattern, replaced), url);
}

/**
 * Returns the password as in the URL, for an exact round trip. An invalid character is encoded: otherwise the whole
 * value would count as plain text after decryption.
 */
function urlText(password: string): string {
  return password.replace(/%(?![0-9a-fA-F]{2})|[^A-Za-z0-9_.~!$'()*,;=%-]/gu, encodeURIComponent);
}
