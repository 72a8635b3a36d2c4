import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { AnyServer } from '../../helpers/databases/any-server.ts';
import { describeWithKind } from '../../helpers/databases/describe-with-kind.ts';
import { itIf } from '../../helpers/it-if.ts';
import { type LoadedWithBase, loadedWithBase } from '../../helpers/loaded-with-base.ts';
import { eventually } from '../../helpers/postgres/postgres-server.ts';
import type { Tool } from '../../helpers/terminal/tool-process.ts';

const FILL = [
  'CREATE TABLE item (id integer PRIMARY KEY, name text NOT NULL)',
  'INSERT INTO item SELECT i, md5(i::text) FROM generate_series(1, 20000) i',
  'CREATE TABLE child (id integer PRIMARY KEY, item integer NOT NULL REFERENCES item ON DELETE CASCADE)',
  'INSERT INTO child SELECT i, i FROM generate_series(1, 5000) i',
  'CREATE SEQUENCE counter',
];
const RESET = ['reset', 'app', '--no-undo'];
const ROUNDS = process.env.TEST_FULL ? 80 : 0;
/** The state that a killed run leaves. */
const OPEN = [
  `DO $$ BEGIN EXECUTE (
    SELECT format('COMMENT ON DATABASE "copy.tool-base" IS %L', shobj_description(oid, 'pg_database')::jsonb || '{"reading": true}')
    FROM pg_database WHERE datname = 'copy.tool-base'); END $$`,
  'ALTER DATABASE "copy.tool-base" ALLOW_CONNECTIONS true',
];
/** A run may take longer than the one that was timed. */
const LONGER = 1.3;

describeWithKind('postgres', 'a reset in place, when the whole process group is killed', () => {
  let world: LoadedWithBase;
  let server: AnyServer;
  let tool: Tool;
  let pristine: string;

  beforeAll(async () => {
    world = await loadedWithBase('postgres', FILL);
    ({ server, tool, pristine } = world);
  }, 120_000);

  afterAll(() => world?.[Symbol.asyncDispose]());

  async function changed(number: number): Promise<string> {
    await server.run('copy', [
      `DELETE FROM item WHERE id % 200 = ${number % 200}`,
      `UPDATE item SET name = 'changed' WHERE id % 190 = ${number % 190}`,
      "INSERT INTO item VALUES (-1, 'new')",
      "SELECT nextval('counter')",
    ]);
    return server.content('copy');
  }

  const isOpen = () => server.column('', `SELECT datallowconn FROM pg_database WHERE datname = 'copy.tool-base'`);

  it('changes nothing before its commit', async () => {
    const dirty = await changed(1);
    const holder = new pg.Client({ connectionString: server.url('copy') });
    await holder.connect();
    // The sequence is set last, and waits for this session.
    await holder.query("BEGIN; SELECT nextval('counter')");
    const running = tool.start(RESET);
    await eventually(async () => {
      const waiting = await server.column(
        '',
        `SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'ALTER SEQUENCE%'`,
      );
      return waiting.length > 0;
    });
    running.killGroup();
    await running.ended;
    await holder.query('ROLLBACK');
    await holder.end();
    await server.quiet();
    // A number that was drawn does not come back.
    expect((await server.content('copy')).replace(/setval\(.*\)/, '')).toBe(dirty.replace(/setval\(.*\)/, ''));
    await tool.done(RESET);
    expect(await server.content('copy')).toBe(pristine);
    expect(await isOpen()).toEqual(['f']);
  });

  it('leaves a base copy that was open usable, unless somebody else came in', async () => {
    await changed(2);
    await server.run('', OPEN);
    await tool.done(RESET);
    expect(await server.content('copy')).toBe(pristine);
    expect(await isOpen()).toEqual(['f']);
    await server.run('', OPEN);
    await server.column('copy.tool-base', 'SELECT 1');
    const refused = await tool.start(RESET).ended;
    expect(refused.output).toContain('a client was connected to it since that load');
    await tool.done(['load', 'app', '--keep-base']);
  });

  itIf(ROUNDS)('leaves the old database or the new one at any moment', { timeout: 1_800_000 }, async () => {
    await changed(3);
    const duration = await tool.done(RESET);
    const seen = { old: 0, new: 0 };
    for (let round = 0; round < ROUNDS; round += 1) {
      const dirty = await changed(round);
      await tool.killedAfter((LONGER * duration * round) / ROUNDS, RESET);
      await server.quiet();
      const now = await server.content('copy');
      expect([dirty, pristine].includes(now), `round ${round}: neither old nor new`).toBe(true);
      seen[now === dirty ? 'old' : 'new'] += 1;
      const { output } = await tool.start(RESET).ended;
      // Killed between its first session in the base copy and the note of it: rare, and told.
      if (output.includes('base_copy_outdated')) await tool.done(['load', 'app', '--keep-base']);
      expect(await server.content('copy'), `round ${round}: the last load`).toBe(pristine);
      expect((await server.databases()).filter((name) => name.includes('.tool-new-'))).toEqual([]);
    }
    expect([seen.old > 0, seen.new > 0]).toEqual([true, true]);
  });
});
