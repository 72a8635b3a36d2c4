import type { ServerRow } from '../../src/results/running-servers.ts';
import type { ListState } from '../../src/state/list.ts';
import { type FetchState, fetchInto } from '../app/lists/fetched.ts';
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

/** Reads the list anew wherever it is open, and shows the old one until then. */
export function refreshServers(model: Model, target: string): void {
  for (const route of model.navigation.store.getState().stack) {
    if (route.screen !== 'servers' || route.target !== target) continue;
    fetchInto(model, route, (signal) => readServers(model, target, signal));
  }
}

export async function readServers(model: Model, target: string, signal: AbortSignal): Promise<ServerRow[]> {
  const { servers } = await model.operations.listServers(quietly(signal));
  return servers.filter((server) => server.target === target);
}
