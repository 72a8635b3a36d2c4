import type { ArgumentSpec, OptionSpec } from '../cli/command.ts';
import type { SnapshotRequest } from '../operations/snapshots/snapshots.ts';
import type { SnapshotLocation } from '../results/results.ts';
import { toSelector } from '../text/snapshot-selector.ts';
import { excludeEachOther } from './wrong-usage.ts';

export const TARGET = {
  name: 'target',
  description: 'name of a target; default: the only one',
  required: true,
  complete: 'target',
} as const satisfies ArgumentSpec;

export const SNAPSHOT = {
  name: 'snapshot',
  description: 'index (0 is the newest), latest, or id; or TARGET@GIT-BRANCH, TARGET#TAG, TARGET+MIGRATION; default 0',
  required: false,
  complete: 'snapshot',
} as const satisfies ArgumentSpec;

export const REQUIRED_SNAPSHOT = {
  ...SNAPSHOT,
  description: 'index (0 is the newest), latest, or id; or TARGET@GIT-BRANCH, TARGET#TAG, TARGET+MIGRATION',
  required: true,
} as const satisfies ArgumentSpec;

export const CPUS = {
  flags: '--cpus <n>',
  description: 'CPU cores to use; default: cpus of the configuration, or half the cores',
  value: 'count',
} as const satisfies OptionSpec;

export const BRANCH_INSTEAD = {
  flags: '--branch <name>',
  description: 'a branch instead',
} as const satisfies OptionSpec;

export const DESTDB = {
  flags: '--destdb <url>',
  description: 'URL of the destination, if the load had --destdb',
} as const satisfies OptionSpec;

export const DRY_RUN = {
  flags: '--dry-run',
  description: 'print the plan, change nothing',
} as const satisfies OptionSpec;

export const NO_AUTOSAVE = {
  flags: '--no-autosave',
  description: 'make no automatic save',
} as const satisfies OptionSpec;

export const ORIGINAL = {
  flags: '-o, --original',
  description: 'use the original snapshot instead of the sanitized one',
} as const satisfies OptionSpec;

export const ALLOW_UNTRUSTED = {
  flags: '--allow-untrusted',
  description: 'accept a snapshot without a signature by one of trusted_keys',
} as const satisfies OptionSpec;

export const ALLOW_SUPERUSER = {
  flags: '--allow-superuser',
  description: 'restore, and run the query, as the user of the URL, not as a restricted temporary user',
} as const satisfies OptionSpec;

export const NO_PUSH = {
  flags: '--no-push',
  description: 'do not push, even if a storage_profile is set',
} as const satisfies OptionSpec;

export const PROVIDER = {
  name: 'provider',
  description: 'identity provider of sso; required where there are several',
  required: false,
  complete: 'provider',
} as const satisfies ArgumentSpec;

export const PLACES = [
  { flags: '--local', description: 'remove from this machine only' },
  { flags: '--remote', description: 'remove from the bucket only' },
] as const satisfies OptionSpec[];

export function snapshotRequest({
  arguments: { target, snapshot },
  options: { original } = {},
}: {
  arguments: { target: string; snapshot?: string };
  options?: { original?: boolean };
}): SnapshotRequest {
  return {
    target,
    ...(snapshot !== undefined && { snapshot: toSelector(snapshot) }),
    ...(original && { original }),
  };
}

export function placeOf({ local, remote }: { local?: boolean; remote?: boolean }): { from?: SnapshotLocation } {
  if (local && remote) {
    throw excludeEachOther('--local', '--remote', 'Leave both out to select both.');
  }
  if (local) return { from: 'local' };
  return remote ? { from: 'remote' } : {};
}
