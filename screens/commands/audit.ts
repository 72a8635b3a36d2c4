import type { AuditList } from '../../src/operations/cloud/audit.ts';
import { emptyList } from '../../src/state/list.ts';
import { fetchInto, notFetched, showWhileFetching } from '../app/lists/fetched.ts';
import { contextOf, type KeyBinding, type Model, quietly } from '../app/model.ts';
import { noTarget } from '../app/why-not.ts';
import type { AuditRoute } from '../audit/audit-route.ts';

/** Events that are listed: the newest. */
const MOST_EVENTS = 200;

export const AUDIT: KeyBinding = {
  id: 'audit',
  label: 'audit',
  help: 'audit of a cloud target: builds, loads, changes and refusals, with actor and time',
  palette: 'Open audit',
  when: ({ target }) => target?.row.type === 'cloud',
  whyNot: noTarget,
  run: (model) => {
    const { target } = contextOf(model);
    if (!target) return;
    const { name } = target.row;
    const route: AuditRoute = { screen: 'audit', target: name, list: emptyList, ...notFetched() };
    showWhileFetching(model, route, (signal) => readEvents(model, { target: name, signal }));
  },
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
