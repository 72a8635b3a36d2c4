import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readRehearsalFacts } from '../../../../src/engines/postgres/rehearse/read-facts.ts';
import { POSTGRES } from '../../../../src/operations/rehearse/rules/postgres/dialect.ts';
import { POSTGRES_RULES } from '../../../../src/operations/rehearse/rules/postgres/rules.ts';
import { postgresTokens } from '../../../../src/operations/rehearse/rules/postgres/tokens.ts';
import type { RuleFacts } from '../../../../src/operations/rehearse/rules/situation.ts';
import { warningsOf } from '../../../../src/operations/rehearse/rules/warnings.ts';
import { describeWithPostgres, startPostgres } from '../../../helpers/postgres/postgres-server.ts';
import { randomFrom } from '../../../helpers/random.ts';
import { suiteResource } from '../../../helpers/suite-resource.ts';
import { DANGEROUS } from './corpus/dangerous.ts';
import { HARMLESS } from './corpus/harmless.ts';
import { type CorpusMigration, SET_UP } from './corpus/migration.ts';

const LIMIT = "SET lock_timeout = '2s'";
/** Modes of pg_locks that block writes. */
const STRONG = ['ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock'];

describeWithPostgres('rules of rehearsals over the corpus', () => {
  const server = suiteResource(() => startPostgres({ autovacuum: 'off', allow_in_place_tablespaces: 'on' }));
  let client: pg.Client;
  let number = 0;
  const judged: { statements: string[]; facts: RuleFacts; warnings: string[] }[] = [];

  beforeAll(async () => {
    client = new pg.Client(server.url('postgres'));
    await client.connect();
    await client.query("CREATE TABLESPACE other LOCATION ''");
  }, 60_000);

  afterAll(async () => {
    await client?.end();
  });

  it('has 40 dangerous and 40 harmless migrations', () => {
    expect(DANGEROUS.length).toBeGreaterThanOrEqual(40);
    expect(HARMLESS.length).toBeGreaterThanOrEqual(40);
    const found = new Set(DANGEROUS.flatMap(({ warnings }) => warnings.map((warning) => warning.split(' ')[0])));
    expect(POSTGRES_RULES.map(({ code }) => code).filter((code) => !found.has(code))).toEqual([]);
  });

  it.each([...DANGEROUS, ...HARMLESS])('$name', async (migration) => {
    const { statements, warnings, fails = false, rewritten = [], unlimited = false } = migration;
    const schema = `c${++number}`;
    const { facts, files, locks, failed } = await run(schema, migration);
    expect(failed, 'refused by the server').toBe(fails);
    const all = { ...facts, rewritten: new Set(files) };
    const found = warningsOf(POSTGRES, sent([...(unlimited ? [] : [LIMIT]), ...statements]), all);
    const named = found.map(({ code, table }) => `${code} ${table?.replace(`${schema}.`, '') ?? 'none'}`);
    expect(named.sort()).toEqual(warnings.sort());
    judged.push({ statements: [...(unlimited ? [] : [LIMIT]), ...statements], facts: all, warnings: named });

    const rules = new Map(POSTGRES_RULES.map((rule) => [rule.code, rule]));
    const claimed = found.filter(({ code }) => rules.get(code)?.rewrites).map(({ table }) => table);
    expect(files, 'written anew').toEqual([...claimed, ...rewritten.map((table) => `${schema}.${table}`)].sort());
    if (!locks) return;
    for (const { code, table } of found) {
      const mode = rules.get(code)?.lock;
      if (mode && !fails) expect(locks.get(table ?? ''), `${code}: the lock on ${table}`).toContain(asInCatalog(mode));
    }
    const isStrong = [...locks.values()].some((modes) => modes.some((mode) => STRONG.includes(mode)));
    const unlimitedOnes = warningsOf(POSTGRES, sent(statements), all).map(({ code }) => code);
    if (!fails) expect(unlimitedOnes.includes('lock_timeout_missing'), 'lock_timeout_missing').toBe(isStrong);
  });

  it('warnings are the same for other blanks, comments, quotes and letters', () => {
    const random = randomFrom(41);
    const choose = (below: number): number => Math.floor(random() * below);
    for (const { statements, facts, warnings } of judged) {
      for (let round = 0; round < 10; round += 1) {
        const written = statements.map((text) => rewritten(text, choose));
        const found = warningsOf(POSTGRES, sent(written), facts).map(
          ({ code, table }) => `${code} ${table?.replace(/^c\d+\./, '') ?? 'none'}`,
        );
        expect(found.sort(), written.join(';\n')).toEqual(warnings);
      }
    }
  });

  async function run(schema: string, { setUp = '', statements }: CorpusMigration) {
    await client.query(
      `RESET ALL; CREATE SCHEMA ${schema}; SET search_path = ${schema}; SET lock_timeout = '2s'; ${SET_UP}; ${setUp}`,
    );
    const query = async <Row>(sql: string): Promise<Row[]> => (await client.query(sql)).rows as Row[];
    const read = await readRehearsalFacts({ query });
    const tables = new Map([...read.tables].filter(([table]) => table.startsWith(`${schema}.`)));
    const before = await relationFiles(schema);
    const ownTransaction =
      statements.includes('BEGIN') || statements.some((text) => /CONCURRENTLY|VACUUM|ADD VALUE/.test(text));
    let locks: Map<string, string[]> | null = null;
    let failed = false;
    if (!ownTransaction) await client.query('BEGIN');
    for (const text of [...statements, ...(ownTransaction ? [] : ['COMMIT'])]) {
      if (text === 'COMMIT') locks = await heldLocks(before);
      await client.query(text).catch(() => {
        failed = true;
      });
      if (failed) break;
    }
    if (failed) await client.query('ROLLBACK');
    const after = await relationFiles(schema);
    await client.query(`DROP SCHEMA ${schema} CASCADE`);
    const files = before.filter(({ oid, file }) => after.some((other) => other.oid === oid && other.file !== file));
    const facts = { ...read, tables, searchPath: [schema], limitsLockWaits: false };
    return { facts, files: files.map(({ name }) => name).sort(), locks: failed ? null : locks, failed };
  }

  async function relationFiles(schema: string): Promise<{ oid: number; name: string; file: number }[]> {
    const text = `SELECT oid::int, '${schema}.' || relname AS name, relfilenode::int AS file FROM pg_class
      WHERE relnamespace = '${schema}'::regnamespace AND relkind IN ('r', 'm', 'p')`;
    return (await client.query(text)).rows;
  }

  async function heldLocks(relations: { oid: number; name: string }[]): Promise<Map<string, string[]>> {
    const { rows } = await client.query<{ oid: number; mode: string }>(
      "SELECT relation::int AS oid, mode FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'relation'",
    );
    return new Map(
      relations.map(({ oid, name }) => [name, rows.filter((row) => row.oid === oid).map(({ mode }) => mode)]),
    );
  }
});

function sent(statements: string[]) {
  let inTransaction = false;
  return statements.map((text) => {
    const statement = { text, inTransaction, session: 1 };
    if (/^begin$/i.test(text)) inTransaction = true;
    if (/^(commit|rollback)$/i.test(text)) inTransaction = false;
    return statement;
  });
}

const NAMES = new Set([
  'orders',
  'customers',
  'total',
  'email',
  'name',
  'score',
  'state',
  'logs',
  'sums',
  'orders_total',
]);
const BLANKS = [' ', '\n', '\t ', ' /* DROP TABLE orders; */ ', ' -- ; TRUNCATE orders\n', '/* /* */ */'];

/** The same statement in other letters. */
function rewritten(sql: string, choose: (below: number) => number): string {
  let end = 0;
  const parts = postgresTokens(sql).map(({ kind, value, at, end: next }) => {
    const isTight = end === at;
    end = next;
    const blank = isTight ? '' : (BLANKS[choose(BLANKS.length)] ?? ' ');
    const text = sql.slice(at, next);
    if (kind !== 'word') return `${blank}${text}`;
    if (NAMES.has(value) && choose(2) === 0) return `${blank}"${value}"`;
    return `${blank}${choose(2) === 0 ? text.toUpperCase() : text.toLowerCase()}`;
  });
  return parts.join('').trim();
}

/** `SHARE ROW EXCLUSIVE` → `ShareRowExclusiveLock`. */
function asInCatalog(mode: string): string {
  const words = mode.split(' ').map((word) => word.charAt(0) + word.slice(1).toLowerCase());
  return `${words.join('')}Lock`;
}
