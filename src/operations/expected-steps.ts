import { type EngineId, profileOf } from '../engines/list.ts';
import type { SnapshotRow } from '../results/results.ts';
import type { ExpectedStep } from '../state/overall-progress.ts';
import { formatNumberOf } from '../text/format.ts';

/** The content of a snapshot, as far as the duration of work on it depends on it. */
export interface ExpectedContent {
  engine: EngineId;
  tables: number;
  rows: number;
  bytes: number;
  indexes: number;
  assumed?: true;
}

/** A list of snapshots has no number of indexes. */
const INDEXES_PER_TABLE = 3;
/** A content for want of another: the measured durations correct it. */
const UNKNOWN: Omit<ExpectedContent, 'engine'> = {
  ...{ tables: 20, rows: 100_000, bytes: 20_000_000, indexes: 60 },
  assumed: true,
};

export function contentOf(snapshot: SnapshotRow | null | undefined, engine: EngineId = 'postgres'): ExpectedContent {
  if (!snapshot) return { engine, ...UNKNOWN };
  const { tables, rows, size_bytes: bytes } = snapshot;
  return { engine: snapshot.engine, tables, rows, bytes, indexes: tables * INDEXES_PER_TABLE };
}

export function dumpSteps({ engine, bytes }: ExpectedContent, what: string): ExpectedStep[] {
  const { readBytes } = profileOf(engine).perMs;
  return [
    { step: 'connect', label: `Connect to ${what}`, ms: 100 },
    { step: 'dump', label: `Dump ${what}`, ms: 200 + bytes / readBytes },
  ];
}

export function restoreSteps(content: ExpectedContent): ExpectedStep[] {
  const { engine, tables, rows, bytes, indexes } = content;
  const { restoredBytes, indexedBytes, countedRows, tableDefinitions, indexDefinitions } = profileOf(engine).perMs;
  const amount = formatNumberOf(tables, 'table');
  return [
    { step: 'prepare', label: 'Create a shadow database', ms: 80 },
    { step: 'restore', label: `Restore ${amount}`, ms: 100 + tables / tableDefinitions + bytes / restoredBytes },
    { step: 'index', label: profileOf(engine).indexing, ms: 20 + indexes / indexDefinitions + bytes / indexedBytes },
    { step: 'check', label: 'Verify against the manifest', ms: 30 + tables + rows / countedRows },
  ];
}

export function copyStep(step: string, label: string, { engine, bytes }: ExpectedContent): ExpectedStep {
  return { step, label, ms: 200 + bytes / profileOf(engine).perMs.copiedBytes };
}

export function swapStep(database: string, { engine, tables }: ExpectedContent): ExpectedStep {
  const { renamedTables } = profileOf(engine).perMs;
  return { step: 'swap', label: `Switch ${database} to the restored database`, ms: 40 + tables / renamedTables };
}

/** DROP DATABASE makes a checkpoint first, which writes mostly what the run has changed. */
export function dropStep({ bytes }: ExpectedContent): ExpectedStep {
  return { step: 'drop', label: 'Drop outdated copies', ms: 400 + bytes / 800_000 };
}

/** Returns the steps of work on a content. Those on an assumed one are corrected once it is known. */
export function stepsOn(content: ExpectedContent, steps: (content: ExpectedContent) => ExpectedStep[]): ExpectedStep[] {
  const { assumed, bytes, rows } = content;
  if (!assumed) return steps(content);
  const larger = steps({ ...content, bytes: bytes * 2, rows: rows * 2 });
  return steps(content).map((step, at) => ({ ...step, assumed: { bytes, ms: (larger[at]?.ms ?? step.ms) - step.ms } }));
}

/** Bytes in a millisecond: of a network that is neither slow nor fast. */
export const SENT_PER_MS = 20_000;

/** The one step of work on stored content. */
export function transferSteps(
  step: 'push' | 'pull' | 'export' | 'verify',
  { size_bytes }: SnapshotRow,
): ExpectedStep[] {
  const label = { push: 'Push', pull: 'Pull', export: 'Export', verify: 'Verify' }[step];
  return [{ step, label, ms: 200 + size_bytes / SENT_PER_MS }];
}
