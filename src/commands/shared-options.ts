import type { ArgumentSpec, OptionSpec } from '../cli/command.ts';
import type { SnapshotRequest, SnapshotSelector } from '../operations/snapshots/snapshots.ts';
import type { SnapshotLocation } from '../results/results.ts';
import { EXIT, UserError } from '../runtime/errors.ts';

export const TARGET = {
  name: 'target',
  description: 'name of a target in the configuration',
  required: true,
  complete: 'target',
} as const satisfies ArgumentSpec;

export const SNAPSHOT = {
  name: 'snapshot',
  description: 'index (0 is the newest), latest, or id of a snapshot; default 0',
  required: false,
  complete: 'snapshot',
} as const satisfies ArgumentSpec;

export const CPUS = {
  flags: '--cpus <n>',
  description: "parallel workers; default: the target's cpus, defaults.cpus, or half the cores",
  value: 'count',
} as const satisfies OptionSpec;

export const DRY_RUN = {
  flags: '--dry-run',
  description: 'print the plan, change nothing',
} as const satisfies OptionSpec;

export const UNVERIFIED_SOURCES = {
  flags: '--unverified-sources',
  description: 'go on although a source that cannot be identified may be the destination',
} as const satisfies OptionSpec;

export const ORIGINAL = {
  flags: '-o, --original',
  description: 'take the original where a sanitized snapshot would be taken',
} as const satisfies OptionSpec;

export const BUILT_AT = [
  { flags: '--branch <name>', description: 'only snapshots that were built on this git branch' },
  { flags: '--migration <name>', description: 'only snapshots in which this migration is applied' },
  { flags: '--tag <tag>', description: 'only snapshots with this tag' },
] as const satisfies OptionSpec[];

export const ALLOW_UNTRUSTED = {
  flags: '--allow-untrusted',
  description: 'accept a snapshot without a signature by one of trusted_keys, this once',
} as const satisfies OptionSpec;

export const PROVIDER = {
  name: 'provider',
  description: 'an identity provider of the configuration, below sso; needed where there are several',
  required: false,
  complete: 'provider',
} as const satisfies ArgumentSpec;

export const PLACES = [
  { flags: '--local', description: 'on this machine only' },
  { flags: '--remote', description: 'in the bucket only' },
] as const satisfies OptionSpec[];

/** Up to five digits are an index, `latest` is the newest; any other word is an id, which may consist of digits too. */
export function toSelector(word: string): SnapshotSelector {
  if (word === 'latest') return 0;
  return /^\d{1,5}$/.test(word) ? Number(word) : word;
}

export function snapshotRequest({
  arguments: { target, snapshot },
  options: { original },
}: {
  arguments: { target: string; snapshot?: string };
  options: { original?: boolean };
}): SnapshotRequest {
  return {
    target,
    ...(snapshot !== undefined && { snapshot: toSelector(snapshot) }),
    ...(original && { original }),
  };
}

export function placeOf({ local, remote }: { local?: boolean; remote?: boolean }): { from?: SnapshotLocation } {
  if (local && remote) {
    throw new UserError('--local and --remote exclude each other', {
      code: 'usage',
      exit: EXIT.usage,
      hint: 'Leave both out to select both.',
    });
  }
  if (local) return { from: 'local' };
  return remote ? { from: 'remote' } : {};
}

/** What a build without some schemas may lack. */
export const INCLUDE_NEEDED_SCHEMAS = {
  flags: '--include-needed-schemas',
  description: 'also take schemas that tables of the chosen ones need for their columns',
} as const satisfies OptionSpec;

/** A command builds only with another flag. */
export function needsBuild(command: string, flag: string): UserError {
  return new UserError(`--include-needed-schemas requires ${flag}`, {
    code: 'flag_needs_flag',
    exit: EXIT.usage,
    hint: `tool ${command} TARGET ${flag} --include-needed-schemas`,
  });
}
