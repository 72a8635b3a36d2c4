import { expect, test } from 'vitest';
import type { Model } from '../../../screens/app/model.ts';
import { rehearsalMarkdown } from '../../../src/operations/rehearse/text.ts';
import { markdownText } from '../../../src/text/markdown.ts';
import { cellWidth } from '../../../src/text/text-width.ts';
import { fakeBranch } from '../../helpers/fakes/fake-branches.ts';
import { fakeRehearsal } from '../../helpers/fakes/fake-rehearsal.ts';
import { type FakeWorld, fakeTarget, fakeWorld } from '../../helpers/fakes/fake-world.ts';
import { screenLines, screenText } from '../../helpers/terminal/drawn-screen.tsx';
import { listed, press, until } from '../../helpers/terminal/driven-model.ts';
import { fakeTerminal } from '../../helpers/terminal/fake-terminal.ts';

function worldOf(more: Partial<FakeWorld> = {}): FakeWorld {
  return { ...fakeWorld({ targets: [fakeTarget({ name: 'app' })], branches: [fakeBranch('login')] }), ...more };
}

const shows = (model: Model, screen: string) => until(() => model.navigation.top().screen === screen);

/** The report, after `typed` was run. */
async function reported(world: FakeWorld, typed = ''): Promise<Model> {
  const model = await listed(world);
  press(model, 'V');
  expect(model.navigation.top().screen).toBe('field');
  press(model, ...typed, 'enter');
  await shows(model, 'rehearsal');
  return model;
}

test.each([
  ['', 'npm run migrate'],
  ['npx migrate deploy', 'npx migrate deploy'],
  ['add.sql', '/add.sql'],
  ['psql -f add.sql', 'psql -f add.sql'],
])('V asks what to run; "%s" runs %s and shows its report', async (typed, run) => {
  const world = worldOf();
  const model = await reported(world, typed);
  expect(world.done).toEqual([`rehearse ${run}`]);
  press(model, 'esc');
  expect(model.navigation.top().screen).toBe('targets');
});

test('the report begins with the verdict, who would have waited, and a bar for each statement', async () => {
  const model = await reported(worldOf());
  const lines = await screenLines(model);
  expect(lines.slice(1, 6).map((line) => line.trim())).toEqual([
    '✗ Failed: migration of app, 5 statements in 1 min 03 s',
    'npx prisma migrate deploy failed with exit code 1, and 1 more problem',
    'Readers and writers of public.orders would have waited for up to 57.3 s,',
    'and 2 shorter waits',
    'Rewritten: 14.2 GB in 1 table and 1 index',
  ]);
  const bars = lines.filter((line) => /(?:░|▓|█).* m?s/.test(line) && !line.includes('lock held'));
  expect(bars.map((line) => line.replaceAll(/ +/g, ' ').trim())).toEqual([
    "SET lock_timeout = '… ░ 0 ms",
    expect.stringMatching(/^ALTER TABLE orders A… █+─+ 41\.2 s readers wait$/),
    expect.stringMatching(/^UPDATE orders SET am… ░+ 6\.3 s$/),
    expect.stringMatching(/^CREATE INDEX orders_… ▓+ 9\.8 s writers wait$/),
    expect.stringMatching(/^❯ CREATE UNIQUE INDEX … ▓+ 4\.9 s failed$/),
  ]);
  expect(lines.every((line) => cellWidth(line) <= 80)).toBe(true);
});

test('a bar is marked by who waits, without colour and Unicode too', async () => {
  const lines = await screenLines(await reported(worldOf()), { columns: 80, rows: 24 }, { unicode: false, colors: 0 });
  expect(lines.some((line) => / #+-+ .*readers wait/.test(line))).toBe(true);
  expect(lines.some((line) => / =+ .*writers wait/.test(line))).toBe(true);
  expect(lines.some((line) => / \.+ +6\.3 s/.test(line))).toBe(true);
});

test('Enter shows a warning in full with its safer form, and y copies the report as Markdown', async () => {
  const copied: string[] = [];
  const world = worldOf();
  const model = await listed(world, { terminal: { ...fakeTerminal(), copy: (text) => void copied.push(text) } });
  press(model, 'V', 'enter');
  await shows(model, 'rehearsal');
  press(model, 'down', 'down', 'down', 'down', 'down');
  expect(await screenText(model)).toMatch(/❯ ALTER TABLE[\s\S]*❯ ! warning +public\.orders/);
  press(model, 'enter');
  const detail = await screenText(model);
  expect(detail).toContain('Safer      Add a new column, fill it in batches, and switch to it.');
  expect(detail).toContain('https://www.postgresql.org/docs/current/sql-altertable.html');
  press(model, 'y');
  expect(copied).toEqual([rehearsalMarkdown(fakeRehearsal(), markdownText)]);
  press(model, 'esc');
  expect(await screenText(model)).toContain('❯ ! warning');
});

test('a long output scrolls in its details', async () => {
  const [work] = fakeRehearsal().works;
  const output = Array.from({ length: 100 }, (_, index) => `line ${index}`).join('\n');
  const works = work ? [{ ...work, output }] : [];
  const model = await reported(worldOf({ rehearsal: fakeRehearsal({ works }) }));
  press(model, 'down', 'enter');
  expect(await screenText(model)).toMatch(/lines 1–\d+ of 101[\s\S]*line 0/);
  press(model, 'end');
  expect(await screenText(model)).toMatch(/line 99\n/);
});

test('a migration without strong locks passes, and says so', async () => {
  const harmless = { outcome: 'passed', problems: [], statements: [], locks: [], warnings: [], rewrites: [] } as const;
  const more = { ...harmless, ...{ problems: [], statements: [], locks: [], warnings: [], rewrites: [] } };
  const rehearsal = fakeRehearsal({ ...more, works: [], definitions: [], rows: [], rewritten_bytes: 0 });
  const screen = await screenText(await reported(worldOf({ rehearsal })));
  expect(screen).toContain('✓ Passed: migration of app');
  expect(screen).toContain('No reader and no writer would have waited');
  expect(screen).toContain('The migration took no strong lock, and changed nothing');
});

test('the run shows its card while it runs, and its report is open to Enter when the user was elsewhere', async () => {
  const gate = Promise.withResolvers<void>();
  const model = await listed(worldOf({ gate: gate.promise }));
  press(model, 'V', 'enter');
  await shows(model, 'run');
  await until(() => model.runs.live().length === 1);
  press(model, 'esc');
  gate.resolve();
  await model.runs.settled();
  expect(model.navigation.top().screen).toBe('targets');
  press(model, 't', 'enter');
  expect(model.navigation.top().screen).toBe('run');
  press(model, 'enter');
  expect(model.navigation.top().screen).toBe('rehearsal');
});

test('V rehearses from the list of branches, and is refused with --read-only', async () => {
  const model = await listed(worldOf());
  press(model, 'B');
  await shows(model, 'branches');
  press(model, 'V');
  expect(model.navigation.top()).toMatchObject({ screen: 'field', path: ['app', 'rehearse'] });
  const reader = await listed(worldOf(), { readOnly: true });
  press(reader, 'V');
  expect(reader.navigation.top().screen).toBe('targets');
});
