import { defineCommand } from '../cli/command.ts';
import { requestOf, runPlanned } from '../cli/run-planned.ts';
import type { Context } from '../runtime/context.ts';
import { DRY_RUN, SNAPSHOT, TARGET } from './shared-options.ts';
import { excludeEachOther, requiresFlag } from './wrong-usage.ts';

const PORT = { flags: '--port <n>', value: 'count' } as const;

export const upCommand = defineCommand({
  name: 'up',
  summary: 'start a server with a snapshot',
  group: 'Branches',
  arguments: [TARGET, SNAPSHOT],
  options: [
    { ...PORT, description: 'default: a free port' },
    { flags: '--detach', description: 'leave it running' },
    { flags: '--env', description: 'with --detach: print DATABASE_URL=URL, for an .env file' },
    DRY_RUN,
  ],
  examples: [{ command: 'tool up app', does: 'end it with Ctrl-C' }],
  json: 'events',
  writes: true,
  async run(invocation) {
    const { upOperation } = await import('../operations/servers/up/operation.ts');
    const { keepHeapSmall } = await import('../runtime/keep-heap-small.ts');
    keepHeapSmall();
    const { env, ...request } = requestOf(invocation);
    if (!env) return runPlanned(invocation, upOperation, { request });
    if (!request.detach) throw requiresFlag('--env', '--detach', 'Add it.');
    if (invocation.globals.json) throw excludeEachOther('--env', '--json');
    const { serverUrl } = await import('../operations/servers/up/text.ts');
    let url = '';
    const context = async (): Promise<Context> => {
      const own = await invocation.context();
      const report: Context['report'] = (event) => {
        if (event.event === 'server') url = serverUrl(event);
        else own.report(event);
      };
      return { ...own, report };
    };
    const { options, cwd, confirm, tableOptions } = invocation;
    const text = () => `DATABASE_URL=${url}`;
    const outcome = await runPlanned({ options, cwd, confirm, tableOptions, context }, upOperation, { request, text });
    // Printing the password is what --env requests.
    return options.dryRun ? outcome : { ...outcome, data: {}, verbatim: true };
  },
});

export const downCommand = defineCommand({
  name: 'down',
  summary: 'stop servers of tool up',
  group: 'Branches',
  arguments: [{ ...TARGET, required: false, description: 'default: the only server, or the only target' }],
  options: [{ ...PORT, description: 'only this server' }, { flags: '--all', description: 'every target' }, DRY_RUN],
  examples: [{ command: 'tool down app --yes', does: 'remove their files' }],
  json: 'events',
  writes: true,
  async run(invocation) {
    const { target } = invocation.arguments;
    const { all = false } = invocation.options;
    if (all && target !== undefined) throw excludeEachOther('A target', '--all');
    const { downOperation } = await import('../operations/servers/down/operation.ts');
    const request = { ...requestOf(invocation), all };
    return runPlanned(invocation, downOperation, { request });
  },
});

export const psCommand = defineCommand({
  name: 'ps',
  summary: 'list servers of tool up',
  group: 'Branches',
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
