import type { Action } from './action.ts';

/** A single statement, read. */
export interface ParsedStatement {
  /** As written. */
  text: string;
  actions: readonly Action[];
  /** Values of its literals. */
  literals: ReadonlySet<string>;
  /** `ALGORITHM = …`, `LOCK = …` and `WAIT` of MySQL in lower case. */
  options: { algorithm: string | null; lock: string | null; limitsWait: boolean };
}
