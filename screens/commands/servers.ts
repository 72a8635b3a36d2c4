import { upOperation } from '../../src/operations/servers/up/operation.ts';
import type { UpRequest } from '../../src/operations/servers/up/up.ts';
import { emptyList } from '../../src/state/list.ts';
import { notFetched, showWhileFetching } from '../app/lists/fetched.ts';
import type { KeyBinding, Model } from '../app/model.ts';
import { onSnapshot, onTarget } from '../app/on-selected.ts';
import type { Routes } from '../app/route.ts';
import { noTarget, notChangeable } from '../app/why-not.ts';
import { readServers, refreshServers } from '../servers/servers-route.ts';
import { confirmOperation } from './runs/confirm.ts';

/** On the lists of targets and of snapshots. */
export const SERVERS: KeyBinding = {
  id: 'servers',
  label: 'servers',
  help: 'servers of the target, each on a copy of an image',
  palette: 'Open servers',
  whyNot: noTarget,
  run: onTarget(showServers),
};

export function showServers(model: Model, target: string): void {
  const route: Routes['servers'] = { screen: 'servers', target, list: emptyList, ...notFetched() };
  showWhileFetching(model, route, (signal) => readServers(model, target, signal));
}

export const START_SERVER: KeyBinding = {
  id: 'new',
  label: 'new server',
  help: 'start a server with the snapshot; shows the plan first',
  palette: 'Start server with snapshot…',
  whyNot: notChangeable,
  run: onSnapshot((model, { target, snapshot }) => confirmUp(model, { target, snapshot: snapshot.id })),
};

/** Its server ends with the screens, unless the other way is chosen. */
export function confirmUp(model: Model, request: UpRequest): void {
  const { target, detach = false } = request;
  confirmOperation(model, upOperation, {
    after: () => refreshServers(model, target),
    request: { ...request, session: true },
    title: 'start server',
    alternatives: () => (detach ? {} : { servers: () => confirmUp(model, { ...request, detach: true }) }),
  });
}
