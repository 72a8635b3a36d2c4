import { auditColumns, auditFacts, countedEvents } from '../../src/operations/cloud/audit-text.ts';
import { ListFrame } from '../app/frame/list-frame.tsx';
import { BACK, HELP, MOVES, PALETTE, REFRESH } from '../app/keys.ts';
import { rowsByIndex } from '../app/lists/in-view.ts';
import type { ScreenModule } from '../app/model.ts';
import { EMPTY, LOADING } from '../app/text.ts';
import { readAgain } from '../commands/audit.ts';
import { type AuditRoute, eventsOf } from './audit-route.ts';

/** One object, so that the layout is memoized. */
const AUDIT_COLUMNS = auditColumns({ withTarget: false, withSubject: false });

export const auditScreen: ScreenModule<AuditRoute> = {
  id: 'audit',
  title: 'Audit of a cloud target',
  view: AuditView,
  keys: [BACK, REFRESH, PALETTE, HELP, ...MOVES],
  rows: (_, route) => rowsByIndex(eventsOf(route)),
  onRefresh: readAgain,
};

function AuditView({ route }: { route: AuditRoute }) {
  const { target, found } = route;
  return (
    <ListFrame
      route={route}
      path={[target, 'audit']}
      aside={found ? [{ text: countedEvents(found), tone: 'dim' }] : []}
      columns={AUDIT_COLUMNS}
      rows={eventsOf(route)}
      empty={found ? EMPTY.audit : LOADING.audit}
      detail={auditFacts}
      beside
    />
  );
}
