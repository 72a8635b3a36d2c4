import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { ListCache } from '../../hub/lists/list-cache.ts';
import { putTarget, startHub, type TestHub } from '../helpers/hub/hub.ts';
import { describeWithPostgres, eventually } from '../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../helpers/suite-resource.ts';

interface Item {
  name: string;
  revision: number;
  late: boolean;
  restore_late: boolean;
}

describeWithPostgres('lists of targets', () => {
  const hub = suiteResource(() => startHub({ clock: () => new Date(Date.now() + aheadMs) }));
  const other = suiteResource(() => startHub({ keys: hub.settings.keys }, hub.postgres));
  let aheadMs = 0;

  const list = async (instance: TestHub, token: string, query = ''): Promise<Item[]> =>
    (await instance.send('GET', `/targets?limit=200${query}`, { token })).body.items;

  test('a list has every change that was answered before it was requested, of each instance and of SQL', async () => {
    const WRITERS = 6;
    const TURNS = 25;
    const { token: reader } = await hub.person('rita', ['readers']);
    const name = (writer: number): string => `written-${writer}`;
    const settings = { sso_groups: ['readers'] };
    for (let writer = 0; writer < WRITERS; writer += 1) await putTarget(hub, name(writer), { settings });
    const answered = new Map<string, number>();
    let isWriting = true;
    const write = async (writer: number): Promise<void> => {
      for (let revision = 1; revision <= TURNS; revision += 1) {
        if (writer === 0) {
          await hub.database.db
            .updateTable('targets')
            .set({ revision: revision + 1 })
            .where('name', '=', name(writer))
            .execute();
        } else {
          const { status, text } = await (writer % 2 === 0 ? hub : other).send('PUT', `/targets/${name(writer)}`, {
            token: hub.ownerToken,
            body: { settings: { ...settings, name: `Turn ${revision}` } },
            headers: { 'if-match': `"${revision}"` },
          });
          expect(status, text).toBe(200);
        }
        answered.set(name(writer), revision + 1);
      }
    };
    const read = async (instance: TestHub, token: string): Promise<void> => {
      while (isWriting) {
        const known = new Map(answered);
        const items = new Map((await list(instance, token)).map((item) => [item.name, item.revision]));
        for (const [target, revision] of known) expect(items.get(target)).toBeGreaterThanOrEqual(revision);
      }
    };
    const readers = [hub, other].flatMap((instance) =>
      [hub.ownerToken, reader, reader].map((token) => read(instance, token)),
    );
    const writers = Array.from({ length: WRITERS }, (_, writer) => write(writer));
    await Promise.all([Promise.all(writers).finally(() => (isWriting = false)), ...readers]);
    for (const instance of [hub, other]) {
      const items = await list(instance, reader);
      for (let writer = 0; writer < WRITERS; writer += 1) {
        expect(items).toContainEqual(expect.objectContaining({ name: name(writer), revision: TURNS + 1 }));
      }
    }
  });

  test('a target becomes late in a list that nothing was written for', async () => {
    const limits = { expected_every: '1h', restore_expected_every: '2h' };
    const id = await putTarget(hub, 'due-soon', { settings: {}, ...limits });
    const now = new Date();
    await sql`WITH profile AS (INSERT INTO storage_profiles (name, settings) VALUES ('due', '{}') RETURNING id)
      INSERT INTO snapshots (target_id, profile_id, id, created_at, sanitized, headline, manifest_key, manifest_sha256)
      SELECT ${id}, id, 'abcdef01', ${now}, false, '{}', 'key', 'sha' FROM profile`.execute(hub.database.db);
    await hub.database.db.updateTable('targets').set({ restored_at: now }).where('id', '=', id).execute();
    const latenessAfter = async (minutes: number): Promise<unknown[]> => {
      aheadMs = minutes * 60_000;
      const [item] = await list(hub, hub.ownerToken, '&q=due-soon');
      aheadMs = 0;
      return [item?.late, item?.restore_late];
    };
    expect(await latenessAfter(0)).toEqual([false, false]);
    expect(await latenessAfter(90)).toEqual([true, false]);
    expect(await latenessAfter(150)).toEqual([true, true]);
  });

  test('a list is read again after a write of any table, after its time, and not otherwise', async () => {
    const { db } = hub.database;
    let now = 0;
    const lists = new ListCache<{ read: number }>(db, () => new Date(now));
    let reads = 0;
    const find = async (key = 'a'): Promise<number> =>
      (await lists.find(key, async () => ({ page: { read: ++reads }, validUntil: 10 }))).read;
    /** Other statements of the server end meanwhile, too. */
    const settled = async (): Promise<number> => {
      let before = await find();
      await eventually(async () => {
        const last = before;
        before = await find();
        return last === before;
      });
      return before;
    };
    const first = await settled();
    expect(await find()).toBe(first);
    now = 11;
    const second = await find();
    expect(second).toBeGreaterThan(first);
    now = 0;
    const third = await settled();
    await sql`CREATE TABLE another (x int)`.execute(db);
    expect(await find()).toBeGreaterThan(third);
  });

  test('a list that changes while it is read is not remembered', async () => {
    const { db } = hub.database;
    const lists = new ListCache<{ read: number }>(db, () => new Date());
    let reads = 0;
    const find = async (): Promise<number> =>
      (
        await lists.find('a', async () => {
          if (reads === 0) await sql`CREATE TABLE written_meanwhile (x int)`.execute(db);
          return { page: { read: ++reads }, validUntil: Number.POSITIVE_INFINITY };
        })
      ).read;
    expect(await find()).toBe(1);
    expect(await find()).toBe(2);
  });
});
