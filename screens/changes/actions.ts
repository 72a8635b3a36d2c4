import { join } from 'node:path';
import { backOperation } from '../../src/operations/back/operation.ts';
import { CHANGES_NOTICES, MOST_COPIED, madeSqlText, sidesText } from '../../src/operations/changes/list-text.ts';
import type { ChangesResult } from '../../src/results/review/changes-results.ts';
import { printable } from '../../src/text/printable.ts';
import { type KeyBinding, type KeyContext, type Model, orNotify } from '../app/model.ts';
import { notWritable } from '../app/why-not.ts';
import { refreshChanges } from '../commands/changes.ts';
import { confirmOperation } from '../commands/runs/confirm.ts';
import { openDifference, SCREEN_ROWS } from '../commands/table-diff.ts';
import { type ChangesRoute, selectedEntry } from './changes-route.ts';

export const OPEN_CHANGE: KeyBinding<ChangesRoute> = {
  keys: ['enter', 'right'],
  label: 'open',
  help: 'changed rows of the table, or the definition',
  whyNot(context) {
    const entry = selectedEntry(context.route);
    if (!entry) return notRead(context) ?? CHANGES_NOTICES.nothing;
    return entry.kind === 'table' || entry.kind === 'definition' ? null : CHANGES_NOTICES.noDetail;
  },
  run(model, route) {
    const entry = selectedEntry(route);
    const { target, found, revealed } = route;
    if (!found) return;
    const of = { target, sides: sidesText(found.result), revealed };
    if (entry?.kind === 'definition') {
      const { name, diff: definition } = entry.definition;
      const read = async () => ({ definition, rows: null, rows_not_compared: null });
      openDifference(model, { ...of, table: printable(name), read });
    }
    if (entry?.kind !== 'table') return;
    const { table, not_compared = null } = entry.table;
    openDifference(model, {
      ...of,
      table,
      read: async (reveal, signal) => ({
        definition: definitionOf(found.result, table),
        rows: not_compared ? null : await found.readTable({ table, limit: SCREEN_ROWS, reveal }, signal),
        rows_not_compared: not_compared,
      }),
    });
  },
};

/** The statements of the table itself: its indexes and triggers have lines of their own in the list. */
function definitionOf({ definitions }: ChangesResult, table: string) {
  return definitions.find(({ name }) => name === `${table} (table)`)?.diff ?? [];
}

export const REVEAL_CHANGES: KeyBinding<ChangesRoute> = {
  id: 'reveal',
  keys: ['z'],
  label: 'reveal',
  help: 'show or mask values that look like personal data',
  run: ({ navigation }, route) => navigation.replace({ ...route, revealed: !route.revealed }),
};

export const COPY_SQL: KeyBinding<ChangesRoute> = {
  id: 'copy',
  keys: ['y'],
  label: 'copy SQL',
  help: 'copy statements that make the changes of rows again; many are written to a file in the current folder',
  palette: 'Copy changes as SQL',
  whyNot: (context) =>
    notWritable(context) ?? notRead(context) ?? (context.route.revealed ? null : CHANGES_NOTICES.masked()),
  run: (model, route) => void copySql(model, route),
};

async function copySql(model: Model, { target, found }: ChangesRoute): Promise<void> {
  if (!found) return;
  const time = model
    .clock()
    .toISOString()
    .replaceAll(/[-:]|\.\d+/g, '');
  const file = join(model.cwd, `tool-changes-${encodeURIComponent(target)}-${time}.sql`);
  await orNotify(model, async () => {
    const made = await found.makeSql({ file, most: MOST_COPIED });
    if ('text' in made) model.terminal.copy(made.text);
    model.navigation.notify({ tone: 'good', text: madeSqlText(made) });
  });
}

export const RETURN_TO_BASE: KeyBinding<ChangesRoute> = {
  id: 'back',
  keys: ['U'],
  label: 'return',
  help: 'return to the state that is compared with; asks first',
  palette: 'Return to the compared state…',
  whyNot: (context) =>
    notWritable(context) ?? notRead(context) ?? (pointOf(context.route) === null ? CHANGES_NOTICES.noPoint : null),
  run(model, route) {
    const point = pointOf(route);
    if (point === null) return;
    const { target } = route;
    confirmOperation(model, backOperation, {
      request: { target, point },
      title: `back to ${printable(point)}`,
      after: () => refreshChanges(model, target),
    });
  },
};

function pointOf({ branch, found }: ChangesRoute): string | null {
  if (branch !== undefined || !found) return null;
  const { kind, name } = found.result.since;
  return kind === 'load' ? 'load' : (name ?? null);
}

function notRead({ route }: KeyContext<ChangesRoute>): string | null {
  return route.found ? null : CHANGES_NOTICES.reading;
}
