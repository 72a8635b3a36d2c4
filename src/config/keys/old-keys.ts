import type { KeyPath } from '../tree.ts';

/** Keys of DBSnapper whose place no rule of unknown keys finds, with their place here, below the name. */
const OLD_KEYS: Record<string, string> = {
  'storage_profiles.*.type': 'provider',
  'targets.*.src_url': 'snapshot.src_url',
  'targets.*.dst_url': 'snapshot.dst_url',
  'targets.*.snapshot.storage_profile': 'storage_profile',
};

export function replacementOf([section, name, ...rest]: KeyPath): string | null {
  const known = OLD_KEYS[[section, '*', ...rest].join('.')];
  return known === undefined ? null : `${section}.${name}.${known}`;
}
