import { defineCommand } from '../cli/command.ts';
import { requestOf, runPlanned } from '../cli/run-planned.ts';
import { DRY_RUN, SNAPSHOT, TARGET } from './shared-options.ts';
import { wrongUsage } from './wrong-usage.ts';

const PORT = { flags: '--port <n>', value: 'count' } as const;

export const upCommand = defineCommand({
  name: 'up',
  summary: 'start a PostgreSQL server with a snapshot',
  group: 'Branches',
  arguments: [TARGET, SNAPSHOT],
  options: [
    { ...PORT, description: 'default: a free port' },
    { flags: '--detach', description: 'leave it running' },
    DRY_RUN,
  ],
  examples: [{ command: 'tool up app', does: 'end it with Ctrl-C' }],
  json: 'events',
  writes: true,
  async run(invocation) {
    const { upOperation } = await import('../operations/servers/up/operation.ts');
    return runPlanned(invocation, upOperation, { request: requestOf(invocation) });
  },
});

export const downCommand = defineCommand({
  name: 'down',
  summary: 'stop servers of tool up',
  group: 'Branches',
  arguments: [{ ...TARGET, required: false }],
  options: [{ ...PORT, description: 'only this server' }, { flags: '--all', description: 'every target' }, DRY_RUN],
  examples: [{ command: 'tool down app --yes', does: 'remove their files' }],
  json: 'events',
  writes: true,
  async run(invocation) {
    const { target } = invocation.arguments;
    const { all = false } = invocation.options;
    if (all === (target !== undefined)) {
      throw wrongUsage('Either a target or --all is required', { hint: 'List the servers: tool ps' });
    }
    const { downOperation } = await import('../operations/servers/down/operation.ts');
    const { all: _, ...request } = requestOf(invocation);
    return runPlanned(invocation, downOperation, { request });
  },
});

export const psCommand = defineCommand({
  name: 'ps',
  summary: 'list servers of tool up',
  group: 'Branches',
  arguments: [],
  options: [],
  examples: [{ command: 'tool ps', does: 'list port, age and memory' }],
  json: 'document',
  async run(invocation) {
    const { formatTable } = await import('../cli/printers/table.ts');
    const { listServers } = await import('../operations/servers/list/list.ts');
    const { NO_SERVERS, serverColumns } = await import('../operations/servers/list/text.ts');
    const context = await invocation.context();
    const list = await listServers(context);
    const columns = serverColumns(context.clock());
    const text = list.servers.length > 0 ? formatTable(columns, list.servers, invocation.tableOptions()) : NO_SERVERS;
    return { data: list, text };
  },
});
