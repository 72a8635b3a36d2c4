import { isTree, type KeyPath, type Tree } from '../tree.ts';

/** Why a key of DBSnapper's configuration is left out. */
export type OmissionReason = keyof typeof LEFT_OUT;

const LEFT_OUT = {
  cloud: ['authtoken', 'env', 'override.nocloud'],
  /** Its snapshots have another format. */
  working_directory: ['working_directory', 'defaults.working_directory'],
  /** The client programs of PATH are used. */
  client_programs: ['database_tools'],
  /** No key corresponds to it. */
  unknown: ['feature_flags'],
  empty: [],
} as const;

const NAMED = new Set<string>(Object.values(LEFT_OUT).flatMap((keys) => [...keys]));

/** The keys that have no place here, empty values included: DBSnapper writes some of its keys as empty text. */
export function keysToLeaveOut(tree: Tree): { path: KeyPath; reason: OmissionReason }[] {
  return [...named(tree), ...emptyValues(tree, [])];
}

function named(tree: Tree): { path: KeyPath; reason: OmissionReason }[] {
  return Object.entries(LEFT_OUT).flatMap(([reason, keys]) =>
    keys
      .map((key) => key.split('.'))
      .filter((path) => hasKey(tree, path))
      .map((path) => ({ path, reason: reason as OmissionReason })),
  );
}

function hasKey(tree: Tree, [key = '', ...rest]: string[]): boolean {
  const value = tree[key];
  return value !== undefined && (rest.length === 0 || (isTree(value) && hasKey(value, rest)));
}

function emptyValues(tree: Tree, above: KeyPath): { path: KeyPath; reason: OmissionReason }[] {
  return Object.entries(tree).flatMap(([key, value]) => {
    const path = [...above, key];
    if (isTree(value)) return emptyValues(value, path);
    return value === '' && !NAMED.has(path.join('.')) ? [{ path, reason: 'empty' as const }] : [];
  });
}
