import type { ArgumentSpec, OptionSpec } from '../../cli/command.ts';

export const BRANCH = {
  name: 'name',
  description: 'name of the branch',
  required: true,
} as const satisfies ArgumentSpec;

export const DESTDB = {
  flags: '--destdb <url>',
  description: 'destination URL, if loaded with --destdb',
} as const satisfies OptionSpec;

export const MAIN = {
  flags: '--main <name>',
  description: "git branch of the original destination (before the first switch); default: the remote's default branch",
} as const satisfies OptionSpec;
