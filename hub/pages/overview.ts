import { html } from 'hono/html';
import * as v from 'valibot';
import { searchQuery } from '../../src/cloud/contract/schemas.ts';
import { PERIODS } from '../../src/repository/keep-policy.ts';
import { boundedList } from '../../src/text/bounded-list.ts';
import { formatAge, formatCount, formatNumberOf } from '../../src/text/format.ts';
import { countTargets, listOverview, type OverviewRow } from '../database/targets/overview.ts';
import { intervalText } from '../notifications/text.ts';
import { type Html, nameOf, namesOf, timeOf } from './html.ts';
import { type Column, layout, pager, table } from './layout.ts';
import type { PageAnswer, PermittedRequest } from './page.ts';
import { formOf } from './query.ts';

const overviewForm = v.strictObject({
  q: searchQuery.entries.q,
  late: v.exactOptional(v.literal('1')),
  cursor: searchQuery.entries.cursor,
});

/** Targets, the age of their newest snapshot and last proved restore, late targets, and who may read them. */
export async function overviewPage({ context, site, caller, hub }: PermittedRequest): Promise<PageAnswer> {
  const form = formOf(context, overviewForm);
  const now = hub.clock();
  const { q, late, cursor } = form;
  const [{ targets, snapshot: lateTargets, restore: lateRestores }, { items, next_cursor }] = await Promise.all([
    countTargets(hub.db, now),
    listOverview(hub.db, { q, late: late === '1', cursor, now }),
  ]);
  const path = `${site.base}/`;
  const found =
    items.length === 0
      ? html`<p>${targets === 0 ? 'The hub has no targets yet. Create them with tool cloud apply.' : 'No target matches.'}</p>`
      : table('Targets by name', { columns: columnsAt(now), rows: items });
  const content = html`<p>${formatNumberOf(targets, 'target')}, ${lateTargets === 0 ? 'none late' : html`<strong>${formatCount(lateTargets)} late</strong>`}${lateRestores === 0 ? '' : html`, <strong>${formatCount(lateRestores)} with a late restore</strong>`}</p>
<form class="filter" role="search" method="get" action="${path}">
<label>Name contains <input type="search" name="q" value="${q ?? ''}" maxlength="100"></label>
<label class="check"><input type="checkbox" name="late" value="1"${late === '1' ? html` checked` : ''}> Late targets only</label>
<button>Search</button>
</form>
${found}
${pager(path, { query: form, next: next_cursor })}`;
  return { page: layout({ title: 'Overview', site, caller, current: 'overview', content }) };
}

function columnsAt(now: Date): Column<OverviewRow>[] {
  return [
    { label: 'Target', value: ({ name }) => nameOf(name) },
    { label: 'Status', value: statusOf },
    { label: 'Newest snapshot', value: (row) => newestOf(row, now) },
    {
      label: 'Expected every',
      value: expectedOf,
    },
    { label: 'Snapshots', number: true, value: ({ snapshots }) => formatCount(snapshots) },
    { label: 'Keep', value: keepOf },
    { label: 'Permissions', value: readersOf },
  ];
}

function expectedOf({ expected_every, restore_expected_every, schedule }: OverviewRow): Html {
  const every = expected_every === null ? '–' : intervalText(expected_every);
  const details = [
    ...(schedule === null ? [] : [`${schedule.cron} ${schedule.timezone}`]),
    ...(restore_expected_every === null ? [] : [`Restore: ${intervalText(restore_expected_every)}`]),
  ];
  return html`${every}${details.map((text) => html`<br><span class="faint">${text}</span>`)}`;
}

function statusOf({ late, expected_every, restore_expected_every, schedule }: OverviewRow): Html {
  if (late.snapshot || late.restore) {
    const word = late.snapshot ? 'Late' : 'Restore late';
    return html`<span class="state late"><span aria-hidden="true">▲</span> ${word}</span>`;
  }
  if (expected_every === null && restore_expected_every === null) {
    return html`<span class="faint">${schedule === null ? 'No schedule' : 'Scheduled'}</span>`;
  }
  return html`<span class="state well"><span aria-hidden="true">✓</span> On time</span>`;
}

function newestOf({ last_snapshot_at: newest, restored_at: restored }: OverviewRow, now: Date): Html {
  const ageOf = (at: Date): string => formatAge(now.getTime() - at.getTime());
  const proof = restored === null ? '' : html`<br><span class="faint">Restored ${ageOf(restored)}</span>`;
  if (newest === null) return html`<span class="faint">No snapshot</span>${proof}`;
  return html`${ageOf(newest)}<br><span class="faint">${timeOf(newest)}</span>${proof}`;
}

const MOST_NAMED = 10;

/** The keep policy, and what it removes at the next publication. */
function keepOf({ keep, next_removals: ids }: OverviewRow): Html {
  if (keep === null) return html`<span class="faint">All</span>`;
  const periods = Object.entries(PERIODS).flatMap(([key, period]) => {
    const count = keep[key as keyof typeof PERIODS];
    return count === undefined ? [] : [`one a ${period} for ${formatNumberOf(count, period)}`];
  });
  const rules = [
    ...(keep.last === undefined ? [] : [`last ${formatCount(keep.last)}`]),
    ...(keep.within === undefined ? [] : [`younger than ${keep.within}`]),
    ...periods,
  ];
  if (ids.length === 0) return html`${rules.join(', ')}`;
  return html`${rules.join(', ')}<br><span class="faint">Next publication removes ${formatNumberOf(ids.length, 'snapshot')}: ${boundedList(ids, MOST_NAMED)}</span>`;
}

function readersOf({ reader_groups, original_groups, builder_groups }: OverviewRow): Html {
  return html`<ul>
<li>Sanitized snapshots: ${namesOf(reader_groups, 'no group')}</li>
<li>Originals: ${namesOf(original_groups, 'no group')}</li>
<li>Changes and builds: ${namesOf(builder_groups, 'all members')}</li>
</ul>`;
}
