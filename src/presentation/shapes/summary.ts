import { keyText } from '../../config/keys/keys-in-effect.ts';
import type { RunSummary } from '../../state/runs.ts';
import { formatDuration } from '../../text/format.ts';
import { joinLines } from '../../text/printable.ts';

/** The previous version of a database that is kept, and the command that restores it. */
type Undo = NonNullable<RunSummary['undo']>;

export function summaryOf(line: string, more: Partial<RunSummary> = {}): RunSummary {
  return { line, details: [], problems: [], undo: null, ...more };
}

/** `null` where nothing was unavailable. */
export function unavailableFor(what: string, swapMs: number | null): Pick<RunSummary, 'unavailable'> {
  return { unavailable: swapMs === null ? null : { what, ms: swapMs } };
}

export function undoText(undo: Undo): string {
  return `${keptText(undo)}: ${undo.command}`;
}

function keptText({ database, rows = false }: Undo): string {
  return rows ? `The previous rows of ${database} are kept` : `The previous ${database} is kept`;
}

/** On the screens, where a key restores it. */
export function detailsWithKey({ details, undo }: RunSummary): string[] {
  return undo === null ? details : [...details, `${keptText(undo)}. Press ${keyText('undo')} to undo`];
}

/** On the command line. */
export function summaryText({ line, details, problems, unavailable, undo }: RunSummary): string {
  const pause = unavailable ? [`${unavailable.what} was unavailable for ${formatDuration(unavailable.ms)}`] : [];
  return joinLines([line, ...problems, ...details, ...pause, ...(undo === null ? [] : [undoText(undo)])]);
}
