import * as v from 'valibot';
import { downOperation } from '../operations/servers/down/operation.ts';
import { upOperation } from '../operations/servers/up/operation.ts';
import { serverUrl } from '../operations/servers/up/text.ts';
import type { UpRequest } from '../operations/servers/up/up.ts';
import type { Context } from '../runtime/context.ts';
import { UserError } from '../runtime/errors.ts';
import { toSelector } from '../text/snapshot-selector.ts';
import * as given from './arguments.ts';
import { plannedTools } from './planned-tools.ts';
import { defineTool, type Tool } from './tool.ts';

/** Servers of a session at the same time. */
const MOST_SERVERS = 3;

const START = v.strictObject({ target: given.target, snapshot: v.optional(given.snapshot) });

/** Servers of the session. Whoever has the URL of one can run any SQL there: all need the word for that. */
export const SERVER_TOOLS: Tool[] = [
  defineTool({
    name: 'list_servers',
    title: 'List servers',
    description: 'Lists the servers that create_server has started in this session, with port, start and memory.',
    effect: 'reads',
    needs: 'credentials',
    input: v.strictObject({}),
    output: 'document.ps',
    run: async ({ context }) => ({ data: { servers: await ownServers(context) } }),
  }),
  defineTool({
    name: 'create_server',
    title: 'Start a server',
    description: `Starts a database server of your own with a snapshot, and returns its URL with the password. No other database is changed or connected to. It ends with this session, or with stop_server; at most ${MOST_SERVERS} run.`,
    effect: 'creates',
    needs: 'credentials',
    input: START,
    output: 'done.up',
    run: ({ context, inTurn }, asked) =>
      inTurn(async () => {
        await assertRoomForServer(context);
        const { plan, apply } = await upOperation.work();
        const secret: Record<string, string> = {};
        const report: Context['report'] = (event) => {
          if (event.event === 'server') secret.url = serverUrl(event);
          else context.report(event);
        };
        const data = await apply({ ...context, report }, await plan(context, requestOf(asked)));
        return { data, secret };
      }),
  }),
  ...plannedTools({
    name: 'stop_server',
    planTitle: 'Plan the end of a server',
    plans: 'Returns which server stop_server would stop. Changes nothing. Returns a token.',
    title: 'Stop a server',
    description:
      'Stops a server that create_server has started in this session, and removes its files. Requires the token of plan_stop_server with the same arguments.',
    needs: 'credentials',
    planNeeds: 'credentials',
    input: { port: given.port },
    operation: downOperation,
    request: (_, { port }) => ({ port, own: true }),
  }),
];

export async function assertRoomForServer(context: Context): Promise<void> {
  if ((await ownServers(context)).length >= MOST_SERVERS) throw tooManyServers();
}

async function ownServers(context: Context) {
  const { listOwnServers } = await import('../operations/servers/list/list.ts');
  return listOwnServers(context);
}

function requestOf({ target, snapshot }: v.InferOutput<typeof START>): UpRequest {
  return { target, session: true, ...(snapshot !== undefined && { snapshot: toSelector(snapshot) }) };
}

function tooManyServers(): UserError {
  return new UserError('too_many_calls', `${MOST_SERVERS} servers of this session run`, {
    hint: 'Stop one of them: plan_stop_server, stop_server.',
  });
}
