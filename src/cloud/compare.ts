import { isDeepStrictEqual } from 'node:util';
import { createTree, isTree, setValue } from '../config/tree.ts';
import type { KeyChange } from '../results/cloud-results.ts';
import { fingerprint } from './contract/fingerprint.ts';
import type { Fingerprints } from './contract/resources.ts';

/** Leaves of settings by dotted key; a list is one leaf. */
export type Leaves = Map<string, unknown>;

export interface TargetComparison {
  changes: KeyChange[];
  /** State of the hub after the changes. */
  desired: Leaves;
}

/** A secret as plans show it. */
const HIDDEN = '(secret)';

export interface ComparedSides {
  /** Values of the file in the form that the hub shows. */
  file: Leaves;
  /** Whole values of the file that the hub shows only in part, or not at all. */
  fileSecrets: Record<string, string>;
  hub: Leaves;
  hubSecrets: Fingerprints;
  /** Values that the last apply wrote; `null` when there was none. */
  applied: Leaves | null;
}

/**
 * Compares three ways. Keys of the file are written. Keys of the last apply that the file lacks are removed.
 * Keys in neither were set on the hub by other users, and stay.
 */
export function compareTarget({ file, fileSecrets, hub, hubSecrets, applied }: ComparedSides): TargetComparison {
  const desired: Leaves = new Map(hub);
  const changes: KeyChange[] = [];
  for (const key of [...new Set([...file.keys(), ...Object.keys(fileSecrets), ...hub.keys()])].sort()) {
    const [mine, theirs] = [file.get(key), hub.get(key)];
    const overwrites = applied !== null && hub.has(key) && !isDeepStrictEqual(applied.get(key), theirs);
    const secret = fileSecrets[key];
    if (file.has(key) || secret !== undefined) {
      const isSecretEqual = secret === undefined || isSealed(secret, hubSecrets[key]);
      const isEqual = isDeepStrictEqual(mine, theirs) && isSecretEqual;
      if (secret !== undefined && !isSecretEqual) desired.set(key, secret);
      else if (mine !== undefined) desired.set(key, mine);
      if (isEqual) continue;
      const shown = (value: unknown, isHidden: boolean): unknown => value ?? (isHidden ? HIDDEN : null);
      const after = isDeepStrictEqual(mine, theirs) ? HIDDEN : shown(mine, secret !== undefined);
      changes.push({ key, before: shown(theirs, hubSecrets[key] !== undefined), after, overwrites });
    } else if (applied?.has(key)) {
      desired.delete(key);
      changes.push({ key, before: theirs, after: null, overwrites });
    }
  }
  return { changes, desired };
}

function isSealed(value: string, sealed: Fingerprints[string] | undefined): boolean {
  return sealed !== undefined && fingerprint(value, sealed.salt) === sealed.digest;
}

export function leavesOf(settings: object, before = ''): Leaves {
  const leaves: Leaves = new Map();
  for (const [name, value] of Object.entries(settings)) {
    const key = `${before}${name}`;
    if (isTree(value)) {
      for (const [inner, leaf] of leavesOf(value, `${key}.`)) leaves.set(inner, leaf);
    } else leaves.set(key, value);
  }
  return leaves;
}

/** Objects without a prototype: a key of the hub may be `__proto__`. */
export function settingsOf(leaves: Leaves): Record<string, unknown> {
  const settings = createTree();
  for (const [key, value] of leaves) setValue(settings, key.split('.'), value);
  return settings;
}
