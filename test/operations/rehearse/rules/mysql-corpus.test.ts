import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readServer } from '../../../../src/engines/mysql/catalog/introspect.ts';
import { type MysqlSession, openSession } from '../../../../src/engines/mysql/connection/session.ts';
import { SqlError } from '../../../../src/engines/mysql/connection/session-errors.ts';
import { parseMysqlUrl } from '../../../../src/engines/mysql/connection/url.ts';
import { readRehearsalFacts } from '../../../../src/engines/mysql/rehearse/read-facts.ts';
import { type DatabaseFacts, readFacts, rewritesBetween } from '../../../../src/engines/mysql/rehearse/relations.ts';
import { MYSQL } from '../../../../src/operations/rehearse/rules/mysql/dialect.ts';
import { MYSQL_RULES } from '../../../../src/operations/rehearse/rules/mysql/rules.ts';
import { mysqlTokens } from '../../../../src/operations/rehearse/rules/mysql/tokens.ts';
import type { MigrationStatement } from '../../../../src/operations/rehearse/rules/rule.ts';
import type { RuleFacts } from '../../../../src/operations/rehearse/rules/situation.ts';
import { warningsOf } from '../../../../src/operations/rehearse/rules/warnings.ts';
import {
  describeWithMysql,
  startMysql,
  type TestFlavour,
  testedFlavours,
} from '../../../helpers/mysql/mysql-server.ts';
import { randomFrom } from '../../../helpers/random.ts';
import { suiteResource } from '../../../helpers/suite-resource.ts';
import { DANGEROUS } from './corpus/mysql/dangerous.ts';
import { HARMLESS } from './corpus/mysql/harmless.ts';
import { type MysqlMigration, SET_UP } from './corpus/mysql/migration.ts';

const LIMIT = 'SET lock_wait_timeout = 5';

describe('the corpus of MySQL and MariaDB', () => {
  it('has 40 dangerous and 40 harmless migrations, and one for each rule', () => {
    expect(DANGEROUS.length).toBeGreaterThanOrEqual(40);
    expect(HARMLESS.length).toBeGreaterThanOrEqual(40);
    const found = new Set(DANGEROUS.flatMap(({ warnings }) => warnings.map((warning) => warning.split(' ')[0])));
    expect(MYSQL_RULES.map(({ code }) => code).filter((code) => !found.has(code))).toEqual([]);
  });
});

for (const flavour of testedFlavours('mariadb')) {
  describeWithMysql(flavour, { name: 'rules of rehearsals over the corpus' }, () => corpusOn(flavour));
}

function corpusOn(flavour: TestFlavour): void {
  const server = suiteResource(() => startMysql(flavour));
  let session: MysqlSession;
  let number = 0;
  const judged: { statements: MigrationStatement[]; facts: RuleFacts; warnings: string[] }[] = [];

  beforeAll(async () => {
    session = await openSession({ url: parseMysqlUrl(server.url('')), settings: [] });
  }, 60_000);

  afterAll(async () => {
    await session?.close();
  });

  const own = [...DANGEROUS, ...HARMLESS].filter(({ only = flavour }) => only === flavour);
  it.each(own)('$name', async (migration) => {
    const { warnings, rewritten = [], unlimited = false } = migration;
    const database = `c${++number}`;
    const { facts, files, statements, failed } = await run(database, migration);
    expect(failed, 'refused by the server').toBeNull();
    const sent = [...(unlimited ? [] : [{ text: LIMIT, inTransaction: false, session: 1 }]), ...statements];
    const all = { ...facts, rewritten: new Set(files) };
    const bare = (name: string | null): string => name?.replace(`${database}.`, '') ?? 'none';
    const found = warningsOf(MYSQL, sent, all);
    const named = found.map(({ code, table }) => `${code} ${bare(table)}`);
    expect(named.sort()).toEqual(warnings.toSorted());
    judged.push({ statements: sent, facts: all, warnings: named });
    const rules = new Map(MYSQL_RULES.map((rule) => [rule.code, rule]));
    const explained = found.filter(({ code }) => rules.get(code)?.rewrites).map(({ table }) => bare(table));
    expect(files.map(bare).filter((name) => !explained.includes(name) && !rewritten.includes(name))).toEqual([]);
    if (warnings.length === 0) expect(files).toEqual([]);
  });

  it('warnings are the same for other blanks, comments, quotes and letters', () => {
    const random = randomFrom(41);
    const choose = (below: number): number => Math.floor(random() * below);
    expect(judged.length).toBeGreaterThanOrEqual(80);
    for (const { statements, facts, warnings } of judged) {
      for (let round = 0; round < 10; round += 1) {
        const written = statements.map((each) => ({ ...each, text: inOtherLetters(each.text, choose) }));
        const found = warningsOf(MYSQL, written, facts).map(
          ({ code, table }) => `${code} ${table?.replace(/^c\d+\./, '') ?? 'none'}`,
        );
        expect(found.sort(), written.map(({ text }) => text).join(';\n')).toEqual(warnings);
      }
    }
  });

  async function run(database: string, { setUp = '', statements }: MysqlMigration) {
    await session.execute(`CREATE DATABASE ${database} CHARACTER SET utf8mb4`);
    await session.execute(`USE ${database}`);
    await session.execute('SET foreign_key_checks = 1');
    for (const text of [...SET_UP, ...setUp.split(';').filter((each) => each.trim())]) await session.execute(text);
    await session.execute(LIMIT);
    const place = { ...(await readServer(session)), database };
    const before: DatabaseFacts = await readFacts(session, place);
    const facts = { ...(await readRehearsalFacts(session, before)), limitsLockWaits: false };
    const sent: MigrationStatement[] = [];
    let failed: string | null = null;
    let inTransaction = false;
    for (const text of statements) {
      const rows = await session.execute(text).catch((error) => {
        if (!(error instanceof SqlError)) throw error;
        failed = error.message;
        return { rows: 0 };
      });
      sent.push({ text, inTransaction, session: 1, affected: [rows.rows ?? 0] });
      if (/^(begin|start)\b/i.test(text)) inTransaction = true;
      else if (/^(commit|alter|rollback$)\b/i.test(text)) inTransaction = false;
    }
    const files = rewritesBetween(before, await readFacts(session, place)).map(({ name }) => name);
    await session.execute(`DROP DATABASE ${database}`);
    return { facts, files, statements: sent, failed };
  }
}

const NAMES = new Set(['orders', 'customers', 'plain', 'total', 'email', 'name', 'score', 'state', 'logs', 'kind']);
const BLANKS = [' ', '\n', '\t ', ' /* DROP TABLE orders; */ ', ' -- ; TRUNCATE orders\n', ' # DROP TABLE orders\n'];

/** The same statement in other letters. */
function inOtherLetters(sql: string, choose: (below: number) => number): string {
  let end = 0;
  const parts = mysqlTokens(sql).map(({ kind, value, at, end: next }) => {
    const isTight = end === at;
    end = next;
    const blank = isTight ? '' : (BLANKS[choose(BLANKS.length)] ?? ' ');
    const text = sql.slice(at, next);
    if (kind !== 'word') return `${blank}${text}`;
    if (NAMES.has(value)) return `${blank}${choose(2) === 0 ? text : `\`${text}\``}`;
    return `${blank}${isName(value) ? text : choose(2) === 0 ? text.toUpperCase() : text.toLowerCase()}`;
  });
  return parts.join('').trim();
}

/** Names of tables, triggers and databases have a case. */
function isName(word: string): boolean {
  return /^(old|hashed|events|logs_2|elsewhere|notes|same|spare|sales|hollow|nothing|names)$/.test(word);
}
