import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { engineOf } from '../../src/engines/registry.ts';
import { build } from '../../src/operations/build/build.ts';
import { searchCanaries } from '../../src/operations/sanitize/canaries/search-canaries.ts';
import { checkLedger } from '../../src/operations/sanitize/ledger/check.ts';
import { classify } from '../../src/operations/sanitize/ledger/classify.ts';
import { assertPushClassified } from '../../src/operations/sanitize/ledger/ledger-gate.ts';
import { applySanitize, planSanitize, type SanitizeRequest } from '../../src/operations/sanitize/sanitize.ts';
import { findSnapshot } from '../../src/operations/snapshots/snapshots.ts';
import type { CanaryReport } from '../../src/results/ledger-results.ts';
import type { Context } from '../../src/runtime/context.ts';
import { temporaryFolder, testContext } from '../helpers/postgres/postgres-server.ts';
import { randomFrom } from '../helpers/random.ts';
import type { SanitizerServer } from './sanitizer.ts';

const LIMIT = 240_000;
const FULL_LIMIT = 3_600_000;

export interface LedgerRounds {
  schemaChanges: number;
  weakQueries: number;
  rebuilds: number;
}

/** Changes all that is personal. */
const MASK = [
  "UPDATE person SET email = concat('p', id, '@example.com'), first_name = concat('Person ', id), note = NULL, born = '2000-01-01', phone = id",
  'UPDATE event SET payload = \'{"kind": "visit"}\'',
];

interface Change {
  query?: string[];
  sanitize?: object;
}

/** What a ledger and canaries guarantee on every engine; called inside a `describe`. */
export function ledgerContract(start: () => Promise<SanitizerServer>, rounds: LedgerRounds): void {
  let server: SanitizerServer;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  /** `public.` where tables have a schema. */
  let prefix: string;
  const name = (rest: string): string => `${prefix}${rest}`;

  beforeAll(async () => {
    server = await start();
    prefix = server.schema === 'public' ? 'public.' : '';
  }, LIMIT);

  beforeEach(async () => {
    await folder?.[Symbol.asyncDispose]();
    folder = await temporaryFolder();
    await mkdir(join(folder.path, 'repository'));
    for (const database of ['source', 'clean', 'clean.tool-undo', 'copy']) await server.dropDatabase(database);
    await server.createDatabase('source');
    const { numbers } = server;
    const [type, state] =
      prefix === '' ? [[], "enum('new','paid')"] : [["CREATE TYPE state AS ENUM ('new', 'paid')"], 'state'];
    await server.run(
      'source',
      ...type,
      `CREATE TABLE person (id integer PRIMARY KEY, first_name varchar(80), email varchar(120) NOT NULL UNIQUE,
        note varchar(200), phone bigint, born date)`,
      `INSERT INTO person SELECT i, concat('Ada', i), concat('secret-', i, '@real.example.org'), 'likes tea', 49301000 + i, '1980-05-06' FROM ${numbers(60)}`,
      `CREATE TABLE purchase (id integer PRIMARY KEY, person_id integer NOT NULL, state ${state} NOT NULL, FOREIGN KEY (person_id) REFERENCES person (id))`,
      `INSERT INTO purchase SELECT i, i, 'new' FROM ${numbers(60)}`,
      'CREATE TABLE event (id integer PRIMARY KEY, payload json)',
      `INSERT INTO event SELECT i, concat('{"user": {"mail": "u', i, '@real.example.org"}, "kind": "visit"}')${prefix === '' ? '' : '::json'} FROM ${numbers(40)}`,
      'CREATE TABLE never_filled (id integer PRIMARY KEY, remark varchar(40))',
      'CREATE VIEW mailing AS SELECT email FROM person',
    );
  }, LIMIT);

  afterAll(async () => {
    await server?.stop();
    await folder?.[Symbol.asyncDispose]();
  });

  const ledgerFile = (): string => join(folder.path, 'repository', 'sanitize.lock.yml');

  async function contextOf({ query = MASK, sanitize = {} }: Change = {}): Promise<Context> {
    const file = join(folder.path, 'repository', 'query.sql');
    await writeFile(file, query.map((statement) => `${statement};\n`).join(''));
    const target = {
      snapshot: { src_url: server.url('source'), dst_url: server.url('copy') },
      sanitize: { dst_url: server.url('clean'), query_file: file, require_classified: true, ...sanitize },
    };
    return testContext({ settings: { working_directory: join(folder.path, 'work'), targets: { app: target } } });
  }

  async function sanitize(context: Context, request: Partial<SanitizeRequest> = {}) {
    return applySanitize(context, await planSanitize(context, { target: 'app', ...request }));
  }

  const edit = async (change: (text: string) => string): Promise<void> =>
    writeFile(ledgerFile(), change(await readFile(ledgerFile(), 'utf8')));

  /** Builds, and classifies all columns: those that the first ledger leaves open are kept. */
  async function classified(change?: Change): Promise<Context> {
    const context = await contextOf(change);
    await build(context, { target: 'app' });
    await classify(context, { target: 'app' });
    await edit((text) => text.replaceAll(/: open$/gm, ': { kept: no personal data }'));
    await classify(context, { target: 'app' });
    return context;
  }

  const opened = async (context: Context): Promise<string[]> =>
    (await checkLedger(context, { target: 'app' })).open.map(({ name: open }) => open);

  it(
    'the first ledger has the query, the detector and the empty tables, and a second one is the same',
    async () => {
      const context = await contextOf();
      await build(context, { target: 'app' });
      const { open } = await classify(context, { target: 'app' });
      const text = await readFile(ledgerFile(), 'utf8');
      const lines = text
        .split('\n')
        .slice(5)
        .map((line) => line.trim().replace(prefix, ''));
      expect(lines).toEqual([
        'event.id: open',
        'event.payload: changed',
        'event.payload->kind: open',
        'never_filled.id: excluded',
        'never_filled.remark: excluded',
        'person.born: changed',
        'person.email: changed',
        'person.first_name: changed',
        'person.id: open',
        'person.note: changed',
        'person.phone: changed',
        'purchase.id: open',
        'purchase.person_id: open',
        'purchase.state: open',
        '',
      ]);
      expect(open).toHaveLength(6);
      await classify(context, { target: 'app' });
      expect(await readFile(ledgerFile(), 'utf8')).toBe(text);
    },
    LIMIT,
  );

  it(
    'publishes nothing without a ledger, with an open or missing entry, and with one that is not true',
    async () => {
      const context = await contextOf();
      await build(context, { target: 'app' });
      const refused = async (details: string[]): Promise<void> => {
        const error: unknown = await sanitize(context).catch((thrown) => thrown);
        expect(error).toMatchObject({ code: 'unclassified' });
        const given = (error as { details: string[] }).details.map((detail) => detail.replace(prefix, ''));
        expect(given).toEqual(expect.arrayContaining(details.map((detail) => expect.stringContaining(detail))));
      };
      await refused(['person.note (']);
      await classified();
      await sanitize(context);
      const { manifest } = await findSnapshot(context, { target: 'app' });
      const push = (pushed: Partial<typeof manifest>, sanitized = true): Promise<void> =>
        assertPushClassified(context, { manifest: { ...manifest, ...pushed }, sanitized, isShared: true });
      await push({});
      const { classified: entries = [], ...unclassified } = manifest;
      expect(entries.length).toBeGreaterThan(10);
      await expect(push({ classified: [...entries, { name: 'x', state: 'kept' }] })).rejects.toMatchObject({
        code: 'unclassified',
      });
      for (const foreign of [[], entries.slice(1)]) {
        await expect(push({ classified: foreign })).rejects.toMatchObject({ code: 'unclassified' });
      }
      const bare = assertPushClassified(context, { manifest: unclassified, sanitized: true, isShared: false });
      await expect(bare).rejects.toMatchObject({ code: 'unclassified' });
      await expect(push({}, false)).rejects.toMatchObject({ code: 'unclassified' });
      const text = await readFile(ledgerFile(), 'utf8');
      for (const [line, instead, why] of [
        ['purchase.id: { kept: no personal data }', 'purchase.id: open', 'is not classified'],
        ['event.payload->kind: { kept: no personal data }', 'purchase."other": open', 'is not classified'],
        ['person.id: { kept: no personal data }', 'person.id: changed', 'values are unchanged'],
        ['person.id: { kept: no personal data }', 'person.id: empty', 'has values'],
        ['person.id: { kept: no personal data }', 'person.id: excluded', 'its table has rows'],
        ['event.payload->kind: { kept: no personal data }', 'event.payload->kind: changed', 'values are unchanged'],
        ['values: [ new, paid ]', 'values: [ new ]', 'not in the ledger: paid'],
      ] as const) {
        expect(text).toContain(line);
        await writeFile(ledgerFile(), text.replace(line, instead));
        await refused([why]);
      }
      await writeFile(ledgerFile(), text.replace(/(purchase\.id): .*/, '$1: changed'));
      await contextOf({ query: [...MASK, 'DELETE FROM purchase WHERE id = 1'] });
      await refused(['values are unchanged']);
      await writeFile(ledgerFile(), 'version: 1\ntargets: [');
      await expect(sanitize(context)).rejects.toMatchObject({ code: 'ledger_unreadable' });
    },
    LIMIT,
  );

  it(
    'a key that a document has for the first time is refused, and one that the query removes is not',
    async () => {
      const query = MASK.filter((statement) => !statement.includes('payload'));
      const hides = prefix === '' ? "JSON_REMOVE(payload, '$.user')" : "(payload::jsonb - 'user')::json";
      const context = await classified({ query: [...query, `UPDATE event SET payload = ${hides}`] });
      await sanitize(context);
      await server.run(
        'source',
        `UPDATE event SET payload = '{"kind": "visit", "extra": [{"a.b": {"x": 1}}]}' WHERE id = 7`,
      );
      await build(context, { target: 'app' });
      await expect(sanitize(context)).rejects.toMatchObject({
        code: 'unclassified',
        details: ['extra', 'extra->"a.b"'].map(
          (key) => `${name('event.payload')}->${key} (JSON key) is not classified`,
        ),
      });
      await edit((text) =>
        text.replace(/^.*payload->kind.*$/m, (line) => `${line}\n    ${name('event.payload')}->*: { kept: reviewed }`),
      );
      await sanitize(context);
    },
    LIMIT,
  );

  it(
    'sanitizes and builds again without a false stop',
    async () => {
      const context = await classified();
      for (let round = 0; round < rounds.rebuilds; round += 1) {
        await server.run(
          'source',
          `INSERT INTO event VALUES (${1000 + round}, '{"kind": "visit", "user": {"mail": "x"}}')`,
        );
        const result = await sanitize(context, { build: {} });
        expect(result.snapshot.sanitized).toBe(true);
      }
    },
    FULL_LIMIT,
  );

  it(
    'check finds each new column, table and value of random changes in the catalog',
    async () => {
      const context = await classified();
      expect(await opened(context)).toEqual([]);
      const random = randomFrom(41);
      for (let round = 0; round < rounds.schemaChanges; round += 1) {
        await server.run('source', ...schemaChange(round, random, prefix !== ''));
        const open = await opened(context);
        expect(open, `round ${round}`).not.toEqual([]);
        if (round === 0) {
          const copied = await checkLedger(context, { target: 'app', url: server.url('source') });
          expect(copied.open.map((item) => item.name)).toEqual(open);
        }
        await edit(
          (text) => text + open.map((item) => `    ${JSON.stringify(item)}: { kept: x, values: ${VALUES} }\n`).join(''),
        );
        expect(await opened(context)).toEqual([]);
      }
    },
    FULL_LIMIT,
  );

  it(
    'check applies a migration to a throw-away copy, and the source stays as it is',
    async () => {
      const context = await classified();
      const migration = join(folder.path, 'new.sql');
      await writeFile(migration, 'ALTER TABLE person ADD COLUMN notes varchar(40);');
      const { open } = await checkLedger(context, { target: 'app', migration });
      expect(open).toEqual([expect.objectContaining({ name: name('person.notes'), why: 'unclassified' })]);
      expect(await opened(context)).toEqual([]);
    },
    LIMIT,
  );

  it(
    'finds the marks of canaries that a weak query leaves, wherever they are, and none of a strict query',
    async () => {
      const context = await classified();
      const { manifest } = await findSnapshot(context, { target: 'app', snapshot: 0, original: true });
      const search = async (query: string[], within = context): Promise<CanaryReport> => {
        const statements = await engineOf(manifest.engine).splitQuery(query.map((one) => `${one};`).join('\n'));
        const work = { target: 'app', manifest, statements, keep: [], cpus: 1, allowSuperuser: false };
        return searchCanaries(within, { ...work, persons: 3, strict: false });
      };
      const strict = await search(MASK);
      expect(strict.survived.filter(({ kept }) => !kept)).toEqual([]);
      expect(strict.columns).toBeGreaterThanOrEqual(6);
      const random = randomFrom(7);
      for (let round = 0; round < rounds.weakQueries; round += 1) {
        const { query, column } = weakQuery(round, random, prefix !== '');
        const { survived } = await search(query);
        expect(
          survived.map((each) => each.column),
          query.join('\n'),
        ).toContain(name(column));
      }
      // Without `require_classified` nothing compares such an entry with the result.
      const { query, column } = weakQuery(0, randomFrom(7), prefix !== '');
      await writeFile(ledgerFile(), `version: 1\ntargets: { app: { ${name(column)}: empty } }\n`);
      const { survived } = await search(query, await contextOf({ sanitize: { require_classified: false } }));
      expect(survived.find((each) => each.column === name(column))?.kept).toBe(false);
    },
    FULL_LIMIT,
  );

  it(
    'refuses to publish while canaries survive, and stores none of them',
    async () => {
      const context = await classified({
        query: [...MASK, "UPDATE person SET note = concat('was ', phone) WHERE id > 1000000"],
      });
      const published = await sanitize(context, { canaries: 2 });
      expect(published.canaries).toMatchObject({ persons: 2 });
      expect(await server.value('clean', 'SELECT count(*) FROM person')).toBe('60');
      await expect(sanitize(context, { canaries: 1001 })).rejects.toMatchObject({ code: 'invalid_value' });
      const leaving = await contextOf({
        query: [
          ...MASK.slice(1),
          "UPDATE person SET email = concat('p', id, '@example.com'), first_name = 'x', note = NULL, phone = id, born = '2000-01-01' WHERE id < 61",
        ],
      });
      await expect(sanitize(leaving, { canaries: 2 })).rejects.toMatchObject({ code: 'canaries_survived' });
    },
    LIMIT,
  );
}

const VALUES = '[new, paid, v0, v1, v2]';

const NAMES = [
  'notes',
  'Notes',
  'NOTES',
  'x1',
  'a.b',
  'a"b',
  'a`b',
  'line\nbreak',
  'größe',
  '->',
  'kept',
  "it's",
  'a b',
  '{}',
  '名前',
];

/** Statements that add something that nobody has classified. */
function schemaChange(round: number, random: () => number, isPostgres: boolean): string[] {
  const quote = (text: string): string =>
    isPostgres ? `"${text.replaceAll('"', '""')}"` : `\`${text.replaceAll('`', '``')}\``;
  const text = `${NAMES[Math.floor(random() * NAMES.length)]}${round}`;
  const type = ['varchar(40)', 'integer', 'date', 'json'][Math.floor(random() * 4)];
  const kinds = [
    [`ALTER TABLE person ADD COLUMN ${quote(text)} ${type}`],
    [`CREATE TABLE ${quote(text)} (${quote('Email')} ${type})`],
    [
      `ALTER TABLE event ADD COLUMN ${quote(`c${round}`)} ${type}`,
      `ALTER TABLE event RENAME COLUMN ${quote(`c${round}`)} TO ${quote(text)}`,
    ],
    [
      `CREATE TABLE ${quote(`t${round}`)} (note varchar(40))`,
      `ALTER TABLE ${quote(`t${round}`)} RENAME TO ${quote(text)}`,
    ],
  ];
  return kinds[Math.floor(random() * kinds.length)] ?? [];
}

interface WeakQuery {
  query: string[];
  /** The column that keeps marks. */
  column: string;
}

function weakQuery(round: number, random: () => number, isPostgres: boolean): WeakQuery {
  const hex = isPostgres ? (of: string) => `encode(${of}::bytea, 'hex')` : (of: string) => `hex(${of})`;
  const base64 = isPostgres ? (of: string) => `encode(${of}::bytea, 'base64')` : (of: string) => `to_base64(${of})`;
  const oneOf = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
  const forms: ((of: string) => string)[] = [
    (of) => of,
    (of) => `upper(${of})`,
    (of) => `lower(${of})`,
    (of) => `concat('x-', ${of}, '.test')`,
    (of) => `replace(${of}, '@', '_at_')`,
    (of) => `left(${of}, 14)`,
    (of) => `reverse(${of})`,
    (of) => `concat('{"a": "', ${of}, '"}')`,
    (of) => `concat(' ', ${of}, ' ')`,
    hex,
    base64,
  ];
  const from = oneOf(['email', 'first_name', 'note']);
  const value = oneOf(forms)(from);
  const rest = {
    email: "concat('p', id, '@example.com')",
    first_name: "concat('P', id)",
    note: 'NULL',
    phone: 'id',
    born: "'2000-01-01'",
  };
  const masked = (except: string): string =>
    Object.entries(rest)
      .filter(([column]) => column !== except)
      .map(([column, sql]) => `${column} = ${sql}`)
      .join(', ');
  const kinds: WeakQuery[] = [
    // MySQL assigns from left to right: the weak value comes first.
    { query: [`UPDATE person SET ${from} = ${value}, ${masked(from)}`], column: `person.${from}` },
    {
      query: [`CREATE TABLE kept_${round} AS SELECT ${value} AS v FROM person`, `UPDATE person SET ${masked('')}`],
      column: `kept_${round}.v`,
    },
    {
      query: [`UPDATE person SET ${masked('')} WHERE id < 61`],
      column: `person.${oneOf(['email', 'phone', 'born', 'note'])}`,
    },
    { query: [`UPDATE person SET ${masked('phone')}`], column: 'person.phone' },
    { query: [`UPDATE person SET ${masked('born')}`], column: 'person.born' },
    {
      query: [
        `ALTER TABLE purchase ADD COLUMN v varchar(200)`,
        `UPDATE purchase SET v = (SELECT ${value} FROM person p WHERE p.id = purchase.person_id)`,
        `UPDATE person SET ${masked('')}`,
      ],
      column: 'purchase.v',
    },
  ];
  const weak = oneOf(kinds);
  if (round % 7 === 6) return { query: [`UPDATE person SET ${masked('')}`], column: 'event.payload' };
  return { ...weak, query: [...weak.query, MASK[1] ?? ''] };
}
