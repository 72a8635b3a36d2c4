import type { DestinationState, RestoredBy } from '../../results/load-results.ts';
import { formatBytes, formatNumberOf } from '../../text/format.ts';
import type { Cell } from './column.ts';
import type { Fact } from './fact.ts';

/** The question to a person before something is replaced or removed. */
export interface Question {
  title: string;
  /** The data and its destination, in one line that is in every window. */
  subject?: Subject;
  facts: Fact[];
  steps: string[];
  warnings: string[];
  /** The consequence, and whether it can be undone. */
  consequence: string;
  /** `Replace database "app_dev" on localhost:5432?` */
  ask: string;
  /** The choice that goes on: `Replace app_dev`. */
  go: string;
  /** Nothing is replaced or removed. Default `false`. */
  harmless?: boolean;
  /** The text to type to go on; `null` where a choice is enough. */
  typed: string | null;
}

/** Subject of a plan: `RAW 8c41f2ab into app_dev on localhost`. */
export interface Subject {
  /** `null` where it is not known whether the data is sanitized. */
  badge: Cell | null;
  text: string;
  /** The same as two ends, to be drawn with an arrow between them. */
  ends?: { from: string; to: string };
}

export function destinationFacts({ url, exists, size_bytes, connections }: DestinationState): Fact[] {
  const size = size_bytes === null ? 'size unknown' : formatBytes(size_bytes);
  const contents = exists
    ? `${size}, ${formatNumberOf(connections, 'open connection')}`
    : 'none: it does not exist yet';
  return [
    { name: 'Destination', value: url, tone: 'strong' },
    { name: 'Current contents', value: contents },
  ];
}

/** Later than the destination, so that a low window cuts it first. */
export function serverFact({ server_version }: DestinationState): Fact {
  return { name: 'Server', value: server_version };
}

/** Names the restoring user, with whose rights the code of the content runs. */
export function restoringFacts({ restored_by, restored_by_reason }: Partial<RestoredBy>): Fact[] {
  if (restored_by === undefined) return [];
  if (restored_by === 'temporary_user') {
    return [{ name: 'Restored by', value: `a temporary user: ${restored_by_reason}`, brief: 'a temporary user' }];
  }
  const value = `the loading user, with whose rights restored code runs: ${restored_by_reason}`;
  return [{ name: 'Restored by', value, brief: `the loading user: ${restored_by_reason}` }];
}

/** The command of the undo; on the screens it is a key. */
export function undoFacts(command: string | null): Fact[] {
  return command === null ? [] : [{ name: 'Undo', value: command, brief: '' }];
}

/** A database on another machine is confirmed by its name. */
export function typedName({ local, database }: Pick<DestinationState, 'local' | 'database'>): string | null {
  return local ? null : database;
}

export function warningsOf(plan: { unverified_sources: string[]; warnings?: { message: string }[] }): string[] {
  const { unverified_sources: sources, warnings = [] } = plan;
  const unverified = `Sources that could not be identified and may be this database: ${sources.join(', ')}`;
  return [...(sources.length > 0 ? [unverified] : []), ...warnings.map(({ message }) => message)];
}

export function askToReplace({ database, host, exists }: DestinationState): string {
  return `${exists ? 'Replace' : 'Create'} database "${database}" on ${host}?`;
}

/** States the fate of the destination, and whether that can be undone. */
export function replacement({ database, exists }: DestinationState, undo: boolean): string {
  if (!exists) return `${database} does not exist yet and will be created.`;
  if (!undo) return `${database} will be replaced. This cannot be undone.`;
  return `${database} will be replaced. The previous version is kept for one undo.`;
}

/** Why what was typed does not confirm. */
export function notTyped(name: string, text: string): string {
  return text === '' ? `Type ${name} to continue` : `"${text}" is not ${name}`;
}

export const PLAN_STEPS = 'Steps';

/** The run that the question's run would wait for. */
export function queuedText(before: string): string {
  return `Queued after: ${before}`;
}
