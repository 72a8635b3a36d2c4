import { join } from 'node:path';
import { expect } from 'vitest';
import type { Settings } from '../../src/config/schema/settings.ts';
import { build } from '../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../src/operations/load/load.ts';
import type { LoadRequest } from '../../src/operations/load/planned-load.ts';
import { applyReset, planReset } from '../../src/operations/reset/reset.ts';
import { applySanitize, planSanitize } from '../../src/operations/sanitize/sanitize.ts';
import { applySubset, planSubset } from '../../src/operations/subset/subset.ts';
import { applyUndo, planUndo } from '../../src/operations/undo/undo.ts';
import { toUserError, type UserError } from '../../src/runtime/errors.ts';
import type { AnyServer, ServerKind } from '../helpers/any-server.ts';
import { testContext } from '../helpers/postgres-server.ts';
import { FAULTS, startStatementProxy } from '../helpers/statement-proxy.ts';
import type { Round } from '../helpers/trials.ts';

const TABLES = [
  'CREATE TABLE parent (id integer PRIMARY KEY, name varchar(60) NOT NULL)',
  "INSERT INTO parent VALUES (1, 'one@real.example.org'), (2, 'two@real.example.org'), (3, 'three@real.example.org')",
  'CREATE TABLE child (id integer PRIMARY KEY, parent_id integer NOT NULL, note varchar(60), FOREIGN KEY (parent_id) REFERENCES parent (id))',
  "INSERT INTO child VALUES (1, 1, 'a'), (2, 1, 'b'), (3, 2, 'c'), (4, 3, 'd')",
  'CREATE INDEX by_note ON child (note)',
  'CREATE VIEW named AS SELECT p.name, c.note FROM parent p JOIN child c ON c.parent_id = p.id',
];
const PROGRAMS: Record<ServerKind, string[]> = {
  postgres: [
    `CREATE FUNCTION noted() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.note := NEW.note || ''!''; RETURN NEW; END'`,
    'CREATE TRIGGER noted BEFORE INSERT ON child FOR EACH ROW EXECUTE FUNCTION noted()',
    'CREATE SEQUENCE numbers START 7',
    'CREATE MATERIALIZED VIEW names AS SELECT name FROM parent',
    `SELECT lo_from_bytea(4711, 'large')`,
  ],
  mariadb: mysqlPrograms(),
  mysql: mysqlPrograms(),
};
const CHANGE = [
  "UPDATE child SET note = 'changed' WHERE id > 2",
  'CREATE TABLE extra (id integer PRIMARY KEY)',
  'INSERT INTO extra VALUES (1)',
];

function mysqlPrograms(): string[] {
  return [
    "CREATE TRIGGER noted BEFORE INSERT ON child FOR EACH ROW SET NEW.note = CONCAT(NEW.note, '!')",
    'CREATE FUNCTION doubled(n integer) RETURNS integer DETERMINISTIC RETURN 2 * n',
    'CREATE EVENT hourly ON SCHEDULE EVERY 1 HOUR DO UPDATE child SET note = note WHERE id = 0',
    'CREATE TABLE log (id integer PRIMARY KEY) ENGINE = MyISAM',
    'INSERT INTO log VALUES (1), (2)',
  ];
}

interface Operation {
  name: string;
  run(): Promise<unknown>;
  database: 'copy' | 'small' | 'clean';
  /** The state that a complete run leaves; `null`: any that has no original value. */
  wanted: string | null;
  /** Runs without faults afterwards; by default the same. */
  next?: { run(): Promise<unknown>; wanted: string };
}

/** A server behind a proxy, and two snapshots, over which one statement of an operation is spoiled in each round. */
export interface StatementWorld extends AsyncDisposable {
  round(round: Round): Promise<void>;
}

export async function statementWorld(server: AnyServer, folder: string): Promise<StatementWorld> {
  const proxy = await startStatementProxy(server.kind, Number(new URL(server.url('source')).port));
  const url = (database: string): string => {
    const through = new URL(server.url(database));
    through.port = String(proxy.port);
    // The proxy reads what passes.
    through.searchParams.set('sslmode', server.kind === 'postgres' ? 'disable' : 'DISABLED');
    return through.href;
  };
  const subset_tables = [{ table: `${server.prefix('source')}.parent`, percent: 60 }];
  const settings: Partial<Settings> = {
    working_directory: join(folder, 'work'),
    targets: {
      app: { snapshot: { src_url: url('source'), dst_url: url('copy') } },
      built: {
        snapshot: { src_url: url('source') },
        sanitize: { dst_url: url('clean'), override_query: "UPDATE parent SET name = concat('p', id)" },
      },
      some: { subset: { src_url: url('source'), dst_url: url('small'), subset_tables } },
    },
  };
  const context = () => testContext({ settings });
  const load = async (request: Omit<LoadRequest, 'target' | 'cpus'>) =>
    applyLoad(context(), await planLoad(context(), { target: 'app', cpus: 2, ...request }));
  const undo = async () => applyUndo(context(), await planUndo(context(), { target: 'app' }));
  const reset = async () => applyReset(context(), await planReset(context(), { target: 'app' }));
  const sanitize = async () => applySanitize(context(), await planSanitize(context(), { target: 'built', cpus: 2 }));
  const subset = async () => applySubset(context(), await planSubset(context(), { target: 'some', cpus: 2 }));
  const state = async (database: string): Promise<string> => {
    await server.quiet();
    if (!(await server.databases()).includes(database)) return 'no database';
    // MySQL keeps the semicolon after a body that the packet of a swap has created, until the run ends.
    return (await server.content(database)).replaceAll('\n; ', ' ').replaceAll(/\n;$/gm, ' ');
  };
  /** Statements of each operation. */
  const counts = new Map<number, number>();

  await server.create('source');
  await server.run('source', [...TABLES, ...PROGRAMS[server.kind]]);
  const older = { snapshot: (await build(context(), { target: 'app' })).id, state: '' };
  await build(context(), { target: 'built' });
  await server.run('source', CHANGE);
  const newer = { snapshot: (await build(context(), { target: 'app' })).id, state: '' };
  const source = await state('source');
  for (const one of [older, newer]) {
    await load({ snapshot: one.snapshot });
    one.state = await state('copy');
  }
  await subset();
  const small = await state('small');
  expect(new Set([older.state, newer.state, small]).size).toBe(3);

  /** By its number; undo and reset begin with loads of their own. */
  async function prepare(kind: number): Promise<Operation> {
    const present = await state('copy');
    const [to, from] = present === older.state ? [newer, older] : [older, newer];
    const loading = (request: Partial<LoadRequest> = {}): Operation => ({
      name: ['load', ...Object.keys(request)].join(' '),
      run: () => load({ snapshot: to.snapshot, ...request }),
      database: 'copy',
      wanted: to.state,
    });
    const kinds: (() => Promise<Operation>)[] = [
      async () => loading(),
      async () => loading({ keepBase: true }),
      async () => {
        await load({ snapshot: from.snapshot });
        await load({ snapshot: to.snapshot });
        const next = { run: () => load({ snapshot: from.snapshot }), wanted: from.state };
        return { ...loading(), name: 'undo', run: undo, wanted: from.state, next };
      },
      async () => {
        await load({ snapshot: to.snapshot, keepBase: true });
        await server.run('copy', ['CREATE TABLE mine (id integer)', 'DELETE FROM child WHERE id > 2']);
        return { ...loading(), name: 'reset', run: reset };
      },
      async () => ({ name: 'sanitize', run: sanitize, database: 'clean', wanted: null }),
      async () => {
        if ((await state('small')) === small) await server.run('small', ['CREATE TABLE mine (id integer)']);
        return { name: 'subset', run: subset, database: 'small', wanted: small };
      },
      async () => loading(server.kind === 'postgres' ? { inPlace: true } : {}),
    ];
    const chosen = kinds[kind % kinds.length];
    if (!chosen) throw new Error(`no operation ${kind}`);
    return chosen();
  }

  async function expectSource(at: string): Promise<void> {
    expect(await server.content('source'), `${at}: the source was changed`).toBe(source);
    if (!(await server.databases()).includes('clean')) return;
    const original = "SELECT count(*) FROM parent WHERE name LIKE '%real.example.org'";
    expect(await server.column('clean', original), `${at}: an original value is left`).toEqual(['0']);
  }

  return {
    async round(round) {
      const kind = Math.floor(round.random() * KINDS);
      if (!counts.has(kind)) {
        const clean = await prepare(kind);
        proxy.arm('refused');
        await clean.run();
        counts.set(kind, proxy.disarm().statements);
      }
      const { name, run, database, wanted, next = { run, wanted } } = await prepare(kind);
      const fault = round.oneOf(FAULTS);
      const before = await state(database);
      proxy.arm(fault, 1 + Math.floor(round.fraction * (counts.get(kind) ?? 0)));
      const error: UserError | null = await run().then(
        () => null,
        (thrown) => toUserError(thrown),
      );
      const { spoiled } = proxy.disarm();
      const at = `${name}, ${fault}: ${spoiled}\n${error?.code}: ${error?.message}\n${error?.details.join('\n')}\n${error?.hint}\n`;
      expect(error?.code, `${at}is a defect`).not.toBe('unexpected');
      const now = await state(database).catch((thrown) => expect.unreachable(`${at}sessions remain: ${thrown}`));
      if (wanted !== null) {
        const isKnown = now === before || now === wanted;
        expect(isKnown, `${at}the destination is neither old nor new:\n${difference(wanted, now)}`).toBe(true);
        if (error === null) expect(now === wanted, `${at}the run succeeded, and the destination is old`).toBe(true);
        const isToldUnchanged = /is unchanged/.test(`${error?.message} ${error?.hint}`);
        if (isToldUnchanged) expect(now === before, `${at}the destination is new`).toBe(true);
      }
      await expectSource(at);
      if (
        database === 'copy' &&
        name.startsWith('load') &&
        now === wanted &&
        now !== before &&
        !name.includes('inPlace')
      ) {
        await undo().catch((thrown) => expect.unreachable(`${at}undo: ${toUserError(thrown).message}`));
        expect((await state(database)) === before, `${at}undo leads elsewhere`).toBe(true);
      }
      await next.run().catch((thrown) => {
        const { message, details, hint } = toUserError(thrown);
        expect.unreachable(`${at}the next run: ${message}\n${details.join('\n')}\n${hint}`);
      });
      if (next.wanted !== null) expect((await state(database)) === next.wanted, `${at}the next run`).toBe(true);
      await expectSource(`${at}the next run`);
      const left = (await server.databases()).filter((one) => one.startsWith(`${database}.tool-new-`));
      expect(left, `${at}databases are left over`).toEqual([]);
      expect(await server.column('', TEMPORARY[server.kind]), `${at}temporary roles are left over`).toEqual([]);
    },
    [Symbol.asyncDispose]: () => proxy.stop(),
  };
}

/** With those of PostgreSQL alone, which elsewhere are loads. */
const KINDS = 7;

/** Statements of one dump that the other one lacks. */
function difference(expected: string, found: string): string {
  const [before, after] = [expected, found].map((dump) => dump.split(';\n'));
  const missing = before?.filter((statement) => !after?.includes(statement)) ?? [];
  const added = after?.filter((statement) => !before?.includes(statement)) ?? [];
  return [...missing.map((statement) => `- ${statement}`), ...added.map((statement) => `+ ${statement}`)]
    .join('\n')
    .slice(0, 3000);
}

const USERS = "SELECT User FROM mysql.user WHERE User LIKE 'tool-%'";
const TEMPORARY: Record<ServerKind, string> = {
  postgres: "SELECT rolname FROM pg_roles WHERE rolname LIKE 'tool%'",
  mariadb: USERS,
  mysql: USERS,
};
