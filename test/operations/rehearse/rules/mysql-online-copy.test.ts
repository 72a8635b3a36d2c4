import { expect, it } from 'vitest';
import type { ConstraintFacts } from '../../../../src/engines/facets/rehearsal-facts.ts';
import { readRehearsalFacts } from '../../../../src/engines/mysql/rehearse/read-facts.ts';
import { briefLocks } from '../../../../src/operations/rehearse/brief-locks.ts';
import { MYSQL } from '../../../../src/operations/rehearse/rules/mysql/dialect.ts';
import { warningsOf } from '../../../../src/operations/rehearse/rules/warnings.ts';

const FOREIGN: ConstraintFacts = { name: 'of', kind: 'foreign', definition: '', isValidated: true };

/** Returns the lock and the warnings of a change of type, for which rows are copied. */
function judged(text: string, { copiesOnline = true, constraints = [] as ConstraintFacts[] } = {}) {
  const columns = [{ name: 'age', type: 'int', isNullable: true, views: [] }];
  const table = { rows: 1000, columns, indexes: [], triggers: [], constraints } as const;
  const facts = { tables: new Map([['shop.t', table]]), searchPath: ['shop'], limitsLockWaits: true, copiesOnline };
  const statement = { text, atMs: 0, durationMs: 900, session: 1, inTransaction: false, affected: [1000], error: null };
  const locks = briefLocks(MYSQL, { statements: [statement], locks: [], facts });
  const warnings = warningsOf(MYSQL, [statement], { ...facts, rewritten: new Set(['shop.t']) });
  return [locks.map(({ mode }) => mode).join(), warnings[0]?.text.split(' ').slice(0, 2).join(' ')];
}

it('a copy blocks writers, unless the server copies online', () => {
  const change = 'ALTER TABLE t MODIFY age varchar(20)';
  expect(judged(change, { copiesOnline: false })).toEqual(['SHARED NO WRITE', 'Writes to']);
  expect(judged(change)).toEqual(['SHARED UPGRADABLE', 'The rows']);
  expect(judged(change, { constraints: [FOREIGN] })).toEqual(['SHARED NO WRITE', 'Writes to']);
  expect(judged(`${change}, LOCK=SHARED`)[0]).toBe('SHARED NO WRITE');
  expect(judged('ALTER TABLE t ADD COLUMN id int AUTO_INCREMENT PRIMARY KEY')[0]).toBe('SHARED NO WRITE');
});

it.each([
  ['10.11.19-MariaDB', '', false],
  ['11.1.4-MariaDB', '', false],
  ['11.2.2-MariaDB', 'UTF8_IS_UTF8MB3', true],
  ['12.0.1-MariaDB', '', true],
  ['11.8.2-MariaDB', 'LOCK_ALTER_TABLE_COPY', false],
])('%s with old_mode "%s" copies online: %s', async (version, modes, copiesOnline) => {
  const query = async <Row>(sql: string): Promise<Row[]> =>
    sql.includes('VERSION()') ? [{ version, modes } as Row] : [];
  const database = { flavour: 'mariadb', database: 'shop', tables: new Map() } as const;
  expect(await readRehearsalFacts({ query }, database)).toMatchObject({ isMariadb: true, copiesOnline });
});
