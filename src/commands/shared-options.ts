import type { ArgumentSpec, OptionSpec } from '../cli/command.ts';

/** Arguments and flags that several commands take. */
export const TARGET: ArgumentSpec = {
  name: 'target',
  description: 'name of a target in the configuration',
  required: true,
  complete: 'target',
};

export const SNAPSHOT: ArgumentSpec = {
  name: 'snapshot',
  description: 'index (0 is the newest), latest, or id of a snapshot; default 0',
  required: false,
  complete: 'snapshot',
};

export const CPUS: OptionSpec = {
  flags: '--cpus <n>',
  description: "parallel workers; default: the target's cpus, defaults.cpus, or half the cores",
  value: 'count',
};

export const DRY_RUN: OptionSpec = { flags: '--dry-run', description: 'print the plan, change nothing' };

export const UNVERIFIED_SOURCES: OptionSpec = {
  flags: '--unverified-sources',
  description: 'go on although a source that cannot be identified may be the destination',
};

export const ORIGINAL: OptionSpec = {
  flags: '-o, --original',
  description: 'take the original where a sanitized snapshot would be taken',
};

export const ALLOW_UNTRUSTED: OptionSpec = {
  flags: '--allow-untrusted',
  description: 'take a snapshot that no key of trusted_keys has signed, this once',
};
