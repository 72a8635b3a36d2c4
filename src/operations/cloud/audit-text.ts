import type { AuditEvent } from '../../cloud/contract/schemas.ts';
import type { Column } from '../../presentation/shapes/column.ts';
import type { Fact } from '../../presentation/shapes/fact.ts';
import { formatNumberOf, formatTime } from '../../text/format.ts';
import { printable } from '../../text/printable.ts';
import type { AuditList } from './audit.ts';

export const NO_EVENTS = 'No matching audit events';
export const MORE_EVENTS = 'Older events match too: narrow the time with --since and --until, or print all with --csv';

/** Columns of audit events; those of one target need no target, and a list with the facts beside it no subject. */
export function auditColumns({ withTarget = true, withSubject = true } = {}): Column<AuditEvent>[] {
  const target: Column<AuditEvent> = { title: 'TARGET', cell: (event) => ({ text: printable(event.target ?? '') }) };
  const subject: Column<AuditEvent> = { title: 'SUBJECT', cell: (event) => ({ text: printable(event.subject ?? '') }) };
  return [
    { title: 'TIME', whole: true, cell: ({ at }) => ({ text: formatTime(at) }) },
    { title: 'ACTOR', cell: ({ actor }) => ({ text: printable(actor) }) },
    ...(withSubject ? [subject] : []),
    { title: 'ACTION', cell: ({ action }) => ({ text: printable(action) }) },
    ...(withTarget ? [target] : []),
    { title: 'OBJECT', whole: true, dropRank: 1, cell: ({ object }) => ({ text: printable(object ?? '') }) },
    {
      title: 'OUTCOME',
      whole: true,
      cell: ({ outcome }) => ({ text: outcome, tone: outcome === 'refused' ? 'bad' : 'plain' }),
    },
    { title: 'ADDRESS', dropRank: 2, cell: ({ address }) => ({ text: printable(address ?? '') }) },
  ];
}

/** An event in full, for the pane beside the list. */
export function auditFacts({ at, actor, subject, issuer, action, object, outcome, address }: AuditEvent): {
  title: string;
  facts: Fact[];
} {
  const facts: [string, string | null][] = [
    ['Time', formatTime(at)],
    ['Actor', actor],
    ['Subject', subject ?? null],
    ['Issuer', issuer ?? null],
    ['Object', object],
    ['Outcome', outcome],
    ['Address', address],
  ];
  return {
    title: printable(action),
    facts: facts.flatMap(([name, value]) => (value === null ? [] : [{ name, value: printable(value) }])),
  };
}

/** `37 events`, `the newest 200 events` */
export function countedEvents({ events, more }: AuditList): string {
  const count = formatNumberOf(events.length, 'event');
  return more ? `the newest ${count}` : count;
}
