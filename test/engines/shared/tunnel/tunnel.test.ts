import { execFile } from 'node:child_process';
import { chmod, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import type { Probe } from '../../../../src/engines/facets/connect.ts';
import { openDatabase, openTunnel } from '../../../../src/engines/open-database.ts';
import { parseUrl } from '../../../../src/engines/registry.ts';
import { withTunnel } from '../../../../src/engines/tunnel-address.ts';
import { checkDatabases } from '../../../../src/operations/targets/check-databases.ts';
import { localRunner } from '../../../../src/process/local.ts';
import { describeWithMysql, startMysql } from '../../../helpers/mysql/mysql-server.ts';
import {
  describeWithPostgres,
  startPostgres,
  temporaryFolder,
  testContext,
} from '../../../helpers/postgres/postgres-server.ts';
import { makeAuthority, sign, speakTls } from '../../../helpers/postgres/postgres-tls.ts';
import { processesNaming } from '../../../helpers/processes/processes.ts';
import { describeWithSsh, startBastion, type TestBastion } from '../../../helpers/ssh/ssh-server.ts';
import { suiteResource } from '../../../helpers/suite-resource.ts';

const contextOf = (bastion: TestBastion) => {
  const environment = { ...process.env, ...bastion.environment };
  return { ...testContext({ settings: {} }), runner: localRunner({ environment, report: () => {} }) };
};

const bastionOf = async (settings?: string): Promise<TestBastion> => {
  const bastion = await startBastion(settings);
  onTestFinished(() => bastion.stop());
  return bastion;
};

describeWithSsh('a tunnel', () => {
  describeWithMysql('mariadb', { name: 'to MariaDB' }, () => {
    it('verifies the name of the server, and encrypts although the local end is on this machine', async () => {
      await using folder = await temporaryFolder();
      await chmod(folder.path, 0o755);
      const authority = await makeAuthority(folder.path);
      const signed = await sign(authority, { name: 'server', subject: '/CN=localhost', names: 'DNS:localhost' });
      await chmod(signed.key, 0o644);
      const server = await startMysql('mariadb', [`--ssl-cert=${signed.certificate}`, `--ssl-key=${signed.key}`]);
      onTestFinished(() => server.stop());
      await server.createDatabase('app');
      const bastion = await bastionOf();
      const cipher = (query: string) => {
        const url = `${server.url('app').replace('127.0.0.1', 'localhost')}${query}`;
        return openDatabase(contextOf(bastion), parseUrl(withTunnel(url, bastion.url))).connect.readValue(
          "SELECT VARIABLE_VALUE FROM information_schema.SESSION_STATUS WHERE VARIABLE_NAME = 'Ssl_cipher'",
        );
      };
      expect(await cipher('')).toMatch(/TLS/);
      expect(await cipher(`?tls=verify_identity&ssl-ca=${authority.certificate}`)).toMatch(/TLS/);
      await expect(cipher('?tls=verify_identity')).rejects.toMatchObject({ code: 'unreachable' });
    });
  });

  describeWithPostgres('to PostgreSQL', () => {
    const server = suiteResource(startPostgres);

    const openThrough = (bastion: TestBastion) =>
      openDatabase(contextOf(bastion), parseUrl(withTunnel(server.url('postgres'), bastion.url)));

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

    it('fails with the words of ssh where the login is refused', async () => {
      const bastion = await bastionOf('DenyUsers *');
      await expect(openThrough(bastion).connect.listDatabases()).rejects.toMatchObject({
        code: 'tunnel_failed',
        exit: 4,
        message: expect.stringMatching(/failed: .*Permission denied \(publickey\)/),
      });
    });

    it('fails with the words of ssh where the bastion cannot reach the database', async () => {
      const bastion = await bastionOf('PermitOpen 127.0.0.1:1');
      await expect(openThrough(bastion).connect.listDatabases()).rejects.toMatchObject({
        code: 'tunnel_failed',
        message: expect.stringContaining('open failed: administratively prohibited'),
      });
    });

    it('adds the words of ssh to the state of a database', async () => {
      const found: Probe[] = [];
      const take = (_: number, probe: Probe) => void found.push(probe);
      for (const settings of ['PermitOpen 127.0.0.1:1', 'DenyUsers *', '']) {
        const bastion = await bastionOf(settings);
        const { url } = openThrough(bastion);
        await checkDatabases(contextOf(bastion), { urls: [url], sizes: false, take });
      }
      expect(found.map(({ state }) => [state.status, state.error_code, state.error])).toEqual([
        ['unreachable', 'tunnel_failed', expect.stringContaining('open failed')],
        ['unreachable', 'tunnel_failed', expect.stringContaining('Permission denied')],
        ['ok', null, null],
      ]);
    });

    it('verifies the name of the server, not that of the local end', async () => {
      await using folder = await temporaryFolder();
      const authority = await makeAuthority(folder.path);
      await speakTls(server, await sign(authority, { name: 'server', subject: '/CN=x', names: 'DNS:localhost' }));
      const bastion = await bastionOf();
      const query = `?sslmode=verify-full&sslrootcert=${authority.certificate}`;
      const through = (host: string) => {
        const url = server.url('postgres').replace('127.0.0.1', host) + query;
        return openDatabase(contextOf(bastion), parseUrl(withTunnel(url, bastion.url)));
      };
      const select = 'SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()';
      await expect
        .poll(() => through('localhost').connect.readValue(select).catch(String), { timeout: 20_000 })
        .toBe('true');
      await expect(through('127.0.0.1').connect.readValue(select)).rejects.toMatchObject({
        details: [expect.stringContaining('does not match host name "127.0.0.1"')],
      });
    });

    it.skipIf(process.getuid?.() !== 0 || process.platform !== 'linux')(
      'refuses other users of the machine',
      async () => {
        const bastion = await bastionOf();
        const { url } = openThrough(bastion);
        const [port] = (await openTunnel(contextOf(bastion), url)).localPorts ?? [];
        // SSLRequest, which a server answers with one byte.
        const script = `exec 3<>/dev/tcp/127.0.0.1/${port}; printf '\\0\\0\\0\\010\\004\\322\\026\\057' >&3; head -c 1 <&3 | wc -c`;
        const answer = (uid: number) => promisify(execFile)('bash', ['-c', script], { uid, gid: uid });
        expect((await answer(0)).stdout.trim()).toBe('1');
        expect((await answer(65_534)).stdout.trim()).toBe('0');
      },
    );

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
