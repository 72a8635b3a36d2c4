import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { chmod, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { connect } from '../../../../src/engines/mysql/connection/connect.ts';
import { failureOf } from '../../../../src/engines/mysql/connection/failure.ts';
import { openSession } from '../../../../src/engines/mysql/connection/session.ts';
import { parseMysqlUrl } from '../../../../src/engines/mysql/connection/url.ts';
import {
  describeWithMysql,
  startMysql,
  type TestFlavour,
  type TestMysql,
  testedFlavours,
} from '../../../helpers/mysql/mysql-server.ts';

const PASSWORD = 'pä$$ "wörd';

/** How users of each flavour may prove who they are. */
const USERS: Record<TestFlavour, Record<string, string>> = {
  mariadb: {
    native: `IDENTIFIED VIA mysql_native_password USING PASSWORD('${PASSWORD}')`,
    ed25519: `IDENTIFIED VIA ed25519 USING PASSWORD('${PASSWORD}')`,
  },
  mysql: { sha2: `IDENTIFIED WITH caching_sha2_password BY '${PASSWORD}'` },
};
const FLAVOURS = testedFlavours('mysql');

for (const flavour of FLAVOURS) {
  describeWithMysql(flavour, { name: 'a connection' }, () => {
    let server: TestMysql;
    const folder = mkdtempSync(join(tmpdir(), 'tool-tls-'));
    const [authority, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];

    beforeAll(async () => {
      const request = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=localhost'];
      const names = ['-addext', 'subjectAltName=DNS:localhost'];
      execFileSync('openssl', [...request, ...names, '-keyout', key, '-out', authority], { stdio: 'ignore' });
      await chmod(folder, 0o755);
      await chmod(key, 0o644);
      // MySQL makes certificates of its own, and sees nothing of this folder.
      server = await startMysql(flavour, flavour === 'mariadb' ? [`--ssl-cert=${authority}`, `--ssl-key=${key}`] : []);
      if (flavour === 'mariadb') await server.sql('', "INSTALL SONAME 'auth_ed25519'");
      for (const [name, identified] of Object.entries(USERS[flavour])) {
        await server.sql('', `CREATE USER ${name}@'%' ${identified}`);
      }
    }, 240_000);

    afterAll(async () => {
      await server?.stop();
      await rm(folder, { recursive: true });
    });

    it('commits, and reads every row, whatever the settings of the server', async () => {
      const settings = [
        'autocommit = 0',
        "completion_type = 'RELEASE'",
        'sql_select_limit = 1',
        'sql_safe_updates = 1',
      ];
      await server.createDatabase('settings');
      for (const setting of settings) await server.sql('', `SET GLOBAL ${setting}`);
      try {
        await using session = await openSession({ url: parseMysqlUrl(server.url('settings')) });
        await session.execute('CREATE TABLE t (id INT)');
        await session.execute('INSERT INTO t VALUES (1), (2)');
        await session.execute('UPDATE t SET id = id + 1');
        await session.execute('ROLLBACK');
        await session.execute('START TRANSACTION');
        await session.execute('COMMIT');
        expect(await session.query('SELECT id FROM t ORDER BY id')).toEqual([{ id: 2 }, { id: 3 }]);
      } finally {
        for (const name of settings.map((setting) => setting.split(' ')[0])) {
          await server.sql('', 'SET autocommit = 1', `SET GLOBAL ${name} = ${name === 'autocommit' ? 1 : 'DEFAULT'}`);
        }
      }
    });

    it('has equal expressions and defaults of columns, whatever the settings of the server, also without rights', async () => {
      const settings = {
        ...{ group_concat_max_len: 1_048_576, div_precision_increment: 4, default_week_format: 0 },
        ...{ lc_time_names: 'en_US', foreign_key_checks: 1, unique_checks: 1, explicit_defaults_for_timestamp: 1 },
      };
      const others = ['4', '0', '3', "'de_DE'", '0', '0', '0'];
      const names = Object.keys(settings);
      await server.sql('', "CREATE USER plain@'%'");
      for (const [at, name] of names.entries()) await server.sql('', `SET GLOBAL ${name} = ${others[at]}`);
      try {
        await using session = await openSession({
          url: parseMysqlUrl(server.url('', { name: 'plain', password: '' })),
        });
        const columns = names.map((name) => `@@${name} AS ${name}`).join(', ');
        expect(await session.query(`SELECT ${columns}`)).toEqual([settings]);
      } finally {
        for (const name of names) {
          await server.sql('', `SET GLOBAL ${name} = ${/_checks$/.test(name) ? 1 : 'DEFAULT'}`);
        }
      }
    });

    it('is let in by each plugin with the right password only, with and without TLS', async () => {
      const { signal } = new AbortController();
      for (const name of Object.keys(USERS[flavour])) {
        for (const tls of ['disabled', 'required']) {
          const url = (password: string) => parseMysqlUrl(`${server.url('', { name, password })}?tls=${tls}`);
          await using session = await openSession({ url: url(PASSWORD) });
          expect(await session.query('SELECT 1 AS one'), `${name} ${tls}`).toEqual([{ one: 1 }]);
          await expect(connect({ signal }, url('not it')), `${name} ${tls}`).rejects.toMatchObject({ code: 'denied' });
        }
      }
    }, 60_000);

    it('is encrypted where the URL says so, and checks whom it talks to where it says that', async () => {
      const { signal } = new AbortController();
      const cipher = async (query: string, host = 'localhost') => {
        const url = parseMysqlUrl(`${server.url('').replace('127.0.0.1', host)}?${query}`);
        await using session = await connect({ signal }, url);
        const [row] = await session.query<{ Value: string }>("SHOW STATUS LIKE 'Ssl_cipher'");
        return row?.Value;
      };
      expect(await cipher('tls=disabled')).toBe('');
      for (const query of ['tls=required', 'sslmode=require', 'tls=skip-verify', 'ssl-mode=REQUIRED']) {
        expect(await cipher(query), query).toMatch(/^TLS_|-/);
      }
      for (const query of ['tls=verify_ca', 'sslmode=verify-full', 'tls=true']) {
        await expect(cipher(query), query).rejects.toMatchObject({ code: 'unreachable' });
        const url = parseMysqlUrl(`${server.url('').replace('127.0.0.1', 'localhost')}?${query}`);
        expect(await openSession({ url }).catch(failureOf), query).toBe('certificate_refused');
      }
      if (flavour === 'mysql') return;
      expect(await cipher(`sslmode=verify-full&ssl-ca=${authority}`)).toMatch(/^TLS_|-/);
      expect(await cipher(`tls=verify_ca&ssl-ca=${authority}`, '127.0.0.1')).toMatch(/^TLS_|-/);
      await expect(cipher(`tls=verify_identity&ssl-ca=${authority}`, '127.0.0.1')).rejects.toMatchObject({
        code: 'url_invalid',
      });
    }, 60_000);
  });
}
