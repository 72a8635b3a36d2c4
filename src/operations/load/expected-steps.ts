import type { LoadPlan } from '../../results/load-results.ts';
import type { ExpectedStep } from '../../state/overall-progress.ts';
import { formatBytes, formatNumberOf } from '../../text/format.ts';
import {
  contentOf,
  copyStep,
  dropStep,
  type ExpectedContent,
  restoreSteps,
  SENT_PER_MS,
  swapStep,
} from '../expected-steps.ts';

/** All steps of a load, by bytes, indexes and rows of the manifest. */
export function loadExpectedSteps(plan: LoadPlan): ExpectedStep[] {
  return [...savingSteps(plan), ...pullSteps(plan), ...restoring(plan)];
}

export function loadExpectedMs(plan: LoadPlan): number {
  return loadExpectedSteps(plan).reduce((sum, { ms }) => sum + ms, 0);
}

function savingSteps({ automatic_saves: saves = [] }: LoadPlan): ExpectedStep[] {
  return saves
    .filter(({ skipped }) => !skipped)
    .map(({ database, duration_ms: ms }) => ({ step: 'save', label: `Save ${database}`, ms }));
}

function pullSteps({ pull_bytes: bytes }: LoadPlan): ExpectedStep[] {
  if (bytes === undefined) return [];
  return [{ step: 'pull', label: `Pull ${formatBytes(bytes)}`, ms: 200 + bytes / SENT_PER_MS }];
}

function restoring(plan: LoadPlan): ExpectedStep[] {
  const content = contentOfLoad(plan);
  const { destination, strategy, file, tables } = plan;
  const [prepare, ...loading] = restoreSteps(content);
  if (strategy === 'swap') return [...preparing(plan, content), ...loading, ...afterwards(plan, content)];
  const ms = loading.reduce((sum, step) => sum + step.ms, 0);
  if (strategy === 'script') return [{ step: 'restore', label: `Run ${file}`, ms }];
  const amount = formatNumberOf(tables, 'table');
  if (strategy === 'rows')
    return [{ step: 'restore', label: `Replace the rows of ${amount} in one transaction`, ms: ms * 2 }];
  return [
    { step: 'prepare', label: `Prepare one transaction in ${destination.database}`, ms: prepare?.ms ?? 0 },
    // With all indexes in place.
    { step: 'restore', label: `Restore ${amount} in one transaction`, ms: ms * 2 },
  ];
}

/** Returns the content to load: of a difference only the tables that differ. */
function contentOfLoad({ snapshot, tables, rows, size_bytes, indexes, difference }: LoadPlan): ExpectedContent {
  const of = contentOf(snapshot);
  const all = {
    ...of,
    tables,
    rows,
    bytes: size_bytes,
    indexes: indexes ?? Math.round((of.indexes * tables) / Math.max(1, of.tables)),
  };
  if (difference?.method !== 'difference') return all;
  const { tables: loaded, size_bytes: bytes } = difference;
  return { ...all, tables: loaded, bytes, indexes: Math.round((all.indexes * loaded) / Math.max(1, tables)) };
}

/** Bytes of a database, with its indexes, to a byte of rows. */
const DATABASE_BYTES = 1.5;

function afterwards(plan: LoadPlan, content: ExpectedContent): ExpectedStep[] {
  const { after_load: steps = [], keep_base: base, destination } = plan;
  const whole = { ...content, bytes: plan.size_bytes * DATABASE_BYTES, tables: plan.tables };
  return [
    ...steps.map(({ run }) => ({ step: 'after_load', label: `Run ${run}`, ms: 1000 })),
    ...(base ? [copyStep('base', 'Create the base copy', whole)] : []),
    swapStep(destination.database, whole),
    ...(dropsOlderCopy(plan) ? [dropStep(whole)] : []),
    ...(base?.spare ? [copyStep('spare', 'Create the spare', whole)] : []),
  ];
}

/** Reports whether there is a copy to drop: a base copy, or the undo copy of two earlier loads. MySQL drops it within the switch. */
function dropsOlderCopy({ snapshot, destination, estimate, copies, difference }: LoadPlan): boolean {
  const isLikely = (estimate?.loads ?? 0) > 1 || copies !== undefined || difference !== undefined;
  return snapshot?.engine === 'postgres' && destination.exists && isLikely;
}

/** The shadow database is empty, or a copy of the base copy. */
function preparing({ difference, size_bytes }: LoadPlan, content: ExpectedContent): ExpectedStep[] {
  const [prepare] = restoreSteps(content);
  const copied =
    difference?.method === 'difference' ? copyStep('', '', { ...content, bytes: size_bytes * DATABASE_BYTES }).ms : 0;
  return prepare ? [{ ...prepare, ms: prepare.ms + copied }] : [];
}
