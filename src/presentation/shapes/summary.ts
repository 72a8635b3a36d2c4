import { keyText } from '../../config/keys-in-effect.ts';
import type { RunSummary } from '../../state/runs.ts';
import { formatDuration } from '../../text/format.ts';

/** The previous version of a database that is kept, and the command that restores it. */
type Undo = NonNullable<RunSummary['undo']>;

type Card = NonNullable<RunSummary['card']>;

export function summaryOf(line: string, more: Partial<RunSummary> = {}): RunSummary {
  return { line, details: [], problems: [], undo: null, ...more };
}

/** `shop_dev reset`, `unavailable 46 ms`: the card of a database that was replaced, or created. */
export function databaseCard(title: string, swapMs: number | null, facts: string[] = []): Card {
  return { title, facts: [...facts, ...(swapMs === null ? [] : [`unavailable ${formatDuration(swapMs)}`])] };
}

export function keptText({ database, command }: Undo): string {
  return `The previous ${database} is kept: ${command}`;
}

/** On the screens, where a key restores it. */
export function detailsWithKey({ details, undo }: RunSummary): string[] {
  return undo === null
    ? details
    : [...details, `The previous ${undo.database} is kept. Press ${keyText('undo')} to undo`];
}

/** On the command line. */
export function summaryText({ line, details, problems, undo }: RunSummary): string {
  return [line, ...problems, ...details, ...(undo === null ? [] : [keptText(undo)])].join('\n');
}
