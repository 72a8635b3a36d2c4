import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect } from 'vitest';
import { build } from '../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../src/operations/load/load.ts';
import { UserError } from '../../src/runtime/errors.ts';
import type { AnyServer } from '../helpers/databases/any-server.ts';
import { eventually, testContext } from '../helpers/postgres/postgres-server.ts';
import type { Round } from '../helpers/trials.ts';

const ACCOUNTS = 400;
const TOTAL = ACCOUNTS * 100;

/** Every transaction keeps: the sum of all balances, a letter has its account, an account the number of its letters. */
const TABLES = [
  'CREATE TABLE z_account (id integer PRIMARY KEY, balance integer NOT NULL, letters integer NOT NULL)',
  'CREATE TABLE a_letter (id integer PRIMARY KEY, account_id integer NOT NULL, note varchar(200))',
  'CREATE TABLE b_account (id integer PRIMARY KEY, balance integer NOT NULL)',
  `INSERT INTO z_account VALUES ${Array.from({ length: ACCOUNTS }, (_, id) => `(${id}, 50, 0)`).join(',')}`,
  `INSERT INTO b_account VALUES ${Array.from({ length: ACCOUNTS }, (_, id) => `(${id}, 50)`).join(',')}`,
];

const UNTRUE = {
  'sum of all balances': `SELECT (SELECT sum(balance) FROM z_account) + (SELECT sum(balance) FROM b_account) - ${TOTAL}`,
  'letters without account': 'SELECT count(*) FROM a_letter WHERE account_id NOT IN (SELECT id FROM z_account)',
  'numbers of letters':
    'SELECT count(*) FROM z_account a WHERE letters <> (SELECT count(*) FROM a_letter l WHERE l.account_id = a.id)',
};

/** Statements of other sessions that change definitions while a snapshot is built. */
const DEFINITIONS = (turn: number): string[] => [
  `CREATE TABLE extra_${turn} (id integer PRIMARY KEY)`,
  `ALTER TABLE a_letter ADD COLUMN added_${turn} integer`,
  `CREATE INDEX by_note_${turn} ON a_letter (note)`,
  `DROP TABLE extra_${turn}`,
];

export async function startInstant(server: AnyServer): Promise<void> {
  await server.create('source');
  await server.run('source', TABLES);
}

/** A build and a load while others write, in every other round also definitions. */
export async function checkInstant(
  { server, folder }: { server: AnyServer; folder: string },
  round: Round,
): Promise<'built' | 'refused'> {
  const stop = new AbortController();
  let written = round.number * 1_000_000;
  const first = written;
  const { signal } = stop;
  const isDefining = round.number % 2 === 1;
  const writing = server.writer('source', async (execute) => {
    while (!signal.aborted) {
      written += 1;
      const [from, to] = [Math.floor(round.random() * ACCOUNTS), Math.floor(round.random() * ACCOUNTS)];
      try {
        await execute('BEGIN');
        await execute(`UPDATE z_account SET balance = balance - 1, letters = letters + 1 WHERE id = ${from}`);
        await execute(`INSERT INTO a_letter (id, account_id, note) VALUES (${written}, ${from}, 'a note')`);
        await execute(`UPDATE b_account SET balance = balance + 1 WHERE id = ${to}`);
        await execute('COMMIT');
      } catch (error) {
        // The server ends one of two that change definitions and rows crosswise.
        if (!isDefining || !/deadlock/i.test((error as Error).message)) throw error;
        await execute('ROLLBACK');
      }
    }
  });
  const defining = server.writer('source', async (execute) => {
    for (let turn = 0; isDefining && !signal.aborted; turn += 1) {
      // Waits for no lock long, and gives way to the dump.
      for (const statement of DEFINITIONS(round.number * 1000 + turn)) await execute(statement).catch(() => {});
      // A server that has gone refuses at once.
      await setImmediate();
    }
  });
  const snapshot = { src_url: server.url('source'), dst_url: server.url('copy') };
  const context = testContext({
    settings: { working_directory: join(folder, 'work'), targets: { app: { snapshot } } },
  });
  try {
    await eventually(async () => written > first + 20);
    const before = written;
    const built = await build(context, { target: 'app', cpus: 2 }).catch((error) => {
      // Definitions that change under a dump are an error that a person understands; rows that change are none.
      if (isDefining && error instanceof UserError && error.code !== 'unexpected') return null;
      throw error;
    });
    expect(written, 'nobody wrote meanwhile').toBeGreaterThan(before);
    if (built === null) return 'refused';
    await applyLoad(context, await planLoad(context, { target: 'app', undo: false }));
  } finally {
    stop.abort();
    await Promise.all([writing, defining]);
  }
  for (const [what, query] of Object.entries(UNTRUE)) {
    expect(Number((await server.column('copy', query))[0]), `${what} in the copy`).toBe(0);
  }
  await server.run('source', ['DELETE FROM a_letter', 'UPDATE z_account SET letters = 0']);
  return 'built';
}
