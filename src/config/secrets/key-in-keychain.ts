import type { KeyProblem, Origins } from '../problems/key-problem.ts';
import type { Tree } from '../tree.ts';
import { IN_KEYCHAIN, readFromKeychain } from './keychain.ts';

export async function takeFromKeychain(tree: Tree, { file }: Origins): Promise<KeyProblem[]> {
  if (tree.secret_key !== IN_KEYCHAIN) return [];
  if (file === null) return [unavailable('there is no configuration file to know it by')];
  try {
    const key = await readFromKeychain(file);
    if (key === null) return [unavailable(`it has no key for ${file}`)];
    tree.secret_key = key;
    return [];
  } catch (error) {
    return [unavailable((error as Error).message)];
  }
}

function unavailable(reason: string): KeyProblem {
  return {
    path: ['secret_key'],
    code: 'keychain_unavailable',
    message: `cannot read secret_key from the keychain: ${reason}`,
    hint: 'Set the variable TOOL_SECRET_KEY, or write the key into the file.',
  };
}
