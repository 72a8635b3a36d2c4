import { html } from 'hono/html';
import * as v from 'valibot';
import { auditCsv as csvOf } from '../../src/cloud/contract/audit-csv.ts';
import { auditQuery } from '../../src/cloud/contract/schemas.ts';
import { formatCount } from '../../src/text/format.ts';
import { type AuditFilter, type AuditRow, eventAnswer, listEvents } from '../database/audit.ts';
import { type Html, nameOf, namesOf, timeOf } from './html.ts';
import { type Column, layout, pager, table } from './layout.ts';
import type { PageAnswer, PermittedRequest } from './page.ts';
import { formOf } from './query.ts';

const day = v.exactOptional(v.pipe(v.string(), v.isoDate('must be a day: 2026-11-22')));
const { actor, subject, target, action, cursor } = auditQuery.entries;

const auditForm = v.strictObject({
  since: day,
  until: day,
  ...{ actor, subject, target, action, cursor },
  outcome: v.exactOptional(v.picklist(['done', 'refused'])),
});
type AuditForm = v.InferOutput<typeof auditForm>;

/** Events of one download. */
const MOST_EVENTS = 10_000;
const PAGE_EVENTS = 200;

export async function auditPage({ context, site, caller, hub }: PermittedRequest): Promise<PageAnswer> {
  const form = formOf(context, auditForm);
  const { items, next_cursor } = await listEvents(hub.db, filterOf(form));
  const path = `${site.base}/audit`;
  const { cursor: _, ...filters } = form;
  const csv = `${site.base}/audit.csv?${new URLSearchParams(filters)}`.replace(/\?$/, '');
  const found =
    items.length === 0
      ? html`<p>No event matches.</p>`
      : table('Events, newest first', { columns: COLUMNS, rows: items });
  const text = (name: 'actor' | 'subject' | 'target' | 'action', label: string): Html =>
    html`<label>${label} <input name="${name}" value="${form[name] ?? ''}" autocomplete="off"></label>`;
  const date = (name: 'since' | 'until', label: string): Html =>
    html`<label>${label} <input type="date" name="${name}" value="${form[name] ?? ''}"></label>`;
  const option = (value: string, label: string): Html =>
    html`<option value="${value}"${value === (form.outcome ?? '') ? html` selected` : ''}>${label}</option>`;
  const content = html`<form class="filter" role="search" method="get" action="${path}">
${date('since', 'From (UTC)')}
${date('until', 'To (UTC)')}
${text('actor', 'Actor')}
${text('subject', 'Subject')}
${text('target', 'Target')}
${text('action', 'Action')}
<label>Outcome <select name="outcome">${option('', 'all')}${option('done', 'done')}${option('refused', 'refused')}</select></label>
<button>Filter</button>
</form>
${found}
${pager(path, { query: form, next: next_cursor })}
<p class="actions"><a href="${csv}">Download these events as CSV</a> <span class="faint">at most ${formatCount(MOST_EVENTS)}</span></p>`;
  return { page: layout({ title: 'Audit', site, caller, current: 'audit', content }) };
}

/** The events of the filters, newest first, at most 10,000. */
export async function auditCsv({ context, hub }: PermittedRequest): Promise<PageAnswer> {
  const filter = filterOf(formOf(context, auditForm));
  const events: AuditRow[] = [];
  let next: string | null | undefined = filter.cursor;
  do {
    const page: Awaited<ReturnType<typeof listEvents>> = await listEvents(hub.db, {
      ...filter,
      limit: PAGE_EVENTS,
      ...(next != null && { cursor: next }),
    });
    events.push(...page.items);
    next = page.next_cursor;
  } while (next !== null && events.length < MOST_EVENTS);
  return { text: { type: 'text/csv; charset=utf-8', content: csvOf(events.map(eventAnswer)), file: 'audit.csv' } };
}

const DAY = 86_400_000;

/** Both days included. */
function filterOf({ since, until, ...rest }: AuditForm): AuditFilter {
  return {
    ...rest,
    ...(since !== undefined && { since: new Date(since).toISOString() }),
    ...(until !== undefined && { until: new Date(Date.parse(until) + DAY).toISOString() }),
  };
}

/** Two people with one name have two subjects. */
function actorOf({ actor: name, subject, issuer }: AuditRow): Html {
  if (subject === null || subject === name) return nameOf(name);
  return html`${nameOf(name)}<br><span class="faint">${namesOf(issuer === null ? [subject] : [subject, issuer], '')}</span>`;
}

const COLUMNS: Column<AuditRow>[] = [
  { label: 'Time', value: ({ at }) => timeOf(at) },
  { label: 'Actor', value: actorOf },
  { label: 'Action', value: ({ action: name }) => nameOf(name) },
  { label: 'Target', value: ({ target: name }) => (name === null ? '–' : nameOf(name)) },
  { label: 'Object', value: ({ object }) => (object === null ? '–' : nameOf(object)) },
  {
    label: 'Outcome',
    value: ({ outcome }) =>
      outcome === 'refused'
        ? html`<span class="state late"><span aria-hidden="true">✗</span> refused</span>`
        : html`<span aria-hidden="true">✓</span> done`,
  },
  { label: 'Address', value: ({ address }) => (address === null ? '–' : nameOf(address)) },
];
