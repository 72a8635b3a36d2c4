import { expect, test } from 'vitest';
import { textEdit } from '../../../components/text-edit.ts';
import { setUp } from '../../../screens/setup/actions.ts';
import type { SetupRoute } from '../../../screens/setup/setup-route.ts';
import { UserError } from '../../../src/runtime/errors.ts';
import { fakeWorld } from '../../helpers/fakes/fake-world.ts';
import { screenText } from '../../helpers/terminal/drawn-screen.tsx';
import { newModel } from '../../helpers/terminal/driven-model.ts';

const SOURCE = {
  engine: 'postgres',
  display: 'postgres://app@db:5432/shop',
  server_version: '15.18',
  size_bytes: 61_400_000,
  hasPassword: true,
  schemas: Array.from({ length: 40 }, (_, index) => ({ name: `schema_${index}`, size_bytes: 1000 * index })),
} as const;

const file = Array.from({ length: 60 }, (_, index) => (index % 7 === 3 ? '' : `line ${index}`)).join('\n');
const PLAN = { file: '/home/ada/tool.yml', text: '', shown: file, variables: { SHOP_PASSWORD: 'hunter2' } };

const FAILED = new UserError('unreachable', 'Cannot reach the server', { hint: 'Is it running?' });

test.each<[string, Change, RegExp]>([
  ['a choice of files', { step: 'file' }, /❯/],
  ['a text', { step: 'url', typing: textEdit('postgres://away/shop') }, /Source: /],
  [
    'a failure',
    { step: 'url', typing: textEdit('postgres://away/shop'), error: FAILED },
    /Source: [\s\S]*Cannot reach/,
  ],
  ['many schemas', { step: 'schemas', leftOut: ['schema_1'], found: { source: { ...SOURCE } } }, /❯ Continue with/],
  ['a bucket', { step: 'storage', found: { source: { ...SOURCE } } }, /❯/],
  ['the file', { step: 'review', found: { plan: PLAN } }, /line 58/],
  ['the end', { step: 'done', answers: { target: 'shop' }, found: { plan: PLAN } }, /❯ Build/],
])('nothing overwrites the frame at 40x10: %s', async (_, change, content) => {
  const shown = await drawn({ columns: 40, rows: 10 }, change);
  const lines = shown.split('\n');
  expect(lines[0]).toMatch(/^── tool .*step \d+ of \d+ ──$/);
  expect(lines[7]).toMatch(/^─+$/);
  expect(lines[8]).toBe(`${' '.repeat(34)}local`);
  expect(lines[9]).toMatch(/^ ?Enter .*Esc back/);
  expect(shown).toMatch(content);
});

for (const size of [
  { columns: 60, rows: 20 },
  { columns: 80, rows: 24 },
]) {
  const name = `${size.columns}x${size.rows}`;

  test(`the first question tells of the engines at ${name}`, async () => {
    const shown = await drawn(size, {});
    expect(shown).toContain('❯ ./tool.yml (this folder only)');
    expect(shown).toMatch(/✓ PostgreSQL: pg_dump 15\.18\n.*✓ MySQL, MariaDB: nothing to install/);
  });

  test(`a password is not shown while its URL is typed at ${name}`, async () => {
    const shown = await drawn(size, { step: 'url', typing: textEdit('postgres://app:hunter2@db/shop') });
    expect(shown).toContain('Source: postgres://app:*******@db/shop');
    expect(await drawn(size, { step: 'password', typing: textEdit('hunter2') })).toContain('Password: *******');
  });

  test(`more schemas than fit are scrolled through, with the keys in sight at ${name}`, async () => {
    const shown = await drawn(size, { step: 'schemas', leftOut: ['schema_1'], found: { source: { ...SOURCE } } });
    expect(shown).toMatch(/❯ Continue with 39 of 40 schemas\n +\[x\] schema_0 .*\n +\[ \] schema_1 /);
    expect(shown.split('\n').at(-1)).toContain('Enter continue   Esc back');
  });

  test(`a failed attempt is reported below the typed value at ${name}`, async () => {
    const error = new UserError('unreachable', 'Cannot reach the server', { hint: 'Is it running?' });
    const shown = await drawn(size, { step: 'url', typing: textEdit('postgres://away/shop'), error });
    expect(shown).toMatch(/Source: postgres:\/\/away\/shop\n\n +Cannot reach the server\n +Is it running\?/);
  });

  test(`the end of the file is shown first, then the rest by the arrows at ${name}`, async () => {
    const shown = await drawn(size, { step: 'review', found: { plan: PLAN } });
    expect(shown).toContain('/home/ada/tool.yml, to be written with Enter:');
    expect(shown).toMatch(/line 58\n\n? *line 59|line 57\n.*line 58\n/);
    expect(shown).toContain('Enter write the file');
    const up = await drawn(size, { step: 'review', scrolledUp: 1000, found: { plan: PLAN } });
    expect(up).toMatch(/line 0\n +line 1\n +line 2\n\n +line 4/);
  });

  test(`the variables that are needed are said at the end, without what is in them, at ${name}`, async () => {
    const shown = await drawn(size, { step: 'done', answers: { target: 'shop' }, found: { plan: PLAN } });
    expect(shown).toContain('export SHOP_PASSWORD=…');
    expect(shown).toContain('❯ Build the first snapshot of shop now');
    expect(shown).not.toContain('hunter2');
  });
}

test('the first question welcomes, also where the file is given', async () => {
  expect(await drawn({ columns: 80, rows: 24 }, {})).toMatch(/Welcome to tool\. [\s\S]*Where to save/);
  expect(await drawn({ columns: 80, rows: 24 }, { step: 'target', config: 'mine.yml' })).toContain('Welcome to tool.');
  expect(await drawn({ columns: 80, rows: 24 }, { step: 'target' })).not.toContain('Welcome');
});

test('the answers so far are at the left, without passwords, until the file shows them', async () => {
  const url = 'postgres://app:hunter2@db:5432/shop';
  const answers = { file: 'tool.yml', target: 'shop', how: 'url', url, password: 'hunter2' };
  const change = { step: 'storage', answers, found: { source: { ...SOURCE } } } as const;
  const shown = await drawn({ columns: 100, rows: 24 }, change);
  expect(shown).toMatch(/^ {2}File\b[\s\S]*^ {2}tool\.yml\b[\s\S]*^ {2}Target\b[\s\S]*^ {2}Source\b/m);
  expect(shown).toContain('  postgres://app@');
  expect(shown).toContain('decided later');
  expect(shown).not.toContain('hunter2');
  expect(await drawn({ columns: 84, rows: 24 }, change)).not.toContain('decided later');
  expect(await drawn({ columns: 100, rows: 24 }, { ...change, step: 'review' })).not.toContain('decided later');
});

type Change = Omit<Partial<SetupRoute>, 'found'> & { found?: object };

async function drawn(size: { columns: number; rows: number }, change: Change): Promise<string> {
  const model = newModel(fakeWorld());
  setUp(model);
  await expect.poll(() => model.navigation.top()).toMatchObject({ found: { engines: expect.any(Array) } });
  const top = model.navigation.top() as SetupRoute;
  const place = { ...top, ...change, found: { ...top.found, ...change.found } };
  model.navigation.replace(place);
  return screenText(model, size);
}
