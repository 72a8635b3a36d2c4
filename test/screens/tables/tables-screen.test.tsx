import { expect, test } from 'vitest';
import { textEdit } from '../../../components/text-edit.ts';
import type { ThemeOptions } from '../../../components/theme.ts';
import { plannedRun } from '../../../screens/commands/runs/confirm.ts';
import type { TablesRoute } from '../../../screens/tables/tables-route.ts';
import { loadOperation } from '../../../src/operations/load/operation.ts';
import type { SnapshotTable } from '../../../src/results/results.ts';
import { emptyList } from '../../../src/state/list.ts';
import { tablesRead } from '../../../src/state/snapshots.ts';
import { fakePlannedWork } from '../../helpers/fakes/fake-planned-work.ts';
import { fakeSnapshot, fakeWorld } from '../../helpers/fakes/fake-world.ts';
import { screenLines, screenText } from '../../helpers/terminal/drawn-screen.tsx';
import { newModel } from '../../helpers/terminal/driven-model.ts';

const SIZES = [
  { columns: 60, rows: 20 },
  { columns: 80, rows: 24 },
  { columns: 120, rows: 40 },
  { columns: 220, rows: 60 },
];

const LONG = `public.${'very_'.repeat(40)}long`;

const FOUND = ['public.orders', '表.漢字 🚀', LONG].map((table) => ({ table, rows: 12_000, bytes: 1_200_000 }));

interface TablesPlace extends TablesRoute {
  found: SnapshotTable[];
}

function tablesPlace({ found = FOUND, ...change }: Partial<TablesPlace>): TablesPlace {
  const snapshot = fakeSnapshot({ tables: found.length });
  return { screen: 'tables', target: 'app', snapshot, list: emptyList, typing: null, marked: [], found, ...change };
}

async function drawn(
  size: (typeof SIZES)[number],
  { found, ...place }: TablesPlace,
  theme: ThemeOptions = { unicode: true },
) {
  const model = newModel(fakeWorld());
  const of = { target: place.target, snapshot: place.snapshot.id };
  model.snapshots.setState((state) => tablesRead(state, of, { found, error: null }));
  model.navigation.push(place);
  return screenLines(model, size, theme);
}

test.for(SIZES)(
  'marks stand before the names and move nothing, however wide a name is, at $columns×$rows',
  async (size) => {
    const plain = await drawn(size, tablesPlace({}));
    const marked = await drawn(size, tablesPlace({ marked: ['public.orders', '表.漢字 🚀', LONG] }));
    expect(marked.slice(3, 6).map((line) => line.replace('●', ' '))).toEqual(plain.slice(3, 6));
    expect(marked[2]).toMatch(/^❯ ● {2}public\.orders/);
    expect(marked[3]).toMatch(/^ {2}● {2}表\.漢字 🚀/);
    expect(marked[4]).toMatch(/^ {2}● {2}public\.very_.*….* 12,000 +1\.2 MB/);
    expect(marked[0]).toContain('3 marked  3 tables');
    expect(marked.at(-1)).toContain('Space mark   l load marked');
  },
);

test('marks are told without colours and beyond ASCII, and to a screen reader by a word', async () => {
  const place = tablesPlace({ marked: ['public.orders'] });
  expect((await drawn({ columns: 80, rows: 24 }, place, { unicode: false }))[2]).toMatch(/^> \* {2}public\.orders/);
  const spoken = await drawn({ columns: 80, rows: 24 }, place, { unicode: true, screenReader: true });
  expect(spoken).toContainEqual(expect.stringMatching(/^> marked: {2}public\.orders/));
});

test('the filter stands above what it lets through, and says how many that are', async () => {
  const typed = await drawn({ columns: 80, rows: 24 }, tablesPlace({ typing: textEdit('orders') }));
  expect(typed[0]).toContain('1 of 3 tables');
  expect(typed[1]).toContain('/ orders');
  expect(typed[3]).toContain('public.orders');
  const nothing = await drawn({ columns: 80, rows: 24 }, tablesPlace({ list: { ...emptyList, filter: 'none' } }));
  expect(nothing.join('\n')).toContain('Nothing matches the filter.');
});

test.for(SIZES)(
  'however many tables come along, one sees where they go and what is asked, at $columns×$rows',
  async (size) => {
    const world = fakeWorld();
    const model = newModel(world);
    const session = { report: () => {}, signal: new AbortController().signal };
    const request = { target: 'app', snapshot: 'snapshot-0', tables: ['public.orders'] };
    const sealed = await fakePlannedWork(world).load.plan(session, request);
    const needed = Array.from({ length: 40 }, (_, index) => ({
      ...{ table: `public.table_${index}`, needed_by: 'public.orders', why: 'reference' as const },
    }));
    const selection = { chosen: Array.from({ length: 30 }, (_, index) => `sales.part_${index}`), needed, empty: [] };
    const plan = plannedRun(model, loadOperation, {
      ...{ target: 'app', sealed },
      shown: { ...sealed.plan, selection },
    });
    const controller = new AbortController();
    const asked = { plan, error: null, typing: null, controller, retry: () => {} };
    model.navigation.push({ screen: 'confirm', target: 'app', title: 'load', ...asked });
    const shown = await screenText(model, size);
    expect(shown).toMatch(/Destination +postgres:\/\/app@localhost:5432\/\s*app_dev/);
    expect(shown).toMatch(/Tables +sales\.part_0, sales\.part_1/);
    expect(shown).toMatch(/Required tables +public\.table_0 \(public\.orders/);
    expect(shown).toContain('❯ Cancel');
    expect(shown).toContain('app_dev will be replaced.');
  },
);

test('a table whose rows the build left out is no empty one', async () => {
  const found = [
    { table: 'public.orders', rows: 12_000, bytes: 1_200_000 },
    { table: 'public.audit_log', rows: 0, bytes: 0 },
    { table: 'public.empty', rows: 0, bytes: 0 },
  ];
  const snapshot = fakeSnapshot({ excluded_rows: { tables: ['public.audit_log'], nullified: [] } });
  const lines = await drawn({ columns: 80, rows: 24 }, tablesPlace({ found, snapshot }));
  expect(lines.find((line) => line.includes('audit_log'))).toMatch(/audit_log +excluded +0 B/);
  expect(lines.find((line) => line.includes('empty'))).toMatch(/empty +0 +0 B/);
});
