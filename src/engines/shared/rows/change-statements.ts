import { UserError } from '../../../runtime/errors.ts';
import type { TableChanges } from '../../facets/changes.ts';
import { createRowScanner } from './row-scanner.ts';

/** The whole values of a line in the text of COPY. */
export function valuesOf(line: string): (Buffer | null)[] {
  const values: (Buffer | null)[] = [];
  const scanner = createRowScanner({
    ...{ format: 'copied', mostBytes: Number.POSITIVE_INFINITY, emptyEnd: false },
    onRow: (row) => values.push(...row.values.map((value) => value && Buffer.from(value.bytes))) > 0,
  });
  scanner.push(Buffer.from(`${line}\n`, 'latin1'));
  return values;
}

type Rows = Pick<TableChanges, 'removed' | 'added' | 'changed'>;

/**
 * Deletes and inserts the rows with another value in a fixed column instead of updating them: where values are unique, it
 * could be that of another row until this one is updated too.
 */
export function withReplaced<Changes extends Rows>(changes: Changes, isFixed: (index: number) => boolean): Changes {
  const isReplaced = ([before, after]: [string, string]): boolean => {
    const now = after.split('\t');
    return before.split('\t').some((field, index) => field !== now[index] && isFixed(index));
  };
  const replaced = changes.changed.filter(isReplaced);
  return {
    ...changes,
    removed: [...changes.removed, ...replaced.map(([old]) => old)],
    added: [...changes.added, ...replaced.map(([, now]) => now)],
    changed: changes.changed.filter((pair) => !isReplaced(pair)),
  };
}

export function cannotWrite(reason: string): UserError {
  return new UserError('changes_not_as_sql', `No statements can make these changes again: ${reason}`, {
    hint: 'Save the destination instead: tool save TARGET NAME. Nothing was written.',
  });
}
