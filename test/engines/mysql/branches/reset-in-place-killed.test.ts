import { afterAll, beforeAll, expect, it } from 'vitest';
import { unwrittenTable } from '../../../../src/engines/mysql/server/names.ts';
import type { AnyServer } from '../../../helpers/databases/any-server.ts';
import { itIf } from '../../../helpers/it-if.ts';
import { type LoadedWithBase, loadedWithBase } from '../../../helpers/loaded-with-base.ts';
import { describeWithMysql, testedFlavours } from '../../../helpers/mysql/mysql-server.ts';
import { eventually } from '../../../helpers/postgres/postgres-server.ts';
import type { Tool } from '../../../helpers/terminal/tool-process.ts';

const FILL = [
  'CREATE TABLE digit (n INT PRIMARY KEY)',
  'INSERT INTO digit VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)',
  'CREATE TABLE item (id INT PRIMARY KEY, name VARCHAR(64) NOT NULL, KEY (name))',
  'INSERT INTO item SELECT a.n + 10 * b.n + 100 * c.n + 1000 * d.n, SHA2(a.n + 10 * b.n, 256) FROM digit a, digit b, digit c, digit d',
  'CREATE TABLE child (id INT PRIMARY KEY, item INT, FOREIGN KEY (item) REFERENCES item (id) ON DELETE CASCADE)',
  'INSERT INTO child SELECT id, id FROM item WHERE id < 3000',
];
const RESET = ['reset', 'app', '--no-undo'];
const RESET_BRANCH = ['branch', 'reset', 'app', 'one'];
type ToolRun = ReturnType<Tool['start']>;
const ROUNDS = process.env.TEST_FULL ? 40 : 0;
/** A run may take longer than the one that was timed. */
const LONGER = 1.3;

for (const flavour of testedFlavours('mariadb')) {
  describeWithMysql(flavour, { name: 'a reset in place, when the whole process group is killed' }, () => {
    let world: LoadedWithBase;
    let server: AnyServer;
    let tool: Tool;
    let pristine: string;

    beforeAll(async () => {
      world = await loadedWithBase(flavour, FILL);
      ({ server, tool, pristine } = world);
      await tool.done(['branch', 'create', 'app', 'one']);
    }, 240_000);

    afterAll(() => world?.[Symbol.asyncDispose]());

    async function changed(number: number, database = 'copy'): Promise<string> {
      await server.run(database, [
        `DELETE FROM item WHERE id % 200 = ${number % 200}`,
        `UPDATE item SET name = 'changed' WHERE id % 190 = ${number % 190}`,
        "INSERT INTO item VALUES (-1, 'new')",
      ]);
      return server.content(database);
    }

    it('changes nothing while it waits for other sessions, which it does not end', async () => {
      const dirty = await changed(1);
      await server.writer('copy', async (execute) => {
        await execute('START TRANSACTION');
        await execute('UPDATE child SET item = NULL WHERE id = 7');
        const running = tool.start(RESET);
        await eventually(async () => {
          const waiting = await server.column(
            '',
            "SELECT ID FROM information_schema.PROCESSLIST WHERE INFO LIKE 'LOCK TABLES%' AND STATE LIKE 'Waiting%'",
          );
          return waiting.length > 0;
        });
        running.killGroup();
        await running.ended;
        await execute('ROLLBACK');
      });
      await server.quiet();
      expect(await server.content('copy')).toBe(dirty);
      await tool.done(RESET);
      expect(await server.content('copy')).toBe(pristine);
    });

    it.each([
      ['the program', 'copy', async (running: ToolRun) => running.killGroup()],
      ['the program', 'copy_one', async (running: ToolRun) => running.killGroup()],
      [
        'its connection',
        'copy',
        async () => {
          const [id] = await server.column(
            '',
            "SELECT ID FROM information_schema.PROCESSLIST WHERE DB = 'copy' AND COMMAND = 'Sleep'",
          );
          await server.run('', [`KILL ${Number(id)}`]);
        },
      ],
    ])(
      'changes nothing, and leaves no lock, when %s is killed within the transaction on %s',
      { timeout: 60_000 },
      async (_, database, kill) => {
        const words = database === 'copy' ? RESET : RESET_BRANCH;
        const dirty = await changed(2, database);
        const record = unwrittenTable(database === 'copy' ? undefined : database);
        await server.run('copy.tool-base', [`UPDATE \`${record}\` SET json = '{}'`]);
        await server.writer('copy.tool-base', async (execute) => {
          await execute('START TRANSACTION');
          await execute(`SELECT id FROM \`${record}\``);
          const running = tool.start(words);
          await eventually(
            async () => {
              const waiting = await server.column(
                '',
                "SELECT ID FROM information_schema.PROCESSLIST WHERE INFO LIKE 'DROP TABLE %tool-unwritten%' AND STATE LIKE 'Waiting%'",
              );
              return waiting.length > 0;
            },
            { deadline: 30_000 },
          );
          await kill(running);
          await execute('ROLLBACK');
          await running.ended;
        });
        await server.quiet();
        expect(await server.content(database)).toBe(dirty);
        await server.run(database, [
          'SET lock_wait_timeout = 1',
          "UPDATE item SET name = 'free' WHERE id = 1",
          'DELETE FROM child',
        ]);
        await tool.done(words);
        expect(await server.content(database)).toBe(pristine);
      },
    );

    itIf(ROUNDS).each([
      ['copy', RESET],
      ['copy_one', RESET_BRANCH],
    ])('leaves in %s the old rows or the new ones at any moment', { timeout: 1_800_000 }, async (database, words) => {
      await changed(3, database);
      const duration = await tool.done(words);
      const seen = { old: 0, new: 0 };
      for (let round = 0; round < ROUNDS; round += 1) {
        const dirty = await changed(round, database);
        await tool.killedAfter((LONGER * duration * round) / ROUNDS, words);
        await server.quiet();
        const now = await server.content(database);
        expect([dirty, pristine].includes(now), `round ${round}: neither old nor new`).toBe(true);
        seen[now === dirty ? 'old' : 'new'] += 1;
        await tool.done(words);
        expect(await server.content(database), `round ${round}: the last load`).toBe(pristine);
      }
      expect([seen.old > 0, seen.new > 0]).toEqual([true, true]);
    });
  });
}
