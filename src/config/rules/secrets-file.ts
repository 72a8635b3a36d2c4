import { shell } from '../../text/shell-word.ts';
import type { ConfigFile } from '../config-file.ts';
import type { KeyProblem } from '../problems/key-problem.ts';
import { childShape, type Shape } from '../schema/shape.ts';
import { IN_KEYCHAIN } from '../secrets/keychain.ts';
import { isTree } from '../tree.ts';

export function othersCannotRead({ source, mode, path }: ConfigFile, shape: Shape): KeyProblem[] {
  if (mode === null || (mode & 0o044) === 0 || !holdsSecret(source.tree, shape)) return [];
  return [
    {
      path: [],
      severity: 'warning',
      code: 'file_readable_by_others',
      message: `the file contains secrets, and others can read it (mode ${mode.toString(8).padStart(4, '0')})`,
      hint: shell`chmod 600 ${path}`,
    },
  ];
}

function holdsSecret(value: unknown, shape: Shape | null): boolean {
  if (shape?.kind === 'value') return shape.traits.secret === true && typeof value === 'string' && isPlainSecret(value);
  return isTree(value) && Object.entries(value).some(([key, child]) => holdsSecret(child, childShape(shape, key)));
}

/** A URL counts as a secret only with a plain password; the word keychain does not. */
function isPlainSecret(value: string): boolean {
  const userinfo = /:\/\/([^/?#]*)@/.exec(value)?.[1];
  if (value === IN_KEYCHAIN) return false;
  const secret = value.includes('://') || value.includes('{{') ? /:(.*)/s.exec(userinfo ?? '')?.[1] : value;
  return secret !== undefined && secret !== '' && !secret.startsWith('$aes$') && !/^\{\{.*\}\}$/.test(secret);
}
