export const HISTORY_OPERATIONS = [
  'build',
  'load',
  'undo',
  'reset',
  'sanitize',
  'subset',
  'push',
  'pull',
  'import',
  'remove',
  'prune',
  'branch create',
  'branch reset',
  'branch switch',
  'branch drop',
] as const;

export type HistoryOperation = (typeof HISTORY_OPERATIONS)[number];

export const HISTORY_OUTCOMES = ['done', 'failed', 'cancelled'] as const;

/** `full`: all tables; `difference`: those that differ from the base copy; `tables`: selected ones; `script`: an SQL file. */
export const HISTORY_METHODS = ['full', 'difference', 'tables', 'script'] as const;

/** One execution of an operation, as the history keeps it. */
export interface HistoryEntry {
  /** Time of the start. */
  at: string;
  operation: HistoryOperation;
  target: string;
  outcome: (typeof HISTORY_OUTCOMES)[number];
  /** The code of the error. Its message may quote data, and is not kept. */
  error: string | null;
  duration_ms: number;
  /** Id of the snapshot that was created, loaded or transferred. */
  snapshot: string | null;
  sanitized: boolean | null;
  /** Source URL without password, storage, or path of a file. */
  from: string | null;
  /** Destination URL without password, or storage. */
  to: string | null;
  branches: string[];
  /** Method of a load. */
  method: (typeof HISTORY_METHODS)[number] | null;
  size_bytes: number | null;
  /** Milliseconds for which the destination was unavailable. */
  swap_ms: number | null;
}

export interface HistoryList {
  /** Newest first. */
  entries: HistoryEntry[];
  /** Lines of the file that are not entries: of a process that was killed while it wrote, or changed by hand. */
  damaged_lines: number;
}

/** Estimated duration of a load, by earlier ones into the same destination. */
export interface LoadEstimate {
  duration_ms: number;
  /** Number of loads that it is based on. */
  loads: number;
}
