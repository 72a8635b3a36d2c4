import { writeFile } from 'node:fs/promises';
import { expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../../../src/engines/open-database.ts';
import { parseUrl } from '../../../../src/engines/registry.ts';
import { withTunnel } from '../../../../src/engines/tunnel-address.ts';
import { localRunner } from '../../../../src/process/local.ts';
import { describeWithPostgres, startPostgres, testContext } from '../../../helpers/postgres/postgres-server.ts';
import { processesNaming } from '../../../helpers/processes/processes.ts';
import { describeWithSsh, startBastion, type TestBastion } from '../../../helpers/ssh/ssh-server.ts';
import { suiteResource } from '../../../helpers/suite-resource.ts';

describeWithSsh('a tunnel', () => {
  describeWithPostgres('to PostgreSQL', () => {
    const server = suiteResource(startPostgres);

    const openThrough = (bastion: TestBastion, tunnel = bastion.url, database = 'postgres') => {
      const environment = { ...process.env, ...bastion.environment };
      const context = { ...testContext({ settings: {} }), runner: localRunner({ environment, report: () => {} }) };
      return openDatabase(context, parseUrl(withTunnel(server.url(database), tunnel)));
    };

    const bastionOf = async (settings?: string): Promise<TestBastion> => {
      const bastion = await startBastion(settings);
      onTestFinished(() => bastion.stop());
      return bastion;
    };

    it('leads to the server: one login for all connections', async () => {
      const bastion = await bastionOf();
      const database = openThrough(bastion);
      const names = (await database.connect.listDatabases()).map(({ name }) => name);
      expect(names).toContain('postgres');
      expect(await database.connect.isSuperuser()).toBe(true);
      const log = await bastion.log();
      expect(log).toContain('direct-tcpip');
      expect(log.match(/Accepted publickey/g)).toHaveLength(1);
    });

    it('refuses a host whose key is not known, although the user’s configuration would accept it', async () => {
      const bastion = await bastionOf();
      await writeFile(bastion.knownHosts, '');
      await bastion.configure('StrictHostKeyChecking no\nNoHostAuthenticationForLocalhost yes');
      await expect(openThrough(bastion).connect.listDatabases()).rejects.toMatchObject({
        code: 'tunnel_failed',
        message: expect.stringContaining('Host key verification failed.'),
      });
      expect(await bastion.log()).not.toContain('Accepted publickey');
    });

    it('says what ssh says where the login is refused', async () => {
      const bastion = await bastionOf('DenyUsers *');
      await expect(openThrough(bastion).connect.listDatabases()).rejects.toMatchObject({
        code: 'tunnel_failed',
        exit: 4,
        message: expect.stringMatching(/failed: .*Permission denied \(publickey\)/),
      });
    });

    it('says that the bastion cannot reach the database', async () => {
      const bastion = await bastionOf('PermitOpen 127.0.0.1:1');
      await expect(openThrough(bastion).connect.listDatabases()).rejects.toMatchObject({
        code: 'tunnel_failed',
        message: expect.stringContaining('open failed: administratively prohibited'),
      });
    });

    it('names the tunnel where it breaks during the work', async () => {
      const bastion = await bastionOf();
      const database = openThrough(bastion);
      const sleeping = database.connect.readValue('SELECT pg_sleep(1000)');
      const failed = expect(sleeping).rejects.toMatchObject({ code: 'tunnel_failed' });
      await expect
        .poll(
          () =>
            server.psql('postgres', { sql: 'SELECT count(*) FROM pg_stat_activity WHERE wait_event = $$PgSleep$$' }),
          { timeout: 20_000 },
        )
        .toContain('1');
      await bastion.disconnect();
      await failed;
      expect((await database.connect.listDatabases()).length).toBeGreaterThan(0);
    });

    it('uses neither a shared connection nor the background, whatever the user’s configuration is', async () => {
      const bastion = await bastionOf();
      await bastion.configure(
        `Host *\nControlMaster auto\nControlPath ${bastion.folder}/mux\nControlPersist yes\nForkAfterAuthentication yes\nRemoteCommand sleep 100\nPermitLocalCommand yes\nLocalCommand sleep 100`,
      );
      await openThrough(bastion).connect.listDatabases();
      const clients = await processesNaming(`-F ${bastion.folder}/ssh_config`);
      expect(clients.filter(({ words }) => words.startsWith('/usr/bin/ssh'))).toHaveLength(1);
      expect(await processesNaming(`${bastion.folder}/mux`)).toEqual([]);
    });
  });
});
