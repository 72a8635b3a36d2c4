import * as v from 'valibot';
import { describe, flag, number, optional, orNull } from './fields.ts';

/** Characters of each text of an entry: URLs and names are shorter. */
export const MAX_TEXT = 2000;
export const MAX_BRANCHES = 100;
const MAX_STEPS = 100;

const text = v.pipe(v.string(), v.maxLength(MAX_TEXT));
const count = v.pipe(number, v.safeInteger(), v.minValue(0));

const stepTime = v.object({
  step: text,
  ms: describe(count, 'Duration in milliseconds.'),
  expected_ms: optional(describe(count, 'Duration that the content let expect: how fast the server is.')),
});

export type StepTime = v.InferOutput<typeof stepTime>;

/** One execution of an operation, as the history keeps it. Unknown keys of a newer version are dropped. */
export const historyEntry = v.object({
  at: describe(v.pipe(text, v.isoTimestamp()), 'Time of the start.'),
  operation: v.picklist([
    ...([
      'build',
      'save',
      'load',
      'back',
      'undo',
      'reset',
      'sanitize',
      'subset',
      'push',
      'pull',
      'import',
      'remove',
      'prune',
      'verify',
    ] as const),
    ...(['branch create', 'branch reset', 'branch switch', 'branch drop'] as const),
  ]),
  target: text,
  outcome: v.picklist(['done', 'failed', 'cancelled']),
  error: describe(orNull(text), 'The code of the error. Its message may quote data, and is not kept.'),
  duration_ms: count,
  snapshot: describe(orNull(text), 'Id of the snapshot that was created, loaded or transferred.'),
  save: optional(describe(text, 'The name of the save that was created or restored. Absent: none.')),
  sanitized: orNull(flag),
  from: describe(orNull(text), 'Source URL without password, storage, or path of a file.'),
  to: describe(orNull(text), 'Destination URL without password, or storage.'),
  branches: v.pipe(v.array(text), v.maxLength(MAX_BRANCHES)),
  method: describe(
    orNull(v.picklist(['full', 'difference', 'tables', 'rows', 'script'])),
    'Method of a load. `full`: all tables; `difference`: those that differ from the base copy; `tables`: selected ones; `rows`: rows of some in the existing database; `script`: an SQL file.',
  ),
  after_load: optional(describe(count, 'Number of steps of `after_load` that ran. Absent: none.')),
  replaced_at: optional(describe(text, 'Time at which what an undo returned to was replaced. Absent: no undo.')),
  size_bytes: orNull(count),
  steps: optional(describe(v.pipe(v.array(stepTime), v.maxLength(MAX_STEPS)), 'The steps that ended, in order.')),
  swap_ms: describe(orNull(v.pipe(number, v.minValue(0))), 'Milliseconds for which the destination was unavailable.'),
});

export type HistoryEntry = v.InferOutput<typeof historyEntry>;

export const historyList = v.object({
  entries: describe(v.array(historyEntry), 'Newest first.'),
  damaged_lines: describe(number, 'Lines that are no entries: of a killed process, or changed by hand.'),
});

export type HistoryList = v.InferOutput<typeof historyList>;

/** Estimated duration of a load, by earlier ones into the same destination. */
export const loadEstimate = v.object({
  duration_ms: number,
  loads: describe(number, 'Number of earlier loads in the estimate.'),
});

export type LoadEstimate = v.InferOutput<typeof loadEstimate>;
