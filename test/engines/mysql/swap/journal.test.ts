import { beforeAll, expect, it } from 'vitest';
import { readCode } from '../../../../src/engines/mysql/catalog/definitions/read-definitions.ts';
import { connectToServer } from '../../../../src/engines/mysql/connection/connect.ts';
import { parseMysqlUrl } from '../../../../src/engines/mysql/connection/url.ts';
import { writeJournal } from '../../../../src/engines/mysql/swap/journal.ts';
import type { Journal } from '../../../../src/engines/mysql/swap/journal-schema.ts';
import { sweepLeftovers } from '../../../../src/engines/mysql/swap/leftovers.ts';
import { writeRecord } from '../../../../src/engines/mysql/swap/record.ts';
import { UNDO_COPY, type UndoCopyRecord } from '../../../../src/engines/mysql/swap/undo-copy.ts';
import { applyUndo, planUndo } from '../../../../src/operations/undo/undo.ts';
import type { RunEvent } from '../../../../src/results/events.ts';
import { describeWithMysql, startMysql } from '../../../helpers/mysql/mysql-server.ts';
import { testContext } from '../../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../../helpers/suite-resource.ts';

const WORK = 'app.tool-new-00000000';
const OLD = [
  'CREATE TABLE t (id INT PRIMARY KEY, note VARCHAR(20))',
  "CREATE TRIGGER first_one BEFORE INSERT ON t FOR EACH ROW SET NEW.note = 'old'",
  'CREATE VIEW seen AS SELECT note FROM t',
];
const NIGHTLY = {
  ...{ kind: 'EVENT', name: 'nightly', sql_mode: '', charset: null, collation: null },
  create: "CREATE EVENT `nightly` ON SCHEDULE EVERY 1 DAY STARTS '2037-01-01 00:00:00' DO DELETE FROM t",
};
const REPLACED_AT = '2026-01-02T03:04:05.000Z';
const NEW = [
  'CREATE TABLE t (id INT PRIMARY KEY, note VARCHAR(20))',
  "CREATE TRIGGER other_one BEFORE INSERT ON t FOR EACH ROW SET NEW.note = 'new'",
  'CREATE VIEW found AS SELECT id FROM t',
  'CREATE FUNCTION one() RETURNS INT DETERMINISTIC RETURN 1',
];

describeWithMysql('mariadb', { name: 'a swap that was killed' }, () => {
  const server = suiteResource(() => startMysql('mariadb'));

  beforeAll(async () => {
    await server.createDatabase('new');
    await server.sql('new', ...NEW);
  }, 120_000);

  /** The destination, a journal beside it, and what of the swap had been done. */
  async function killed(options: {
    done?: string[];
    made?: boolean;
    /** The time zone of an event of the new database, which keeps what it replaces. */
    zone?: string;
    /** Only rows are replaced, of tables with triggers. */
    rowsOnly?: boolean;
  }): Promise<{ before: string; swept: () => Promise<string> }> {
    const { done = [], made = false, zone, rowsOnly = false } = options;
    await server.sql('', 'DROP DATABASE IF EXISTS app');
    await server.createDatabase('app');
    await server.sql('app', ...OLD, 'INSERT INTO t (id) VALUES (5)');
    if (!zone) await server.sql('app', 'DELETE FROM t');
    const before = await server.dump('app');
    const url = parseMysqlUrl(server.url('app'));
    const context = testContext({ settings: {} });
    await server.createDatabase(WORK);
    await using session = await connectToServer(context, url);
    const [old, fresh] = [await readCode(session, 'app', fail), await readCode(session, 'new', fail)];
    const journal: Journal = { of: 'app', made, before: old, after: fresh, definers: 'mine', obsolete: null };
    if (rowsOnly) {
      journal.rows_only = true;
      journal.before = { ...old, routines: [], views: [], events: [] };
    }
    if (zone) {
      journal.after = { ...fresh, triggers: [], views: [], events: [{ ...NIGHTLY, time_zone: zone }] };
      journal.later = [
        { from: [WORK, 'old-0'], to: ['app.tool-undo', 't'] },
        { from: [WORK, UNDO_COPY], to: ['app.tool-undo', UNDO_COPY] },
      ];
      const record: UndoCopyRecord = { of: 'app', replaced_at: REPLACED_AT, code: old };
      await writeRecord(session, { database: WORK, table: UNDO_COPY, value: record });
    }
    await writeJournal(session, WORK, journal);
    await server.sql('app', ...done);
    return {
      before,
      async swept() {
        await using again = await connectToServer(context, url);
        await sweepLeftovers(context, { server: again, url });
        return server.dump('app');
      },
    };
  }

  it('an interruption before the tables moved is reverted: triggers and views are created again', async () => {
    const { before, swept } = await killed({ done: ['DROP TRIGGER first_one', 'DROP VIEW seen'] });
    expect(await swept()).toBe(before);
    expect(await server.databases()).toEqual(['app', 'new']);
  });

  it.each(['tool-journal', 'tool-journal-moved'])(
    'triggers of a replacement of rows are created again by %s',
    async (table) => {
      const rename = `RENAME TABLE \`${WORK}\`.\`tool-journal\` TO \`${WORK}\`.\`${table}\``;
      const done = ['DROP TRIGGER first_one', ...(table === 'tool-journal' ? [] : [rename])];
      const { before, swept } = await killed({ rowsOnly: true, done });
      expect(await swept()).toBe(before);
      expect(await server.databases()).toEqual(['app', 'new']);
    },
  );

  it('an interruption after the tables moved is completed: dependents of the new tables are created, those of the old ones dropped', async () => {
    const { swept } = await killed({
      done: [
        'DROP TRIGGER first_one',
        `RENAME TABLE \`${WORK}\`.\`tool-journal\` TO \`${WORK}\`.\`tool-journal-moved\``,
      ],
    });
    expect(await swept()).toBe(await server.dump('new'));
    expect(await server.databases()).toEqual(['app', 'new']);
  });

  it('drops nothing that others created since in a destination that did not exist', async () => {
    const { before, swept } = await killed({ made: true });
    expect(await swept()).toBe(before);
  });

  it('after the tables moved leaves an undo copy also when the server refuses an object of the new ones', async () => {
    const { before, swept } = await killed({
      zone: 'Nowhere/Land',
      done: [
        'DROP TRIGGER first_one',
        'CREATE DATABASE `app.tool-undo`',
        `RENAME TABLE app.t TO \`${WORK}\`.\`old-0\`, \`${WORK}\`.\`tool-journal\` TO \`${WORK}\`.\`tool-journal-moved\``,
      ],
    });
    await server.sql('app', 'CREATE TABLE t (id INT PRIMARY KEY)');
    const events: RunEvent[] = [];
    const url = server.url('app');
    const targets = { app: { snapshot: { src_url: server.url('source'), dst_url: url } } };
    const context = testContext({ settings: { targets }, events });
    // The tables of the undo copy are not in it yet.
    const planned = await planUndo(context, { target: 'app' });
    expect(planned.plan).toMatchObject({ undo_database: 'app.tool-undo', replaced_at: REPLACED_AT });
    await applyUndo(context, planned);
    expect(events).toContainEqual(
      expect.objectContaining({
        code: 'not_carried_over',
        message: expect.stringMatching(/event nightly: .*time zone/),
      }),
    );
    expect(await swept()).toBe(before);
    expect(await server.sql('app', 'SELECT id FROM t')).toEqual([{ id: 5 }]);
    expect(await server.databases()).toEqual(['app', 'app.tool-undo', 'new']);
    await server.sql('', 'DROP DATABASE `app.tool-undo`');
  });

  it('an interruption among the dependents of the new tables is completed', async () => {
    const { swept } = await killed({
      done: [
        `RENAME TABLE \`${WORK}\`.\`tool-journal\` TO \`${WORK}\`.\`tool-journal-moved\``,
        'DROP TRIGGER first_one',
        'CREATE FUNCTION one() RETURNS INT DETERMINISTIC RETURN 1',
        'CREATE VIEW found AS SELECT id FROM t',
      ],
    });
    expect(await swept()).toBe(await server.dump('new'));
  });
});

function fail(what: string, why: string): never {
  throw new Error(`${what}: ${why}`);
}
