import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeAll, expect, it } from 'vitest';
import { build } from '../../.ci/build.mjs';
import { describeWithMysql, startMysql } from '../helpers/mysql/mysql-server.ts';
import { temporaryFolder } from '../helpers/postgres/postgres-server.ts';
import { PROGRAM } from '../helpers/program.ts';
import { describeWithSsh, startBastion } from '../helpers/ssh/ssh-server.ts';
import { suiteResource } from '../helpers/suite-resource.ts';
import { openTerminal, type TestTerminal } from './terminal.ts';

/** Each step may log in by SSH. */
const WAIT_MS = 60_000;

describeWithMysql('mysql', { name: 'the screens' }, () => {
  describeWithSsh('of a server behind a bastion', () => {
    const server = suiteResource(() => startMysql('mysql'));
    const bastion = suiteResource(() => startBastion());
    const folder = suiteResource(temporaryFolder);
    let terminal: TestTerminal | undefined;

    beforeAll(async () => {
      await build();
      await server.createDatabase('shop');
      await server.sql('shop', 'CREATE TABLE customer (id int PRIMARY KEY)', 'INSERT INTO customer VALUES (1), (2)');
      const snapshot = {
        ...{ src_url: server.url('shop'), src_tunnel: bastion.url },
        ...{ dst_url: server.url('copy'), dst_tunnel: bastion.url },
      };
      const settings = {
        secret_key: 'ab'.repeat(16),
        working_directory: join(folder.path, 'work'),
        targets: { shop: { snapshot } },
      };
      await writeFile(join(folder.path, 'tool.yml'), JSON.stringify(settings), { mode: 0o600 });
    });

    afterEach(() => terminal?.close());

    it('build and load through it, name it in the plan, and say why it does not open', {
      timeout: 240_000,
    }, async () => {
      terminal = openTerminal({
        command: [process.execPath, PROGRAM],
        cwd: folder.path,
        columns: 160,
        environment: { ...bastion.environment, TOOL_TRUST: 'true', HOME: folder.path, XDG_CACHE_HOME: folder.path },
      });
      await terminal.waitFor('✓ up', WAIT_MS);
      terminal.press('b');
      await terminal.waitFor('Built snapshot 0 of shop', WAIT_MS);
      terminal.press('esc');
      await terminal.waitFor(/❯ targets ─+ 1 ─/, WAIT_MS);
      terminal.press('enter');
      await terminal.waitFor(/❯ snapshots of shop ─+ 1,/, WAIT_MS);
      terminal.press('l');
      await terminal.waitFor('Type copy to continue', WAIT_MS);
      expect(terminal.screen()).toContain(`copy?tunnel=${bastion.url.replace('@', '%40')}`);
      terminal.press('copy', 'enter');
      await terminal.waitFor('✓ copy ', WAIT_MS);
      expect(await server.sql('copy', 'SELECT COUNT(*) AS amount FROM customer')).toEqual([{ amount: 2 }]);

      await writeFile(bastion.knownHosts, '');
      await bastion.disconnect();
      terminal.press('esc');
      await terminal.waitFor(/❯ snapshots of shop ─+ 1,/, WAIT_MS);
      terminal.press('esc');
      await terminal.waitFor(/❯ targets ─+ 1 ─/, WAIT_MS);
      terminal.press('b');
      await terminal.waitFor(/The SSH tunnel ssh:\S+ to \S+ failed: .*Host key/, WAIT_MS);
    });
  });
});
