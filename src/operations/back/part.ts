import { valuesOf } from '../../engines/shared/rows/change-statements.ts';
import { createObjectPool } from '../../repository/objects/object-pool.ts';
import type { BackPart } from '../../results/saves/save-results.ts';
import type { Context } from '../../runtime/context.ts';
import { UserError } from '../../runtime/errors.ts';
import { shell } from '../../text/shell-word.ts';
import { withStates } from '../changes/changes.ts';
import { compareRows } from '../changes/compare-states.ts';
import { planLoad } from '../load/load.ts';
import type { LoadRequest, PlannedLoad } from '../load/planned-load.ts';
import { findSave } from '../save/saves.ts';
import type { ComparedRows } from '../snapshots/diff/compare-stored.ts';

export interface PartRequest extends Pick<LoadRequest, 'target' | 'undo' | 'autosave'> {
  point: string | undefined;
  tables: string[];
  /** Keys of the only table. */
  rows?: string[] | undefined;
}

export interface PreparedPart {
  /** The name of the save, or `load`. */
  point: string;
  part: BackPart;
  load: PlannedLoad;
}

/** Plans to replace the rows of some tables by those at the point: a load of rows only. Counts what differs. */
export async function preparePart(given: Context, { point, tables, ...request }: PartRequest): Promise<PreparedPart> {
  const { target } = request;
  if (point === 'previous') throw noPartOfPrevious(target);
  const name = point === 'load' ? point : (await findSave(given, { target, save: point })).row.name;
  const compared = { target, ...(point !== 'load' && { since: name }) };
  return withStates(given, compared, async ({ context, states }) => {
    const { save, id } = states.before;
    const source = save === undefined ? { snapshot: id } : { save: id, afterLoad: false };
    const load = await planLoad(given, { ...request, ...source, tables, only: true });
    await using pool = createObjectPool(2);
    const counted: BackPart['tables'] = [];
    const { keys, tables: planned = [] } = load.plan.only_rows ?? {};
    for (const row of planned) {
      const { changed } = await compareRows(context, { ...states, name: row.table, pool });
      const counts = countsOf(changed, keys);
      counted.push({ table: row.table, ...counts });
      // The snapshot tells the number of all rows only.
      if (keys) row.rows = row.rows_before - (counts.delete ?? 0) + (counts.insert ?? 0);
    }
    return { point: name, load, part: { tables: counted, ...(keys && { rows: keys }) } };
  });
}

type Counts = Omit<BackPart['tables'][number], 'table'>;

/** The return inserts the rows that were removed since. */
function countsOf(changed: ComparedRows | string | null, keys: string[] | undefined): Counts {
  if (changed === null) return { insert: 0, update: 0, delete: 0 };
  if (typeof changed === 'string') return { insert: null, update: null, delete: null };
  const { added, removed, changed: updated, counts, key } = changed;
  if (!keys) return { insert: counts.removed, update: key.length === 0 ? 0 : counts.changed, delete: counts.added };
  if (!changed.isWhole) return { insert: null, update: null, delete: null };
  const wanted = new Set(keys);
  const isWanted = (line: string): boolean => wanted.has(`${valuesOf(line)[key[0] ?? 0]}`);
  return {
    insert: removed.filter(isWanted).length,
    update: updated.filter(([line]) => isWanted(line)).length,
    delete: added.filter(isWanted).length,
  };
}

function noPartOfPrevious(target: string): UserError {
  return new UserError(
    'flag_needs_flag',
    '--table needs a save or load as the point: the rows of previous are not read',
    {
      hint: `For example: ${shell`tool back ${target} load --table public.orders`}`,
    },
  );
}
