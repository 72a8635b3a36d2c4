import { createHash } from 'node:crypto';
import { type AuxiliaryNames, auxiliaryNamesWithin } from '../../shared/auxiliary-names.ts';
import { profile } from '../profile.ts';

export function auxiliaryNames(destination: string): AuxiliaryNames {
  return auxiliaryNamesWithin(profile.nameLimit, destination);
}

/** Tables of the tool in its own databases. */
const RESERVED = new Set([
  ...['tool-mark', 'tool-journal', 'tool-journal-moved', 'tool-journal-done', 'tool-kept'],
  ...['tool-base', 'tool-base-outdated', 'tool-base-retired', 'tool-unwritten'],
  ...['tool-branch'],
]);

/** The table that describes a base copy: of the present destination, of a former one, of one that is to be dropped. */
export const BASE = 'tool-base';
export const OUTDATED = 'tool-base-outdated';
export const RETIRED = 'tool-base-retired';

/** Returns the table beside that of a base copy by which tables of the destination, or of a branch, are known to be unwritten since. */
export function unwrittenTable(branch?: string): string {
  return branch === undefined ? UNWRITTEN : `${UNWRITTEN}-${digestOf(branch)}`;
}

const UNWRITTEN = 'tool-unwritten';

/** The mark of a new branch before it takes its place (`MARK`). */
export const BRANCH = 'tool-branch';

export function isReserved(table: string): boolean {
  return RESERVED.has(table.toLowerCase());
}

export function lockName(destination: string): string {
  return `tool load ${digestOf(destination)}`;
}

function digestOf(name: string): string {
  return createHash('sha256').update(name).digest('hex').slice(0, DIGEST);
}

/** Hexadecimal digits: the name of a lock or a table has 64 characters. */
const DIGEST = 40;
