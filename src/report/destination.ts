import type { DestinationState } from '../results/results.ts';
import { formatBytes, formatNumberOf } from '../text/format.ts';

/** What a question about a database must name: server, database, its size and who is connected to it. */
export function destinationLines({ url, database, host, exists, size_bytes, connections }: DestinationState): string[] {
  const state = exists
    ? [size_bytes === null ? 'size unknown' : formatBytes(size_bytes), formatNumberOf(connections, 'open connection')]
    : ['does not exist yet'];
  return [`  database  ${database} on ${host}: ${state.join(', ')}`, `  url       ${url}`];
}

/** The word to type before a database that is not on this machine is touched. */
export function typedName({ local, database }: DestinationState): { typed?: string } {
  return local ? {} : { typed: database };
}
