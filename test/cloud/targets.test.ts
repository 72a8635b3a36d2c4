import { readFile, stat } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { listSignIns, signInWith } from '../../src/operations/cloud/sign-in/sign-in-choices.ts';
import { refreshTargets } from '../../src/operations/targets/targets.ts';
import type { HubState } from '../../src/results/cloud-results.ts';
import type { TargetRow } from '../../src/results/results.ts';
import { createContext } from '../../src/runtime/context.ts';
import { putTarget, startHub, type TestHub } from '../helpers/hub/hub.ts';
import { describeWithPostgres, startPostgres } from '../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../helpers/suite-resource.ts';
import { configuredCli } from '../helpers/terminal/configured-cli.ts';

describeWithPostgres('cloud targets', () => {
  const postgres = suiteResource(() => startPostgres());
  let hubs = 0;

  async function world() {
    hubs += 1;
    await postgres.createDatabase(`hub${hubs}`);
    const hub: TestHub = await startHub({ databaseUrl: postgres.url(`hub${hubs}`) }, postgres);
    let stopped = false;
    const stop = async (): Promise<void> => {
      if (!stopped) await hub.stop();
      stopped = true;
    };
    onTestFinished(stop);
    const shared = {
      sso_groups: ['readers'],
      name: 'Orders',
      snapshot: { src_url: 'postgres://db.example.com/orders' },
    };
    await putTarget(hub, 'orders', { settings: shared, expected_every: '1d' });
    await putTarget(hub, 'hidden', { settings: {} });
    await putTarget(hub, 'local', { settings: { sso_groups: ['readers'] } });
    const { token, tokenId } = await hub.person('rita', ['readers']);
    const text = [
      'env: development',
      `dev_api_url: ${hub.url}`,
      `authtoken: ${token}`,
      'working_directory: ./work',
      'targets:',
      '  local: {share: {}}',
      '',
    ];
    const cli = await configuredCli(text.join('\n'));
    const targets = async (...words: string[]) => {
      const { exit, stdout, stderr } = await cli.tool(['targets', '--json', ...words]);
      const rows = exit === 0 ? (JSON.parse(stdout).targets as { name: string; type: string; title: string }[]) : [];
      return { exit, stderr, types: Object.fromEntries(rows.map(({ name, type }) => [name, type])), rows };
    };
    return { hub, stop, cli, targets, tokenId };
  }

  test('targets of the hub are listed beside local ones; the one of the file wins', async () => {
    const { targets, cli } = await world();
    const { types, rows, stderr } = await targets();
    expect(types).toEqual({ local: 'share', orders: 'cloud' });
    expect(rows.find(({ name }) => name === 'orders')).toMatchObject({
      ...{ title: 'Orders', src_url: null, snapshots: 0, late: true, status: 'unchecked' },
    });
    expect((await cli.tool(['targets'])).stdout).toMatch(/orders .* late /);
    await cli.folder.write('work/snapshots/orders/20260102T030405Z-00000001.json', '{}');
    expect((await targets()).rows.find(({ name }) => name === 'orders')).toMatchObject({ snapshots: 1 });
    expect((await cli.tool(['targets', '--info'])).stdout).toMatch(/Status +late/);
    expect(stderr).toContain('Target "local" is in the file and on the hub');
  });

  test('targets come from the cache while the hub is unreachable, with its age', async () => {
    const { targets, stop, cli } = await world();
    await targets();
    const { mode } = await stat(join(cli.folder.path, 'work/cache/hub-targets.json'));
    expect(mode & 0o777).toBe(0o600);
    await stop();
    const { types, stderr, exit } = await targets();
    expect({ exit, types }).toEqual({ exit: 0, types: { local: 'share', orders: 'cloud' } });
    expect(stderr).toMatch(/cannot be reached\. Showing its targets as of \d/);
  });

  test('a refresh of the screens reports an unreachable hub, and who shares its targets', async () => {
    const { cli, stop } = await world();
    const refreshed = async () => {
      const context = await createContext({
        ...{ environment: { TOOL_TRUST: 'true', HOME: cli.folder.path }, cwd: cli.folder.path, report: () => {} },
        ...{ signal: new AbortController().signal, clock: () => new Date() },
      });
      const seen: { rows: TargetRow[]; hub: HubState | null }[] = [];
      await refreshTargets(context, {
        listed: (rows, hub) => {
          seen.push({ rows, hub });
          return [];
        },
        take: () => {},
      });
      return seen[0];
    };
    const before = await refreshed();
    expect(before?.hub).toBeNull();
    expect(before?.rows.find(({ name }) => name === 'orders')).toMatchObject({ permissions: ['read'], sso_groups: [] });
    await stop();
    const after = await refreshed();
    expect(after?.hub).toEqual({ problem: 'unreachable', as_of: expect.stringMatching(/^\d{4}-.*Z$/) });
    expect(after?.rows.map(({ name }) => name)).toEqual(['local', 'orders']);
  });

  test('the hub is among the choices of a sign-in as soon as its address is set', async () => {
    const { cli, hub } = await world();
    const open = () =>
      createContext({
        ...{ environment: { TOOL_TRUST: 'true', HOME: cli.folder.path }, cwd: cli.folder.path, report: () => {} },
        ...{ signal: new AbortController().signal, clock: () => new Date() },
      });
    expect(listSignIns(await open())).toEqual([{ name: 'hub', provider_url: hub.url }]);
    await expect(signInWith(await open(), {})).rejects.toMatchObject({ code: 'hub_sign_in_missing' });
  });

  test('only the cache is read without a connection', async () => {
    const { targets, stop, cli } = await world();
    await targets();
    await stop();
    const { stdout, stderr } = await cli.tool(['targets', '--no-check', '--json']);
    expect(JSON.parse(stdout).targets.map(({ name }: { name: string }) => name)).toEqual(['local', 'orders']);
    expect(stderr).toBe('');
  });

  test('a command with a refused token ends with that error, and removes the cache', async () => {
    const { hub, cli, targets, tokenId } = await world();
    await targets();
    const cache = join(cli.folder.path, 'work/cache/hub-targets.json');
    expect(await readFile(cache, 'utf8')).toContain('orders');
    await hub.database.db.updateTable('tokens').set({ revoked_at: new Date() }).where('id', '=', tokenId).execute();
    const { token: other } = await hub.person('olga', []);
    await hub.send('DELETE', '/sessions/current', { token: other });
    expect(await cli.json(['load', 'orders'])).toMatchObject({ exit: 4, last: { code: 'cloud_token_refused' } });
    await expect(readFile(cache)).rejects.toThrow('ENOENT');
  });

  test('a list connects to no database that the hub names', async () => {
    const { hub, cli } = await world();
    let connections = 0;
    const server = createServer((socket) => {
      connections += 1;
      socket.destroy();
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    onTestFinished(() => void server.close());
    const url = `postgres://app@127.0.0.1:${(server.address() as AddressInfo).port}/orders`;
    await putTarget(hub, 'named', { settings: { snapshot: { src_url: url, dst_url: url } } });
    const { token } = await hub.person('mona', ['developers']);
    const environment = { TOOL_AUTHTOKEN: token };
    const { stdout } = await cli.tool(['targets', '--json'], { environment });
    const row = JSON.parse(stdout).targets.find(({ name }: { name: string }) => name === 'named');
    expect(row).toMatchObject({ src_url: url, dst_url: url, status: 'unchecked' });
    expect(connections).toBe(0);
  });

  test('a command finds a target that only the hub knows; a caller without permission to build it sees the groups with it', async () => {
    const { cli } = await world();
    expect(await cli.json(['load', 'orders'])).toMatchObject({ exit: 2, last: { code: 'snapshot_missing' } });
    const build = await cli.json(['build', 'orders']);
    expect(build).toMatchObject({ exit: 5, last: { code: 'not_permitted' } });
    expect(build.last.hint).toContain('It needs one of the groups: owners, developers.');
    expect(await cli.json(['load', 'hidden'])).toMatchObject({ exit: 2, last: { code: 'target_unknown' } });
  });

  test('a target that is no longer shared disappears, and a refused token removes the cache', async () => {
    const { hub, targets, cli, tokenId } = await world();
    await targets();
    const { revision } = (await hub.send('GET', '/targets/orders', { token: hub.ownerToken })).body;
    const headers = { 'if-match': `"${revision}"` };
    await hub.send('PUT', '/targets/orders', { token: hub.ownerToken, body: { settings: {} }, headers });
    expect((await targets()).types).toEqual({ local: 'share' });
    await hub.database.db.updateTable('tokens').set({ revoked_at: new Date() }).where('id', '=', tokenId).execute();
    const { token: other } = await hub.person('olga', []);
    await hub.send('DELETE', '/sessions/current', { token: other });
    const { stderr, types } = await targets();
    expect(types).toEqual({ local: 'share' });
    expect(stderr).toContain('The token is missing, unknown, expired or revoked');
    await expect(readFile(join(cli.folder.path, 'work/cache/hub-targets.json'))).rejects.toThrow('ENOENT');
  });
});
