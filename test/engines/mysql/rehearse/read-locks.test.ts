import { expect, it } from 'vitest';
import { openSession } from '../../../../src/engines/mysql/connection/session.ts';
import { parseMysqlUrl } from '../../../../src/engines/mysql/connection/url.ts';
import { lockReader } from '../../../../src/engines/mysql/rehearse/read-locks.ts';
import { describeWithMysql, startMysql, testedFlavours } from '../../../helpers/mysql/mysql-server.ts';

const ENABLED = { mariadb: ['--plugin-load-add=metadata_lock_info'], mysql: [] };
const DISABLED = { mariadb: [], mysql: ['--performance-schema=OFF'] };

for (const flavour of testedFlavours('mariadb')) {
  describeWithMysql(flavour, { name: 'locks of tables' }, () => {
    it('are read with their session and their mode, of one database only', async () => {
      const server = await startMysql(flavour, ENABLED[flavour]);
      await using stack = new AsyncDisposableStack();
      stack.defer(() => server.stop());
      await server.createDatabase('one');
      await server.createDatabase('two');
      for (const database of ['one', 'two']) await server.sql(database, 'CREATE TABLE items (id int)');
      const open = async (database: string) =>
        stack.use(await openSession({ url: parseMysqlUrl(server.url(database)) }));
      const [holder, other, observer] = [await open('one'), await open('two'), await open('')];
      const read = (await lockReader(observer, { flavour, database: 'one' })) ?? expect.fail('no locks are shown');
      expect(await read()).toEqual([]);
      await holder.execute('LOCK TABLES items WRITE');
      await other.execute('LOCK TABLES items WRITE');
      expect(await read()).toEqual([[holder.id, 'items', 'SHARED_NO_READ_WRITE']]);
      await holder.execute('LOCK TABLES items READ');
      expect(await read()).toEqual([[holder.id, 'items', 'SHARED_READ_ONLY']]);
      await holder.execute('UNLOCK TABLES');
      expect(await read()).toEqual([]);
    }, 60_000);

    it('are not known of a server that does not show them', async () => {
      const server = await startMysql(flavour, DISABLED[flavour]);
      await using stack = new AsyncDisposableStack();
      stack.defer(() => server.stop());
      const observer = stack.use(await openSession({ url: parseMysqlUrl(server.url('')) }));
      expect(await lockReader(observer, { flavour, database: 'one' })).toBe(null);
    }, 60_000);
  });
}
