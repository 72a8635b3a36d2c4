import { truncateSync } from 'node:fs';
import { beforeAll, expect, it } from 'vitest';
import type { Settings } from '../../../../src/config/schema/settings.ts';
import { build } from '../../../../src/operations/build/build.ts';
import { applyBuild, planBuild } from '../../../../src/operations/build/planned-build.ts';
import { listHistory } from '../../../../src/operations/history/list-history.ts';
import { listSnapshots } from '../../../../src/operations/snapshots/snapshots.ts';
import { verifyRestore } from '../../../../src/operations/snapshots/verify/verify-restore.ts';
import { createLocalRepository } from '../../../../src/repository/local-repository.ts';
import { startAnyServer, testedKinds } from '../../../helpers/databases/any-server.ts';
import { describeWithKind } from '../../../helpers/databases/describe-with-kind.ts';
import { temporaryFolder, testContext } from '../../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../../helpers/suite-resource.ts';

for (const kind of testedKinds('mysql')) {
  describeWithKind(kind, 'a proof by restore', () => {
    const folder = suiteResource(() => temporaryFolder());
    const server = suiteResource(() => startAnyServer(kind));
    let settings: Partial<Settings>;

    beforeAll(async () => {
      await server.create('shop');
      await server.run('shop', [
        'CREATE TABLE customer (id integer PRIMARY KEY, name varchar(60))',
        "INSERT INTO customer VALUES (1, 'Ann'), (2, 'Bob')",
        'CREATE VIEW named AS SELECT name FROM customer',
      ]);
      settings = {
        working_directory: folder.path,
        targets: { shop: { snapshot: { src_url: server.url('shop'), dst_url: server.url('shop_dev') } } },
      };
      await build(testContext({ settings }), { target: 'shop' });
    }, 240_000);

    it('restores the snapshot elsewhere, answers the query and leaves nothing behind', async () => {
      const before = await server.databases();
      const query = 'SELECT count(*) FROM customer';
      const proof = await verifyRestore(testContext({ settings }), { target: 'shop', query, expect: '> 1' });
      expect(proof).toMatchObject({ ok: true, problems: [], restore: { query_value: '2' } });
      expect(proof.restore?.place).not.toBe('');
      expect(await server.databases()).toEqual(before);
      const { entries } = listHistory(testContext({ settings }), { target: 'shop' });
      expect(entries[0]).toMatchObject({ operation: 'verify', outcome: 'done', snapshot: proof.snapshot.id });
      const { snapshots } = await listSnapshots(testContext({ settings }), 'shop');
      expect(snapshots.map(({ restored_at }) => restored_at)).toEqual([entries[0]?.at]);
    }, 240_000);

    it('proves a snapshot that it has just built', async () => {
      const context = () => testContext({ settings });
      const planned = await planBuild(context(), { target: 'shop', verifyRestore: true });
      const { snapshot, restore } = await applyBuild(context(), planned);
      expect(restore?.place).toBeTruthy();
      const { snapshots } = await listSnapshots(context(), 'shop');
      expect(snapshots.find(({ id }) => id === snapshot.id)?.restored_at).toBeTruthy();
    }, 240_000);

    it('fails when the value is another one, and when the query would write', async () => {
      const context = () => testContext({ settings });
      const query = 'SELECT name FROM customer WHERE id = 2';
      const other = verifyRestore(context(), { target: 'shop', query, expect: '= Ann' });
      await expect(other).rejects.toMatchObject({
        code: 'value_unexpected',
        message: 'The query returned Bob, expected = Ann',
      });
      const two = verifyRestore(context(), { target: 'shop', query: 'SELECT 1; DROP TABLE customer' });
      await expect(two).rejects.toMatchObject({ code: 'invalid_value' });
      const writes = kind === 'postgres' ? 'SELECT 1 FROM customer FOR UPDATE' : 'SELECT no_such_column FROM customer';
      await expect(verifyRestore(context(), { target: 'shop', query: writes })).rejects.toThrow();
      expect(listHistory(context(), { target: 'shop' }).entries[0]).toMatchObject({ outcome: 'failed' });
    }, 240_000);

    it('fails when an object is damaged', async () => {
      const repository = createLocalRepository({ directory: folder.path, report: () => {} });
      const [manifest] = await repository.list('shop');
      const file = manifest?.tables.find(({ name }) => name.endsWith('customer'))?.file;
      truncateSync(repository.object({ sha256: file?.sha256 ?? '', bytes: 0 }).path, 10);
      await expect(verifyRestore(testContext({ settings }), { target: 'shop' })).rejects.toMatchObject({
        code: 'snapshot_damaged',
      });
    }, 240_000);
  });
}
