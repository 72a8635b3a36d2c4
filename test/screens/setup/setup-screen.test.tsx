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

const PARTS = { scheme: 'postgres', host: 'db', port: '', user: 'app', password: '', database: 'shop', rest: '' };

const FAILED = new UserError('unreachable', 'Cannot reach the server', { hint: 'Is it running?' });

test.each<[string, Change, RegExp]>([
  ['a choice of files', { step: 'file' }, /❯/],
  ['a text', { step: 'url', typing: textEdit('postgres://away/shop') }, /URL: +postgres/],
  ['a failure', { step: 'url', typing: textEdit('postgres://away/shop'), error: FAILED }, /URL: [\s\S]*Cannot reach/],
  ['many schemas', { step: 'schemas', leftOut: ['schema_1'], found: { source: { ...SOURCE } } }, /❯ Continue with/],
  ['a bucket', { step: 'storage', found: { source: { ...SOURCE } } }, /❯/],
  ['the file', { step: 'review', found: { plan: PLAN } }, /line 58/],
  ['the end', { step: 'done', answers: { target: 'shop' }, found: { plan: PLAN } }, /❯ Build/],
])('nothing overwrites the frame at 40x10: %s', async (_, change, content) => {
  const shown = await drawn({ columns: 40, rows: 10 }, change);
  const lines = shown.split('\n');
  expect(lines[0]).toMatch(/^── tool .*step \d+ ──$/);
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
    expect(shown).toMatch(/URL: +postgres:\/\/app:\*{3}@db\/shop/);
    const form = { field: 'password', parts: { ...PARTS, password: 'hunter2' } } as const;
    const fields = await drawn(size, { step: 'url', form, typing: textEdit('hunter2') });
    expect(fields).toMatch(/Type: +PostgreSQL[\s\S]*Host: +db[\s\S]*Port: +5432[\s\S]*Password: \*{7}/);
    expect(await drawn(size, { step: 'url', form: { ...form, field: 'user' }, typing: textEdit('app') })).not.toContain(
      'hunter2',
    );
  });

  test(`more schemas than fit are scrolled through, with the keys in sight at ${name}`, async () => {
    const shown = await drawn(size, { step: 'schemas', leftOut: ['schema_1'], found: { source: { ...SOURCE } } });
    expect(shown).toMatch(/❯ Continue with 39 of 40 schemas\n +\[x\] schema_0 .*\n +\[ \] schema_1 /);
    expect(shown.split('\n').at(-1)).toContain('Enter continue   Esc back');
  });

  test(`a failed attempt is reported below the typed value at ${name}`, async () => {
    const error = new UserError('unreachable', 'Cannot reach the server', { hint: 'Is it running?' });
    const shown = await drawn(size, { step: 'url', typing: textEdit('postgres://away/shop'), error });
    expect(shown).toMatch(
      /URL: +postgres:\/\/away\/shop[\s\S]*Database:\n\n +Cannot reach the server\n +Is it running\?/,
    );
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
  expect(await drawn({ columns: 80, rows: 24 }, { step: 'url', config: 'mine.yml' })).toContain('Welcome to tool.');
  expect(await drawn({ columns: 80, rows: 24 }, { step: 'target' })).not.toContain('Welcome');
});

test.each([80, 120])(
  'the answers so far are above the question, without passwords, until the file shows them: %s columns',
  async (columns) => {
    const answers = { file: 'tool.yml', target: 'shop', url: 'postgres://app:hunter2@db:5432/shop' };
    const change = { step: 'storage', answers, found: { source: { ...SOURCE } } } as const;
    const shown = await drawn({ columns, rows: 24 }, change);
    expect(shown).toMatch(
      /File +tool\.yml\n +Source +postgres:\/\/app@db:5432\/shop\n +Target +shop\n +Destination +decided later\n[\s\S]*❯ On this/,
    );
    expect(shown).not.toContain('hunter2');
    expect(await drawn({ columns, rows: 24 }, { ...change, step: 'review' })).not.toContain('decided later');
  },
);

test('in a small window the newest answers stay, and no answer takes the place of the question', async () => {
  const answers = { file: 'tool.yml', target: 'shop', url: 'postgres://db/shop', keep: 'variable' };
  const change = { step: 'storage', answers, found: { source: { ...SOURCE } } } as const;
  const shown = await drawn({ columns: 60, rows: 12 }, change);
  expect(shown).toMatch(/Passwords +in environment variables[\s\S]*Where to store snapshots[\s\S]*❯ On this/);
  expect(shown).not.toContain('tool.yml');
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
