import { defineCommand } from '../cli/command.ts';
import { requestOf, runPlanned } from '../cli/run-planned.ts';
import { CPUS, DRY_RUN, TARGET } from './shared-options.ts';

export const backCommand = defineCommand({
  name: 'back',
  summary: "return a target's destination to a save, to the last load, or to the database it replaced",
  group: 'Snapshots',
  arguments: [
    TARGET,
    {
      name: 'point',
      description:
        'name or index of a save; load: as after the last load (tool reset); previous: the replaced database (tool undo); default: the newest save',
      required: false,
    },
  ],
  options: [
    { flags: '--list', description: 'list the points with age, size and way instead' },
    DRY_RUN,
    { flags: '--no-undo', description: 'keep no undo copy' },
    CPUS,
  ],
  examples: [
    { command: 'tool back app --list', does: 'list the points to return to' },
    { command: 'tool back app before-migration', does: 'return to a save' },
    { command: 'tool back app previous', does: 'take the return back' },
  ],
  json: 'events',
  writes: true,
  async run(invocation) {
    const { list, ...request } = requestOf(invocation);
    if (!list) {
      const { backOperation } = await import('../operations/back/operation.ts');
      return runPlanned(invocation, backOperation, { request });
    }
    const { formatTable } = await import('../cli/printers/table.ts');
    const { listPoints } = await import('../operations/back/list-points.ts');
    const { pointColumns } = await import('../operations/back/text.ts');
    const context = await invocation.context();
    const data = await listPoints(context, request);
    return { data, text: formatTable(pointColumns(context.clock()), data.points, invocation.tableOptions()) };
  },
});
