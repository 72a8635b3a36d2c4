import * as v from 'valibot';
import type { Traits } from '../schema/traits.ts';
import { name } from '../schema/values.ts';
import type { KeyPath } from '../tree.ts';
import type { KeyProblem } from './key-problem.ts';

export function invalidName(path: KeyPath, why: string | undefined): KeyProblem {
  const { hint = null } = v.getMetadata(name) as Traits;
  return { path, code: 'invalid_name', at: 'key', message: { says: `is not a valid name: it ${why}` }, hint };
}
