import type { ArgumentSpec, OptionSpec } from '../../cli/command.ts';

export const BRANCH = {
  name: 'name',
  description: 'name of the branch',
  required: true,
} as const satisfies ArgumentSpec;

export const DESTDB = {
  flags: '--destdb <url>',
  description: 'the destination that was loaded with --destdb',
} as const satisfies OptionSpec;

export const MAIN = {
  flags: '--main <name>',
  description: "git branch without a branch of its own: the database of before the first switch; default: the remote's",
} as const satisfies OptionSpec;
