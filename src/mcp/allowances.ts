import { UserError } from '../runtime/errors.ts';

/** Permissions of an agent besides reading and working on its own branches. */
const ALLOWANCES = {
  credentials: 'URLs of own branches with the password; own servers; rehearse, which runs SQL',
  originals: 'branches and loads of snapshots that are not sanitized',
  sources: 'connect to sources: check_sources, explain_row',
  pull: 'list and read buckets and the hub',
  push: 'push what build has made',
  build: 'take snapshots of sources',
  load: 'load a snapshot into the destination of a target',
} as const;

export type Allowance = keyof typeof ALLOWANCES;

/** `load,build` and repeated lists. */
export function parseAllowances(lists: string[]): Set<Allowance> {
  const words = lists.flatMap((list) => list.split(',').map((word) => word.trim()));
  const unknown = words.find((word) => !Object.hasOwn(ALLOWANCES, word));
  if (unknown === undefined) return new Set(words as Allowance[]);
  throw new UserError('invalid_value', `--allow ${unknown} is unknown`, {
    hint: `Use one or more of ${Object.keys(ALLOWANCES).join(', ')}, with commas.`,
  });
}
