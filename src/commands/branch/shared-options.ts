import type { ArgumentSpec, OptionSpec } from '../../cli/command.ts';

export const BRANCH = {
  name: 'name',
  description: 'name of the branch',
  required: true,
} as const satisfies ArgumentSpec;

export const UNPROTECT = {
  flags: '--unprotect',
  description: 'also if the branch is protected',
} as const satisfies OptionSpec;

export const MAIN = {
  flags: '--main <name>',
  description: "git branch that uses the database from before the first switch; default: the remote's default branch",
} as const satisfies OptionSpec;
