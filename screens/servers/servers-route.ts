import type { ServerRow } from '../../src/results/running-servers.ts';
import type { ListState } from '../../src/state/list.ts';
import { type FetchState, fetchAgain } from '../app/lists/fetched.ts';
import { positionIn, rowsByIndex } from '../app/lists/in-view.ts';
import { type Model, quietly } from '../app/model.ts';

export interface ServersRoute extends FetchState<ServerRow[]> {
  screen: 'servers';
  target: string;
  list: ListState;
}

export function serversOf({ found }: ServersRoute): ServerRow[] {
  return found ?? [];
}

export function selectedServer(route: ServersRoute): ServerRow | null {
  const servers = serversOf(route);
  return servers[positionIn(rowsByIndex(servers), route.list.selected)] ?? null;
}

export function refreshServers(model: Model, target: string): void {
  fetchAgain<ServersRoute>(model, { screen: 'servers', target }, (_, signal) => readServers(model, target, signal));
}

export async function readServers(model: Model, target: string, signal: AbortSignal): Promise<ServerRow[]> {
  const { servers } = await model.operations.listServers(quietly(signal));
  return servers.filter((server) => server.target === target);
}
