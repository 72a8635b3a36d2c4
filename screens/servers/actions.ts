import { downOperation } from '../../src/operations/servers/down/operation.ts';
import { NO_SERVER, NO_SERVER_PASSWORD } from '../../src/operations/servers/list/text.ts';
import type { KeyBinding, KeyContext } from '../app/model.ts';
import { notWritable } from '../app/why-not.ts';
import { openClient } from '../commands/client.ts';
import { copyDatabaseUrl } from '../commands/copy.ts';
import { confirmOperation } from '../commands/runs/confirm.ts';
import { confirmUp } from '../commands/servers.ts';
import { refreshServers, type ServersRoute, selectedServer } from './servers-route.ts';

export const NEW_SERVER: KeyBinding<ServersRoute> = {
  id: 'new',
  label: 'new',
  help: 'start a server with the newest snapshot; shows the plan first',
  palette: 'Start server with the newest snapshot…',
  whyNot: notWritable,
  run: (model, { target }) => confirmUp(model, { target }),
};

export const STOP_SERVER: KeyBinding<ServersRoute> = {
  id: 'remove',
  keys: ['d', 'delete'],
  label: 'stop',
  help: 'stop the server and remove its files; asks first',
  palette: 'Stop server…',
  whyNot: (context) => notWritable(context) ?? noServer(context),
  run(model, route) {
    const { target } = route;
    const server = selectedServer(route);
    if (!server) return;
    confirmOperation(model, downOperation, {
      after: () => refreshServers(model, target),
      request: { target, port: server.port },
      title: `stop port ${server.port}`,
    });
  },
};

export const COPY_SERVER_URL: KeyBinding<ServersRoute> = {
  id: 'copy',
  label: 'copy URL',
  help: 'copy the connection URL of the server; with its password, where this session has started it',
  palette: 'Copy URL of server',
  whyNot: noServer,
  run(model, route) {
    const server = selectedServer(route);
    if (server) copyDatabaseUrl(model, server.url);
  },
};

export const SERVER_CLIENT: KeyBinding<ServersRoute> = {
  id: 'client',
  label: 'open client',
  help: 'open psql or mysql on the server, where this session has started it; quit it to return here',
  palette: 'Open psql or mysql on the server',
  whyNot(context) {
    const server = selectedServer(context.route);
    const { operations } = context.model;
    const isUnknown = server !== null && operations.serverUrl(server.url) === null;
    return notWritable(context) ?? noServer(context) ?? (isUnknown ? NO_SERVER_PASSWORD : null);
  },
  run(model, route) {
    const server = selectedServer(route);
    if (server) void openClient(model, { target: route.target, url: server.url });
  },
};

function noServer({ route }: Pick<KeyContext<ServersRoute>, 'route'>): string | null {
  return selectedServer(route) ? null : NO_SERVER;
}
