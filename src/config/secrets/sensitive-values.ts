import type { Shape } from '../schema/shape.ts';
import { isTree, type KeyPath, type Tree } from '../tree.ts';
import { ENCRYPTED, encrypt } from './cipher.ts';

/** Every text in a tree with its key, whether the schema takes it for a secret or not. */
export interface TextValue {
  path: KeyPath;
  text: string;
  secret: boolean;
}

/** The texts that the file holds; `secret_key` is none of them, since it opens all others. */
export function textsOf(tree: Tree, root: Shape): TextValue[] {
  function texts(value: unknown, shape: Shape | undefined, path: KeyPath): TextValue[] {
    if (typeof value === 'string') return [{ path, text: value, secret: shape?.traits.secret === true }];
    if (Array.isArray(value)) {
      return value.flatMap((item, index) =>
        texts(item, shape?.kind === 'list' ? shape.of : undefined, [...path, index]),
      );
    }
    if (!isTree(value)) return [];
    return Object.entries(value).flatMap(([key, child]) => {
      const known = shape?.kind === 'object' ? shape.keys.get(key) : shape?.kind === 'map' ? shape.of : undefined;
      return texts(child, known, [...path, key]);
    });
  }
  return texts(tree, root, []).filter(({ path }) => path.length > 1 || path[0] !== 'secret_key');
}

/** The text encrypted, of a URL only the password in it; `null` when there is nothing plain to encrypt. */
export function encryptText(text: string, secretKey: string): string | null {
  if (text === '' || text.startsWith(ENCRYPTED)) return null;
  if (!text.includes('://')) return text.includes('{{') ? null : encrypt(text, secretKey);
  const encrypted = text
    .replace(/(:\/\/[^/?#:@]*:)([^/?#]*)(?=@)/, hideWith(secretKey))
    .replace(/([?&]password=)([^&#]*)/i, hideWith(secretKey));
  return encrypted === text ? null : encrypted;
}

function hideWith(secretKey: string) {
  return (whole: string, before: string, password: string): string => {
    if (password === '' || password.includes('{{') || password.includes(ENCRYPTED)) return whole;
    return before + encrypt(decoded(password), secretKey);
  };
}

/** The password itself; a lone % stands for itself. */
function decoded(password: string): string {
  try {
    return decodeURIComponent(password);
  } catch {
    return password;
  }
}
