import { existsSync, readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { withTunnel } from '../../src/engines/tunnel-address.ts';
import { startAnyServer, testedKinds } from '../helpers/databases/any-server.ts';
import { describeWithKind } from '../helpers/databases/describe-with-kind.ts';
import { temporaryFolder } from '../helpers/postgres/postgres-server.ts';
import { processesNaming } from '../helpers/processes/processes.ts';
import { describeWithSsh, startBastion } from '../helpers/ssh/ssh-server.ts';
import { suiteResource } from '../helpers/suite-resource.ts';
import { startTool } from '../helpers/terminal/tool-process.ts';

const WAIT = { timeout: 60_000, interval: 50 };

/** A start of the program takes a second or two. */
const KINDS = process.env.TEST_FULL === '1' ? testedKinds('mariadb') : (['postgres'] as const);

for (const kind of KINDS) {
  describeWithKind(kind, 'a server behind a bastion', () => {
    describeWithSsh('with sshd', () => {
      const server = suiteResource(() => startAnyServer(kind));
      const bastion = suiteResource(() => startBastion());
      const other = suiteResource(() => startBastion());
      const folder = suiteResource(temporaryFolder);

      beforeAll(async () => {
        await server.create('shop');
        await server.create('other');
        await server.run('other', ['CREATE TABLE note (id integer PRIMARY KEY)']);
        await server.run('shop', [
          'CREATE TABLE customer (id integer PRIMARY KEY, name varchar(40))',
          "INSERT INTO customer VALUES (1, 'Ann'), (2, 'Bob')",
        ]);
      });

      /** The program with targets whose databases are reached through the bastion. */
      const withTargets = async (targets: Record<string, object>) => {
        const config = join(folder.path, 'tool.yml');
        const content = {
          secret_key: 'ab'.repeat(16),
          defaults: { cpus: 2 },
          working_directory: join(folder.path, 'snapshots'),
          targets,
        };
        await writeFile(config, JSON.stringify(content), { mode: 0o600 });
        return (...words: string[]) =>
          startTool({ config, words, environment: { ...bastion.environment, TMPDIR: folder.path } });
      };
      const snapshot = (source = 'shop', destination = 'shop_dev') => ({
        src_url: server.url(source),
        src_tunnel: bastion.url,
        dst_url: server.url(destination),
        dst_tunnel: bastion.url,
      });
      const clients = () => processesNaming(`${bastion.folder}/ssh_config`);

      it('every operation works through one login each', { timeout: 300_000 }, async () => {
        const table = `${server.prefix('shop')}.customer`;
        const start = await withTargets({
          shop: {
            snapshot: { ...snapshot(), keep_base: true },
            sanitize: {
              override_query: "UPDATE customer SET name = 'x'",
              dst_url: withTunnel(server.url('shop_san'), bastion.url),
            },
            subset: {
              src_url: withTunnel(server.url('shop'), bastion.url),
              dst_url: withTunnel(server.url('shop_small'), bastion.url),
              subset_tables: [{ table, where: 'id = 2' }],
            },
          },
        });
        for (const line of [
          'targets',
          'build shop',
          'load shop',
          'load shop',
          'reset shop',
          'branch create shop try',
          'undo shop',
          'subset shop',
          'sanitize shop',
        ]) {
          const logins = (await bastion.log()).match(/Accepted publickey/g)?.length ?? 0;
          const { code, output } = await start(...line.split(' ')).ended;
          expect(code, `${line}\n${output.slice(-3000)}`).toBe(0);
          const now = (await bastion.log()).match(/Accepted publickey/g)?.length ?? 0;
          expect(now - logins, line).toBeLessThanOrEqual(1);
        }
        expect(await server.column('shop_dev', 'SELECT name FROM customer ORDER BY 1')).toEqual(['x', 'x']);
        expect(await server.column('shop_small', 'SELECT name FROM customer')).toEqual(['Bob']);
        expect(await server.column('shop_san', 'SELECT DISTINCT name FROM customer')).toEqual(['x']);
        await expect.poll(clients, WAIT).toEqual([]);
      });

      it('is the source by whatever tunnel, or none, a destination leads to it', { timeout: 120_000 }, async () => {
        const start = await withTargets({
          shop: { snapshot: { ...snapshot(), dst_url: undefined, dst_tunnel: undefined } },
          direct: { snapshot: { ...snapshot('other', 'shop'), dst_tunnel: undefined } },
          around: { snapshot: { ...snapshot('other', 'shop'), dst_tunnel: other.url } },
        });
        await other.configure('');
        const { code } = await start('build', 'direct').ended;
        expect(code).toBe(0);
        for (const line of ['load direct', 'load shop --destdb']) {
          const words = line.endsWith('--destdb') ? [...line.split(' '), server.url('shop')] : line.split(' ');
          const ended = await start(...words).ended;
          expect(ended.output).toContain('destination_is_source');
          expect(ended.code).toBe(5);
        }
      });

      it.each(['SIGKILL', 'SIGTERM'] as const)('%s ends the tunnel', { timeout: 120_000 }, async (signal) => {
        const mark = join(folder.path, `started-${signal}`);
        const command = ['sh', '-c', `touch ${mark}; exec sleep 1000`];
        const start = await withTargets({ shop: { snapshot: { ...snapshot(), after_load: [{ command }] } } });
        expect((await start('build', 'shop').ended).code).toBe(0);
        const run = start('load', 'shop');
        const hasStarted = expect.poll(() => existsSync(mark), WAIT).toBe(true);
        expect(await Promise.race([hasStarted.then(() => 'started'), run.ended])).toBe('started');
        expect((await clients()).length).toBeGreaterThan(0);
        run.child.kill(signal);
        await run.ended;
        run.killGroup();
        await expect.poll(clients, WAIT).toEqual([]);
        await expect
          .poll(() => readdirSync(folder.path).filter((name) => name.startsWith('tool-ssh-')), WAIT)
          .toEqual([]);
      });
    });
  });
}
