import { statfs } from 'node:fs/promises';
import type { DestinationState } from '../../results/load-results.ts';
import { UserError } from '../../runtime/errors.ts';

/** `null` where it is unknown: a local server may keep its data elsewhere. */
export async function freeBytesOf(directory: string): Promise<number | null> {
  const space = await statfs(directory).catch(() => null);
  return space && space.bavail * space.bsize;
}

export interface Space {
  destination: Pick<DestinationState, 'host'>;
  freeBytes: number | null;
}

/** Rows as text take about the space of the table without indexes: a lower bound. */
export function assertEnoughSpace({ freeBytes, destination }: Space, neededBytes: number): void {
  if (freeBytes === null || freeBytes >= neededBytes) return;
  const megabytes = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`;
  throw new UserError(
    'space_short',
    `The server ${destination.host} has ${megabytes(freeBytes)} free, and the snapshot needs more than ${megabytes(neededBytes)}`,
    {
      hint: 'Free disk space; undo copies, base copies and spares (names that end in .tool-undo, .tool-base, .tool-spare) may be dropped.',
    },
  );
}
