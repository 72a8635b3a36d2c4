import { join } from 'node:path';
import { expect, it } from 'vitest';
import { build } from '../../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../../src/operations/load/load.ts';
import { describeWithMysql, startMysql } from '../../../helpers/mysql/mysql-server.ts';
import { temporaryFolder, testContext } from '../../../helpers/postgres/postgres-server.ts';
import { startStatementProxy } from '../../../helpers/proxies/statement-proxy.ts';
import { suiteResource } from '../../../helpers/suite-resource.ts';

describeWithMysql('mysql', { name: 'a program whose text is written again after the swap' }, () => {
  const folder = suiteResource(() => temporaryFolder());
  const server = suiteResource(() => startMysql('mysql'));
  const proxy = suiteResource(() => startStatementProxy('mysql', Number(new URL(server.url('app')).port)));

  it('has the text and the place of its original, also where a trigger follows another, in copies of copies', {
    timeout: 120_000,
  }, async () => {
    const names = ['origin', 'first', 'second'];
    await server.createDatabase('origin');
    await server.sql(
      'origin',
      'CREATE TABLE t (id INT PRIMARY KEY, note VARCHAR(20))',
      "CREATE TRIGGER c BEFORE INSERT ON t FOR EACH ROW SET NEW.note = 'c'",
      "CREATE TRIGGER a BEFORE INSERT ON t FOR EACH ROW /* a */ SET NEW.note = CONCAT(NEW.note, 'a')",
      "CREATE TRIGGER `b FOR EACH ROW` BEFORE INSERT ON t FOR EACH ROW SET NEW.note = CONCAT(NEW.note, 'b')",
      'CREATE TRIGGER d AFTER INSERT ON t FOR EACH ROW SET @d = 1',
      'CREATE TRIGGER e AFTER INSERT ON t FOR EACH ROW SET @e = 1',
    );
    for (const [at, to] of names.slice(1).entries()) {
      const snapshot = { src_url: server.url(names[at] ?? ''), dst_url: server.url(to) };
      const settings = { working_directory: join(folder.path, to), targets: { app: { snapshot } } };
      const context = testContext({ settings });
      await build(context, { target: 'app', cpus: 1 });
      for (const _ of [1, 2]) {
        await applyLoad(context, await planLoad(context, { target: 'app', cpus: 1, undo: false }));
        expect(await server.dump(to)).toBe(await server.dump('origin'));
      }
    }
    await server.sql('second', 'INSERT INTO t (id) VALUES (1)');
    expect(await server.sql('second', 'SELECT note FROM t')).toEqual([{ note: 'cab' }]);
    for (const name of names) await server.sql('', `DROP DATABASE ${name}`);
  });

  it('is in the destination, whichever of the last statements of a load is refused, until each has been created', {
    timeout: 300_000,
  }, async () => {
    await server.createDatabase('app');
    await server.sql(
      'app',
      'CREATE TABLE t (id INT PRIMARY KEY, note VARCHAR(20))',
      "CREATE TRIGGER noted BEFORE INSERT ON t FOR EACH ROW SET NEW.note = 'noted'",
      'CREATE FUNCTION doubled(n INT) RETURNS INT DETERMINISTIC RETURN 2 * n',
      'CREATE EVENT hourly ON SCHEDULE EVERY 1 HOUR DO DELETE FROM t',
    );
    const destination = new URL(server.url('app_dev'));
    destination.port = String(proxy.port);
    destination.searchParams.set('sslmode', 'DISABLED');
    const snapshot = { src_url: server.url('app'), dst_url: destination.href };
    const context = testContext({
      settings: { working_directory: join(folder.path, 'work'), targets: { app: { snapshot } } },
    });
    const load = async () => applyLoad(context, await planLoad(context, { target: 'app', cpus: 1 }));
    const programs = async () =>
      (
        await server.sql(
          '',
          `SELECT TRIGGER_NAME AS name FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = 'app_dev'
           UNION SELECT ROUTINE_NAME FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = 'app_dev'
           UNION SELECT EVENT_NAME FROM information_schema.EVENTS WHERE EVENT_SCHEMA = 'app_dev' ORDER BY 1`,
        )
      ).map(({ name }) => name);
    await build(context, { target: 'app', cpus: 1 });
    await load();
    proxy.arm('refused');
    await load();
    const { statements } = proxy.disarm();
    const created = new Set<string>();
    for (let at = statements; created.size < 3; at -= 1) {
      expect(at).toBeGreaterThan(0);
      proxy.arm('refused', at);
      await load().catch(() => {});
      const refused = proxy.disarm().spoiled ?? '';
      expect({ refused, programs: await programs() }).toMatchObject({ programs: ['doubled', 'hourly', 'noted'] });
      const [, kind] = /CREATE .*?(TRIGGER|FUNCTION|EVENT)/s.exec(refused) ?? [];
      if (kind) created.add(kind);
    }
  });
});
