import { expect, test } from 'vitest';
import { textEdit } from '../../../components/text-edit.ts';
import { dispatchKey, dispatchPaste } from '../../../screens/app/dispatch.ts';
import { typedUrl, typedUrlEdit } from '../../../screens/app/frame/hidden-text.ts';
import type { Model } from '../../../screens/app/model.ts';
import { answerChosen, setUp } from '../../../screens/setup/actions.ts';
import type { SetupRoute } from '../../../screens/setup/setup-route.ts';
import { shownText } from '../../../screens/setup/source-fields.tsx';
import { fieldPlaceholder, fieldText } from '../../../screens/setup/source-form.ts';
import { CONTAINER, type SetupStepId, SOURCE_FIELDS, type SourceField } from '../../../screens/setup/step.ts';
import { stepWithId } from '../../../screens/setup/steps-text.ts';
import { joinParts, partsOf, partText, withPart } from '../../../src/config/urls/raw-parts.ts';
import { type FakeWorld, fakeWorld } from '../../helpers/fakes/fake-world.ts';
import { fc } from '../../helpers/fast-check.ts';
import { newModel, until } from '../../helpers/terminal/driven-model.ts';

const SOURCE = 'postgres://app:secret@db:5432/shop';

test('set-up writes the answers at the end, and nothing before', async () => {
  const world = fakeWorld({ targets: [] });
  const model = opened(world);
  await choose(model, 'tool.yml', 'url');
  await type(model, SOURCE, 'target');
  expect(place(model).typing).toMatchObject({ text: 'shop', isDefault: true });
  await type(model, 'store', 'schemas');
  expect(place(model).found.source).toMatchObject({ server_version: '15.18' });
  answerChosen(model, 'sales');
  await choose(model, '', 'destination');
  await type(model, 'postgres://localhost/shop_dev', 'keep');
  await choose(model, 'variable', 'sourceVariable');
  expect(place(model).typing?.text).toBe('STORE_PASSWORD');
  dispatchKey(model, 'enter');
  await asked(model, 'storage');
  await choose(model, 'none', 'review');
  expect(place(model).found.plan?.shown).toContain('store:');
  expect(world.done).toEqual([]);
  dispatchKey(model, 'enter');
  await asked(model, 'done');
  expect(JSON.parse(world.done[0]?.replace('set up ', '') ?? '')).toEqual({
    file: 'tool.yml',
    target: 'store',
    source: SOURCE,
    destination: 'postgres://localhost/shop_dev',
    schemaConfig: { include_schemas: ['public'] },
    variables: { source: 'STORE_PASSWORD', destination: '' },
    storage: null,
  });
});

test('the first snapshot is built when it is asked for, and its run is shown', async () => {
  const world = fakeWorld({ snapshots: {} });
  const model = await written(world);
  answerChosen(model, 'build');
  await until(() => model.navigation.top().screen === 'run');
  await model.runs.settled();
  expect(world.done.at(-1)).toBe('build app');
});

test('the fields of the form make the URL, the database is chosen from those of the server', async () => {
  const model = await atUrl(fakeWorld());
  dispatchKey(model, 'tab');
  fill(model, { host: 'fe80::1', port: '5433', user: 'app', password: 'p@ss:w/rd' });
  expect(place(model).answers.url).toBe('postgres://app:p%40ss%3Aw%2Frd@[fe80::1]:5433/');
  expect(place(model).form.field).toBe('database');
  dispatchKey(model, 'enter');
  await asked(model, 'database');
  expect(place(model).found.databases.map(({ name }) => name)).toContain('shop');
  await choose(model, 'shop', 'target');
  expect(place(model).found.source?.display).toContain('@[fe80::1]:5433/shop');
});

test('a typed URL fills the fields, and a changed field changes the URL, its other parts as they were typed', async () => {
  const model = await atUrl(fakeWorld());
  dispatchPaste(model, 'mysql://app:p%21x@db:3307/shop?ssl-mode=required');
  expect(fields(model)).toEqual({
    scheme: 'MySQL, MariaDB',
    host: 'db',
    port: '3307',
    user: 'app',
    password: 'p!x',
    database: 'shop',
  });
  dispatchKey(model, 'down');
  dispatchKey(model, 'space');
  expect(place(model).answers.url).toBe('postgres://app:p%21x@db:3307/shop?ssl-mode=required');
  for (const _ of SOURCE_FIELDS.slice(2)) dispatchKey(model, 'down');
  expect(place(model)).toMatchObject({ form: { field: 'database' }, typing: { text: 'shop' } });
  for (const key of ['space', 't', 'w', 'o']) dispatchKey(model, key);
  expect(place(model).answers.url).toBe('postgres://app:p%21x@db:3307/shop%20two?ssl-mode=required');
  for (const _ of SOURCE_FIELDS) dispatchKey(model, 'up');
  expect(place(model).typing?.text).toBe(place(model).answers.url);
});

test.each([
  'DATABASE_URL=postgres://app:p@db/shop',
  'export DATABASE_URL="postgres://app:p@db/shop"\n',
  "'postgres://app:p@db/shop'",
  '  url: `postgres://app:p@db/shop`,',
  'jdbc:postgres://app:p@db/shop',
  'DATABASE_URL=postgres://app:p@db/shop; export DATABASE_URL',
  'PORT=1\nDATABASE_URL=postgres://app:p@db/shop # main\nDEBUG=2',
])('the URL is found in %j', async (line) => {
  const model = await atUrl(fakeWorld());
  dispatchPaste(model, line);
  expect(place(model).answers.url).toBe('postgres://app:p@db/shop');
  expect(fields(model)).toMatchObject({ host: 'db', database: 'shop' });
});

test('typing takes the error of the earlier answer away', async () => {
  const model = await atUrl(fakeWorld());
  dispatchPaste(model, 'postgres://:70000/shop');
  dispatchKey(model, 'enter');
  await until(() => place(model).error !== null);
  dispatchKey(model, 'backspace');
  expect(place(model).error).toBeNull();
});

test('a typed URL that cannot be read is not replaced by a field', async () => {
  const model = await atUrl(fakeWorld());
  dispatchPaste(model, 'postgres://app:sec/ret@db/shop');
  dispatchKey(model, 'down');
  expect(place(model)).toMatchObject({ form: { field: 'url' }, answers: { url: 'postgres://app:sec/ret@db/shop' } });
  expect(model.navigation.store.getState().notice?.text).toContain('The URL cannot be read');
});

test.each([
  'postgres://app:secret',
  'postgres://app:sec/ret@db/shop',
  'app:secret@db/shop',
  'postgres://db/shop?sslpassword=secret',
])('no field shows the password of %s as it is typed', async (url) => {
  const model = await atUrl(fakeWorld());
  dispatchPaste(model, url);
  expect(place(model).answers.url).toBe(url);
  const shown = [
    typedUrl(url),
    ...SOURCE_FIELDS.slice(1).map((field) => shownText(field, fieldText(place(model), field))),
  ];
  expect(shown.join(' ')).not.toMatch(/sec|ret/);
});

test('a password in a field has its length only while the cursor is in it', () => {
  const text = 'postgres://app:long-secret@db/shop';
  expect(typedUrlEdit(textEdit(text))).toEqual(textEdit('postgres://app:***@db/shop'));
  const inside = { text, cursor: 'postgres://app:long'.length };
  expect(typedUrlEdit(inside)).toEqual({ ...inside, text: 'postgres://app:***********@db/shop' });
  const before = { text, cursor: 3, isDefault: true };
  expect(typedUrlEdit(before)).toEqual({ ...before, text: 'postgres://app:***@db/shop' });
});

test('no text in a field is lost or changes another field', () => {
  const start = partsOf('postgres://u:p%40@h:1/d?x=y');
  if (!start) throw new Error('no URL');
  fc.assert(
    fc.property(
      fc.constantFrom('host', 'port', 'user', 'password', 'database'),
      fc.string({ unit: 'grapheme' }),
      (part, text) => {
        const parts = withPart(start, part, text);
        // Brackets are added to the address of a host.
        if (part !== 'host') expect(partText(parts, part)).toBe(text);
        for (const other of ['user', 'password', 'database'] as const)
          if (other !== part) expect(parts[other]).toBe(start[other]);
        const read = partsOf(joinParts(parts));
        if (part === 'user' || part === 'password' || part === 'database') expect(read).toEqual(parts);
      },
    ),
  );
});

test('the type changes only the default port while there is no URL, and nothing is tested', async () => {
  const model = await atUrl(fakeWorld());
  dispatchKey(model, 'down');
  dispatchKey(model, 'space');
  expect(fieldPlaceholder(place(model), 'port')).toBe('3306');
  dispatchKey(model, 'up');
  dispatchKey(model, 'enter');
  expect(place(model)).toMatchObject({ step: 'url', answers: { url: '' }, busy: null });
  expect(model.navigation.store.getState().notice?.text).toBe('Requires a value');
});

test('a host with blanks, and a port that is none, are asked for again', async () => {
  const model = await atUrl(fakeWorld());
  await refused(model, 'postgres://db one/shop', 'A name or address has no blanks in it');
  for (const port of ['many', '0', '65536'])
    await refused(model, `postgres://db:${port}/shop`, 'A port is a number from 1 to 65535');
  await type(model, 'postgres://db:65535/shop', 'target');
});

test('a URL that names no database gets one of the server, its parameters kept', async () => {
  const model = await atUrl(fakeWorld());
  await type(model, 'postgres://app@db:5433?sslmode=require', 'database');
  await choose(model, '漢字 🚀', 'target');
  expect(place(model).typing?.text).toBe('漢字');
  expect(place(model).found.source?.display).toBe(
    'postgres://app@db:5433/%E6%BC%A2%E5%AD%97%20%F0%9F%9A%80?sslmode=require',
  );
});

test('one key runs missing client programs in a container, for the source and the destination', async () => {
  const world = fakeWorld({ targets: [], lacksPrograms: true });
  const model = await atUrl(world);
  await type(model, SOURCE, 'programs');
  const options = stepWithId('programs');
  expect(options.kind === 'choice' && options.options(place(model)).map(({ label }) => label)).toEqual([
    'Run them in a container of postgres:17, by Docker or Podman',
    'Look again, after installing them',
  ]);
  expect(options.about(place(model))).toEqual([
    'PostgreSQL: no client programs: apt-get install postgresql-client, or brew install libpq.',
  ]);
  await choose(model, 'installed', 'programs');
  world.lacksPrograms = false;
  await choose(model, 'installed', 'target');
  expect(place(model).found.source?.display).toMatch(/^postgres:/);
  world.lacksPrograms = true;
  for (const step of ['url', 'programs'] as const) {
    dispatchKey(model, 'esc');
    await asked(model, step);
  }
  await choose(model, CONTAINER, 'target');
  expect(place(model).found.source?.display).toMatch(/^pgdocker:/);
  await type(model, 'shop', 'schemas');
  await choose(model, '', 'destination');
  await type(model, 'postgres://localhost/shop_dev', 'keep');
  await choose(model, 'encrypted', 'storage');
  await choose(model, 'none', 'review');
  dispatchKey(model, 'enter');
  await asked(model, 'done');
  expect(JSON.parse(world.done[0]?.replace('set up ', '') ?? '')).toMatchObject({
    source: SOURCE.replace('postgres:', 'pgdocker:'),
    destination: 'pgdocker://localhost/shop_dev',
  });
});

test('a bucket is tried with its keys before the file is shown', async () => {
  const world = fakeWorld();
  const model = await atStorage(world);
  await choose(model, 'minio', 'bucket');
  await type(model, 'snaps', 'endpoint');
  await type(model, 'http://localhost:9000', 'prefix');
  await type(model, '', 'credentials');
  await choose(model, '', 'accessKey');
  await type(model, 'AK', 'secretKey');
  await type(model, 'SK', 'review');
  expect(place(model).found.storage).toBe('s3://snaps');
  const storage = { provider: 'minio', bucket: 'snaps', endpoint: 'http://localhost:9000' };
  expect(JSON.parse(place(model).found.plan?.text ?? '').storage).toEqual({
    ...storage,
    access_key: 'AK',
    secret_key: 'SK',
  });
});

test('a file that git would commit is added to .gitignore, unless another answer is given', async () => {
  for (const [answer, inGit] of [
    ['ignore', 'ignore'],
    ['keychain', 'keychain'],
    ['', undefined],
  ] as const) {
    const world = fakeWorld({ targets: [], committed: true });
    const model = await atStorage(world);
    await choose(model, 'none', 'git');
    expect(stepWithId('git').about(place(model))[0]).toContain('/home/ada/tool.yml is in a git repository');
    await choose(model, answer, 'review');
    expect(stepWithId('review').about(place(model))[0]?.includes('.gitignore')).toBe(answer === 'ignore');
    dispatchKey(model, 'enter');
    await asked(model, 'done');
    expect(JSON.parse(world.done[0]?.replace('set up ', '') ?? '').inGit).toBe(inGit);
  }
});

test('a source that does not answer is asked for again, and keeps what was typed', async () => {
  const model = await atUrl(fakeWorld());
  dispatchPaste(model, 'postgres://app:secret@away/shop');
  dispatchKey(model, 'enter');
  const failed = { step: 'url', busy: null, error: { message: 'connection refused' } };
  await expect.poll(() => model.navigation.top()).toMatchObject(failed);
  expect(place(model).typing?.text).toBe('postgres://app:secret@away/shop');
});

test('keys do nothing during a test, and its result arrives', async () => {
  const gate = Promise.withResolvers<void>();
  const model = await atUrl(fakeWorld({ gate: gate.promise }));
  dispatchPaste(model, SOURCE);
  dispatchKey(model, 'enter');
  for (const key of ['x', 'enter', 'backspace']) dispatchKey(model, key);
  dispatchPaste(model, 'more');
  expect(place(model).busy).not.toBeNull();
  gate.resolve();
  await asked(model, 'target');
  expect(place(model).answers.url).toBe(SOURCE);
});

test('Esc gives up what is being tried, and its answer is heard no more', async () => {
  const gate = Promise.withResolvers<void>();
  const model = await atUrl(fakeWorld({ gate: gate.promise }));
  dispatchPaste(model, SOURCE);
  dispatchKey(model, 'enter');
  dispatchKey(model, 'esc');
  expect(place(model)).toMatchObject({ step: 'url', busy: null, error: null, typing: { text: SOURCE } });
  gate.resolve();
  // All that was going on has ended by the next turn.
  await new Promise((resolve) => setImmediate(resolve));
  expect(place(model)).toMatchObject({ step: 'url', error: null });
});

test('Esc goes back by one question, which still has its answer', async () => {
  const model = opened(fakeWorld());
  await choose(model, 'tool.yml', 'url');
  await type(model, SOURCE, 'target');
  dispatchKey(model, 'esc');
  expect(place(model)).toMatchObject({ step: 'url', typing: { text: SOURCE } });
  dispatchKey(model, 'esc');
  expect(place(model)).toMatchObject({ step: 'file', answers: { file: 'tool.yml' } });
  dispatchKey(model, 'esc');
  expect(model.navigation.top().screen).toBe('targets');
});

test.each([
  [
    'postgres://app:s3cret@localhost:5433/shop?sslmode=disable',
    'postgres://app:s3cret@localhost:5433/shop_dev?sslmode=disable',
  ],
  ['postgres://app:p%40ss@db.example.com:5432/shop', 'postgres://app@localhost/shop_dev'],
  ['mysql://root@127.0.0.1/shop', 'mysql://root@127.0.0.1/shop_dev'],
  ['postgres://app:p@ss@[::1]/shop', 'postgres://app:p@ss@[::1]/shop_dev'],
])('for %s the proposed destination is %s', async (url, proposed) => {
  const model = await atUrl(fakeWorld());
  await type(model, url, 'target');
  await type(model, 'shop', 'schemas');
  await choose(model, '', 'destination');
  expect(place(model).typing?.text).toBe(proposed);
});

test('the file of --config is not asked for', () => {
  const model = newModel(fakeWorld(), { config: 'mine.yml' });
  setUp(model);
  expect(place(model).step).toBe('url');
});

function opened(world: FakeWorld): Model {
  const model = newModel(world);
  setUp(model);
  return model;
}

async function atUrl(world: FakeWorld): Promise<Model> {
  const model = opened(world);
  await choose(model, 'tool.yml', 'url');
  return model;
}

async function atStorage(world: FakeWorld): Promise<Model> {
  const model = await atUrl(world);
  await type(model, 'postgres://db/shop', 'target');
  await type(model, 'app', 'schemas');
  await choose(model, '', 'destination');
  await type(model, '', 'storage');
  return model;
}

async function written(world: FakeWorld): Promise<Model> {
  const model = await atStorage(world);
  await choose(model, 'none', 'review');
  dispatchKey(model, 'enter');
  await asked(model, 'done');
  return model;
}

async function type(model: Model, text: string, next: SetupStepId): Promise<void> {
  dispatchKey(model, 'ctrl+u');
  dispatchPaste(model, text);
  dispatchKey(model, 'enter');
  await asked(model, next);
}

async function refused(model: Model, text: string, message: string): Promise<void> {
  dispatchKey(model, 'ctrl+u');
  dispatchPaste(model, text);
  dispatchKey(model, 'enter');
  await expect.poll(() => model.navigation.top()).toMatchObject({ busy: null, error: { message } });
}

async function choose(model: Model, value: string, next: SetupStepId): Promise<void> {
  answerChosen(model, value);
  await asked(model, next);
}

async function asked(model: Model, step: SetupStepId): Promise<void> {
  await expect.poll(() => model.navigation.top()).toMatchObject({ step, busy: null, error: null });
}

/** Types into the fields from the type on, each left by Enter. */
function fill(model: Model, texts: Partial<Record<SourceField, string>>): void {
  for (const field of SOURCE_FIELDS.slice(1)) {
    expect(place(model).form.field).toBe(field);
    if (texts[field] !== undefined) dispatchPaste(model, texts[field]);
    if (field !== 'database') dispatchKey(model, 'enter');
  }
}

function fields(model: Model) {
  return Object.fromEntries(SOURCE_FIELDS.slice(1).map((field) => [field, fieldText(place(model), field)]));
}

function place(model: Model): SetupRoute {
  const top = model.navigation.top();
  if (top.screen !== 'setup') throw new Error(`at ${top.screen}`);
  return top;
}

test.each([
  ['postgres://app@db/shop', 'postgres://me@localhost/shop_mine'],
  ['mysql://app@db/shop', 'mysql://app@localhost/shop_dev'],
])('the database of .env is the proposed destination of %s, where it is of its type', async (url, proposed) => {
  const project = { file: '.env', key: 'DATABASE_URL', url: 'postgres://me@localhost/shop_mine' };
  const model = opened(fakeWorld({ project }));
  await choose(model, '', 'url');
  await until(() => place(model).found.project !== null);
  await type(model, url, 'target');
  await type(model, 'shop', 'schemas');
  answerChosen(model, '');
  await asked(model, 'destination');
  expect(place(model).typing?.text).toBe(proposed);
});
