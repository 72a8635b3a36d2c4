import type { AuditEvent } from '../../cloud/contract/schemas.ts';
import type { Column } from '../../presentation/shapes/column.ts';
import { formatTime } from '../../text/format.ts';
import { printable } from '../../text/printable.ts';

export const NO_EVENTS = 'No matching audit events';
export const MORE_EVENTS = 'Older events match too: narrow the time with --since and --until, or print all with --csv';

export const AUDIT_COLUMNS: Column<AuditEvent>[] = [
  { title: 'TIME', whole: true, cell: ({ at }) => ({ text: formatTime(at) }) },
  { title: 'ACTOR', cell: ({ actor }) => ({ text: printable(actor) }) },
  { title: 'SUBJECT', cell: ({ subject }) => ({ text: printable(subject ?? '') }) },
  { title: 'ACTION', cell: ({ action }) => ({ text: printable(action) }) },
  { title: 'TARGET', cell: ({ target }) => ({ text: printable(target ?? '') }) },
  { title: 'OBJECT', whole: true, dropRank: 1, cell: ({ object }) => ({ text: printable(object ?? '') }) },
  {
    title: 'OUTCOME',
    whole: true,
    cell: ({ outcome }) => ({ text: outcome, tone: outcome === 'refused' ? 'bad' : 'plain' }),
  },
  { title: 'ADDRESS', dropRank: 2, cell: ({ address }) => ({ text: printable(address ?? '') }) },
];
