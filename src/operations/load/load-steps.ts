import type { RestorePlan } from '../../engines/facets/restore.ts';
import { tablesText } from '../../engines/shared/rows/divide-tables.ts';
import type { ManifestFile } from '../../repository/manifest/manifest.ts';
import type { RemoteRepository } from '../../repository/remote-repository.ts';
import type { AfterLoad, LoadDifference } from '../../results/load-results.ts';
import { formatBytes, formatNumberOf } from '../../text/format.ts';

export function loadSteps({ lacking, remote, ...rest }: LoadSteps): string[] {
  return [...pullSteps(lacking, remote), ...restoreSteps(rest)];
}

export interface LoadSteps {
  lacking: ManifestFile[];
  remote: RemoteRepository | null;
  restore: RestorePlan;
  undo: boolean;
  keepGoing?: 'inspect' | 'swap' | undefined;
  keepBase?: { spare: boolean } | undefined;
  difference?: LoadDifference | undefined;
  afterLoad?: AfterLoad[] | undefined;
}

export function swapSteps({ exists, undo }: { exists: boolean; undo: boolean }): string[] {
  if (!exists) return ['Rename it to the destination'];
  return ['Swap the two by name', undo ? 'Keep the previous database for tool undo' : 'Drop the previous database'];
}

function pullSteps(lacking: ManifestFile[], remote: RemoteRepository | null): string[] {
  if (lacking.length === 0 || !remote) return [];
  const bytes = lacking.reduce((sum, file) => sum + file.stored_bytes, 0);
  return [`Pull ${formatBytes(bytes)} from ${remote.name}`];
}

function restoreSteps({
  restore,
  undo,
  keepGoing,
  keepBase,
  difference,
  afterLoad = [],
}: Omit<LoadSteps, 'lacking' | 'remote'>): string[] {
  const { strategy, destination } = restore;
  const what = tablesText(restore);
  if (strategy === 'rows') {
    return [
      ...(undo ? ['Keep the present rows of these tables for tool undo'] : []),
      `Replace the rows of ${what} in ${destination.url}, in one transaction without triggers`,
      'Verify the row counts, and foreign keys from and to the tables, before the commit',
    ];
  }
  if (strategy === 'in_place') return [`Replace everything in ${destination.url} by ${what}, in one transaction`];
  return [
    ...fillSteps(what, difference),
    'Compare rows, indexes, constraints, triggers, sequences with the manifest',
    ...(keepGoing ? [INCOMPLETE_STEPS[keepGoing]] : []),
    ...afterLoad.map(({ run }, index) => `Run step ${index + 1} of ${afterLoad.length} of after_load: ${run}`),
    ...(keepBase ? ['Keep a base copy for tool reset'] : []),
    ...swapSteps({ exists: destination.exists, undo }),
    ...(keepBase?.spare ? ['Create the spare for the next reset'] : []),
  ];
}

function fillSteps(what: string, difference: LoadDifference | undefined): string[] {
  if (difference?.method !== 'difference') return [`Restore ${what} into a shadow database beside the destination`];
  const { base, tables, size_bytes, saved_tables, saved_bytes } = difference;
  return [
    `Copy ${base} into a shadow database beside the destination: ${formatNumberOf(saved_tables, 'table')}, ${formatBytes(saved_bytes)}`,
    `Load ${formatNumberOf(tables, 'table')} that differ${tables === 1 ? 's' : ''}, ${formatBytes(size_bytes)}`,
  ];
}

const INCOMPLETE_STEPS = {
  inspect: 'Stop if anything is missing, and keep the shadow database for inspection',
  swap: 'List what is missing, and continue without it',
};
