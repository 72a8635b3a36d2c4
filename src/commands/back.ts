import { defineCommand } from '../cli/command.ts';
import { requestOf, runPlanned } from '../cli/run-planned.ts';
import { BRANCH_INSTEAD, DRY_RUN, NO_AUTOSAVE, TARGET } from './shared-options.ts';
import { wrongUsage } from './wrong-usage.ts';

export const backCommand = defineCommand({
  name: 'back',
  summary: 'return the destination to a save, the last load or the replaced database',
  group: 'Snapshots',
  arguments: [
    TARGET,
    {
      name: 'point',
      description: 'save (name or index), load (tool reset) or previous (tool undo); default: the newest save',
      required: false,
      complete: 'point',
    },
  ],
  options: [
    BRANCH_INSTEAD,
    { flags: '--list', description: 'list the points' },
    {
      flags: '--table <names>',
      description: 'return only their rows, in place; comma-separated, repeatable, * matches any characters',
      repeatable: true,
      complete: 'tables',
    },
    {
      flags: '--rows <keys>',
      description: 'with one --table: only these primary keys; comma-separated, repeatable',
      repeatable: true,
    },
    DRY_RUN,
    { flags: '--no-undo', description: 'keep no undo copy' },
    NO_AUTOSAVE,
  ],
  examples: [
    { command: 'tool back app --list', does: 'list saves and other points' },
    { command: 'tool back app load --table public.orders --rows 17,18', does: 'restore two rows' },
    { command: 'tool back app previous', does: 'undo the return' },
  ],
  json: 'events',
  writes: { unless: 'list' },
  async run(invocation) {
    const { list, table: tables, rows, ...rest } = requestOf(invocation);
    const request = { ...rest, ...(tables && { tables }), ...(rows && { rows: keysIn(rows) }) };
    if (!list) {
      assertOptions(request);
      const { backOperation } = await import('../operations/back/operation.ts');
      return runPlanned(invocation, backOperation, { request });
    }
    const { formatTable } = await import('../cli/printers/table.ts');
    const { listPoints } = await import('../operations/back/list-points.ts');
    const { pointColumns } = await import('../operations/back/text.ts');
    const context = await invocation.context();
    const data = await listPoints(context, request);
    return {
      data,
      text: formatTable(pointColumns(data.points, context.clock()), data.points, invocation.tableOptions()),
    };
  },
});

function keysIn(texts: string[]): string[] {
  return texts.flatMap((text) => text.split(',').map((key) => key.trim()));
}

const OF_LOADS = { undo: '--no-undo', autosave: '--no-autosave' };

/** A swap with the undo copy loads nothing, and always keeps the present database. */
function assertOptions(request: { point?: string; undo?: boolean; autosave?: boolean }): void {
  if (request.point !== 'previous') return;
  const given = Object.entries(OF_LOADS).find(([name]) => (request[name as keyof typeof OF_LOADS] ?? true) !== true);
  const [, flag] = given ?? [];
  if (flag === undefined) return;
  throw wrongUsage(`${flag} has no effect on a return to previous`, {
    hint: 'Leave it out: tool back TARGET previous',
  });
}
