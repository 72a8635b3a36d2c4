import { existsSync } from 'node:fs';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { inspectConfiguration } from '../../../src/config/load.ts';
import { cloudSettings } from '../../../src/operations/cloud/target-settings.ts';
import { configuredCli } from '../../helpers/terminal/configured-cli.ts';

const TARGET = `
targets:
  app:
    snapshot:
      src_url: postgres://reader@localhost:5432/app
      src_tunnel: ssh://deploy@bastion.example.com
      dst_url: postgres://{{\`NOBODY\` | env}}@localhost:5432/app_dev
      dst_tunnel: ssh://staging
`;

it('a tunnel is a part of its URL, also where a variable of that is not set', async () => {
  const { folder } = await configuredCli(TARGET);
  const { configuration } = await inspectConfiguration({
    environment: { TOOL_TRUST: 'true', HOME: folder.path },
    cwd: folder.path,
  });
  expect(configuration?.settings.targets.app?.snapshot?.src_url).toBe(
    'postgres://reader@localhost:5432/app?tunnel=ssh://deploy%40bastion.example.com',
  );
  expect(configuration?.blanks?.get('targets.app.snapshot.dst_url')).toBe(
    'postgres://@localhost:5432/app_dev?tunnel=ssh://staging',
  );
});

it.each(['ssh://-oProxyCommand=id', 'bastion', '7'])('the tunnel %s stops every command', async (tunnel) => {
  const { tool } = await configuredCli(TARGET.replace('ssh://staging', tunnel));
  const { exit, stderr } = await tool(['targets']);
  expect(exit).toBe(3);
  expect(stderr).toContain('dst_tunnel');
});

it('an untrusted configuration asks for its logins, and starts none', async () => {
  const parameter = '?tunnel=ssh://staging';
  const { tool, folder } = await configuredCli(`${TARGET}    sanitize: {dst_url: 'mysql://db/san${parameter}'}\n`);
  const bin = join(folder.path, 'bin');
  await mkdir(bin);
  await writeFile(join(bin, 'ssh'), `#!/bin/sh\ntouch '${folder.path}/started'\n`);
  await chmod(join(bin, 'ssh'), 0o755);
  const environment = { TOOL_TRUST: '', PATH: `${bin}:${process.env.PATH}` };
  const { exit, stderr } = await tool(['targets'], { environment });
  expect(exit).not.toBe(0);
  expect(stderr).toMatch(/Logs in by SSH +ssh:\/\/deploy@bastion\.example\.com \(app\)/);
  expect(stderr).toMatch(/ssh:\/\/staging \(app\)/);
  expect(existsSync(join(folder.path, 'started'))).toBe(false);
});

it('the hub cannot choose a login', () => {
  const { targets, deferred } = cloudSettings(
    [
      {
        name: 'app',
        settings: { snapshot: { src_url: 'postgres://db/app?tunnel=ssh://evil', dst_url: 'postgres://db/app_dev' } },
        ...{ id: '1', permissions: ['read_source'], snapshots: 0, last_snapshot_at: null, revision: 1 },
      },
    ],
    {},
  );
  expect(targets.app?.snapshot).toEqual({ dst_url: 'postgres://db/app_dev' });
  expect(deferred).toMatchObject([{ key: 'targets.app.snapshot.src_url', code: 'file_only' }]);
});
