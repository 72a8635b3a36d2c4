import type { AuditList } from '../../src/operations/cloud/audit.ts';
import { emptyList, type ListState } from '../../src/state/list.ts';
import { type FetchState, fetchInto, notFetched, showWhileFetching } from '../app/lists/fetched.ts';
import { type KeyBinding, type Model, quietly } from '../app/model.ts';
import { onTarget } from '../app/on-selected.ts';
import { noTarget } from '../app/why-not.ts';

declare module '../app/route.ts' {
  interface Routes {
    audit: AuditRoute;
  }
}

export interface AuditRoute extends FetchState<AuditList> {
  screen: 'audit';
  target: string;
  list: ListState;
}

export function eventsOf({ found }: AuditRoute): AuditList['events'] {
  return found?.events ?? [];
}

/** Events that are listed: the newest. */
const MOST_EVENTS = 200;

export const AUDIT: KeyBinding = {
  id: 'audit',
  label: 'audit',
  help: 'audit of a cloud target: builds, loads, changes and refusals, with actor and time',
  palette: 'Open audit',
  when: ({ target }) => target?.row.type === 'cloud',
  whyNot: noTarget,
  run: onTarget((model, target) => {
    const route: AuditRoute = { screen: 'audit', target, list: emptyList, ...notFetched() };
    showWhileFetching(model, route, (signal) => readEvents(model, { target, signal }));
  }),
};

export async function readAgain(model: Model, route: AuditRoute): Promise<void> {
  const { navigation } = model;
  const unread: AuditRoute = { ...route, ...notFetched(), found: route.found };
  navigation.replace(unread);
  fetchInto(model, unread, (signal) => readEvents(model, { target: route.target, signal }));
}

function readEvents(model: Model, { target, signal }: { target: string; signal: AbortSignal }): Promise<AuditList> {
  return model.operations.listAudit(quietly(signal), { target, most: MOST_EVENTS });
}
