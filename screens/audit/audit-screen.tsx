import { ListView } from '../../components/list-view.tsx';
import { auditColumns, auditFacts, countedEvents } from '../../src/operations/cloud/audit-text.ts';
import { Frame, useRoom } from '../app/frame.tsx';
import { positionIn, rowsByIndex } from '../app/in-view.ts';
import { BACK, HELP, MOVES, PALETTE, REFRESH } from '../app/keys.ts';
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
  const { columns, height, wide } = useRoom();
  const { target, found, error, list } = route;
  const events = eventsOf(route);
  return (
    <Frame screen="audit" path={[target, 'audit']} aside={found ? [{ text: countedEvents(found), tone: 'dim' }] : []}>
      <ListView
        columns={AUDIT_COLUMNS}
        rows={events}
        keyOf={(event) => String(events.indexOf(event))}
        selected={positionIn(rowsByIndex(events), list.selected)}
        width={columns}
        height={height}
        error={error}
        empty={found ? EMPTY.audit : LOADING.audit}
        detail={auditFacts}
        wide={wide}
      />
    </Frame>
  );
}
