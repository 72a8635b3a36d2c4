import * as v from 'valibot';
import type { Configuration } from '../configuration.ts';
import type { Settings } from '../schema/settings.ts';
import { targetSchema } from '../schema/target.ts';
import { name as nameSchema } from '../schema/values.ts';
import { createTree, isTree, type Tree } from '../tree.ts';
import { invalidName } from './invalid-name.ts';
import type { KeyProblem } from './key-problem.ts';

export interface MisnamedTargets {
  targets: Settings['targets'];
  problems: KeyProblem[];
}

/**
 * Takes targets with an invalid name out of the tree, so that they do not hold up the others. No command acts on them,
 * but the guard still knows their sources. One that is invalid in another way as well stays, and is an error for all.
 */
export function takeMisnamedTargets(tree: Tree): MisnamedTargets {
  const taken: MisnamedTargets = { targets: createTree() as Settings['targets'], problems: [] };
  if (!isTree(tree.targets)) return taken;
  for (const [name, target] of Object.entries(tree.targets)) {
    const named = v.safeParse(nameSchema, name);
    const parsed = named.success ? null : v.safeParse(targetSchema, target);
    if (!parsed?.success) continue;
    taken.targets[name] = parsed.output;
    delete tree.targets[name];
    taken.problems.push(invalidName(['targets', name], named.issues?.[0]?.message));
  }
  return taken;
}

/** The settings with the targets that no command acts on: for what must know every source and every password. */
export function settingsWithMisnamed({ settings, misnamed }: Configuration): Settings {
  return misnamed === undefined ? settings : { ...settings, targets: { ...settings.targets, ...misnamed } };
}
