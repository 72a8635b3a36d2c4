import type { AuditList } from '../../src/operations/cloud/audit.ts';
import type { ListState } from '../../src/state/list.ts';
import type { FetchState } from '../app/lists/fetched.ts';

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
