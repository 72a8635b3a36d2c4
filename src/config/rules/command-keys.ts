import type { Draft } from '../problems/check-values.ts';
import type { KeyProblem } from '../problems/key-problem.ts';
import { COMMAND_IDS, type ConfiguredKeys, keysOfCommand, mayShareKey } from '../schema/default-keys.ts';

/** A key of two commands would do what the screen happens to list first. */
export function* commandKeysDiffer({ keys = {} }: Draft): Generator<KeyProblem> {
  const configured: ConfiguredKeys = keys;
  for (const id of COMMAND_IDS) {
    const key = configured[id];
    if (key === undefined) continue;
    const other = COMMAND_IDS.find(
      (one) => one !== id && !mayShareKey(one, id) && keysOfCommand(one, configured).includes(key),
    );
    if (other === undefined) continue;
    yield {
      path: ['keys', id],
      code: 'doubled_key',
      message: { says: `is '${key}', which is also the key of ${other}` },
      hint: `Choose another key, or set keys.${other} to another one as well.`,
    };
  }
}
