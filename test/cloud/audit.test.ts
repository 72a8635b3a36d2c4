import { beforeAll, beforeEach, expect, test } from 'vitest';
import { auditCsv } from '../../src/cloud/contract/audit-csv.ts';
import { putTarget, startHub } from '../helpers/hub/hub.ts';
import { describeWithPostgres } from '../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../helpers/suite-resource.ts';
import { type ConfiguredCli, configuredCli } from '../helpers/terminal/configured-cli.ts';

test('no cell of the CSV is a formula, and none breaks out of its quotes', () => {
  const plain = {
    at: '2026-01-01T00:00:00Z',
    action: 'x',
    target: null,
    object: null,
    outcome: 'done',
    address: null,
  } as const;
  const cellOf = (actor: string): string => {
    const [, line = ''] = auditCsv([{ ...plain, actor }]).split('\r\n');
    return line.slice('2026-01-01T00:00:00Z,'.length, -',x,,,done,,,'.length);
  };
  expect(cellOf('ann')).toBe('ann');
  for (const begin of ['=', '+', '-', '@', '\t', '＝', ' =']) {
    expect(cellOf(`${begin}cmd|' /C calc'!A0`)).toBe(`"'${begin}cmd|' /C calc'!A0"`);
  }
  expect(cellOf('a","=1+1')).toBe('"a"",""=1+1"');
});

describeWithPostgres('tool cloud audit and token', () => {
  const hub = suiteResource(() => startHub());
  let cli: ConfiguredCli;

  beforeAll(async () => {
    await putTarget(hub, 'orders', { settings: {} });
    await putTarget(hub, 'users', { settings: {} });
  });

  beforeEach(async () => {
    const text = `env: development\ndev_api_url: ${hub.url}\nauthtoken: ${hub.ownerToken}\nworking_directory: ./work\n`;
    cli = await configuredCli(text);
  });

  const events = async (...words: string[]) => {
    const { exit, last } = await cli.json(['cloud', 'audit', ...words]);
    return {
      exit,
      actions: ((last.events ?? []) as { action: string; target: string }[]).map(
        ({ action, target }) => `${action} ${target}`,
      ),
    };
  };

  test('audit events are listed, and chosen by target, action, actor and time', async () => {
    const both = ['target.create users', 'target.create orders'];
    expect(await events()).toEqual({ exit: 0, actions: both });
    expect((await events('--target', 'orders')).actions).toEqual(['target.create orders']);
    expect((await events('--actor', 'trial owner', '--since', '1h')).actions).toEqual(both);
    expect((await events('--until', '1h')).actions).toEqual([]);
    expect((await events('--since', '2026-01-01', '--until', '2026-01-02T00:00Z')).actions).toEqual([]);
    expect((await events('--action', 'snapshot.download')).actions).toEqual([]);
    const { stdout } = await cli.tool(['cloud', 'audit']);
    expect(stdout).toMatch(/^TIME +ACTOR +SUBJECT +ACTION +TARGET/);
    expect(stdout).toMatch(/trial owner +\S+ +target.create +orders +done/);
    expect((await cli.tool(['cloud', 'audit', '--target', 'none'])).stdout).toBe('No matching audit events\n');
    const { last } = await cli.json(['cloud', 'audit', '--since', 'yesterday']);
    const hint = 'tool cloud audit --help lists the options.';
    expect(last.error).toMatchObject({ code: 'invalid_value', exit: 2, hint });
  });

  test('--csv prints every event, as the hub does', async () => {
    const { stdout } = await cli.tool(['cloud', 'audit', '--csv', '--action', 'target.create']);
    const path = '/audit_events?action=target.create';
    const { text } = await hub.send('GET', path, { token: hub.ownerToken, headers: { accept: 'text/csv' } });
    expect(stdout.trimEnd()).toBe(text.trimEnd());
    expect(text.split('\r\n')).toHaveLength(4);
  });

  test('the events of a caller without the right are not listed: exit 5', async () => {
    const { token } = await hub.person('rita', ['readers']);
    const environment = { TOOL_AUTHTOKEN: token };
    const { exit, stderr } = await cli.tool(['cloud', 'audit'], { environment });
    expect({ exit, stderr }).toEqual({ exit: 5, stderr: expect.stringContaining('owners, auditors') });
  });

  test('a service token is created, works, is listed without itself, and is revoked by name', async () => {
    const made = await cli.json([
      'cloud',
      'token',
      'create',
      'ci',
      '--target',
      'orders',
      '--target',
      'users',
      '--days',
      '2',
    ]);
    expect(made).toMatchObject({ exit: 0, last: { name: 'ci', role: 'builder', targets: ['orders', 'users'] } });
    const token = String(made.last.authtoken);
    expect((await hub.send('GET', '/me', { token })).body).toMatchObject({ name: 'ci', role: 'builder' });
    const listed = await cli.tool(['cloud', 'token', 'list']);
    expect(listed.stdout).toMatch(/ci +builder +orders, users +valid/);
    expect(listed.stdout).not.toContain(token);
    const revoked = await cli.tool(['cloud', 'token', 'revoke', 'ci']);
    expect(revoked.stdout).toContain('Revoked service token ci');
    expect((await hub.send('GET', '/me', { token })).status).toBe(401);
    expect((await cli.tool(['cloud', 'token', 'list'])).stdout).toMatch(/ci +builder +orders, users +revoked/);
    expect(await cli.json(['cloud', 'token', 'revoke', 'ci'])).toMatchObject({
      exit: 2,
      last: { error: { code: 'cloud_unknown' } },
    });
  });

  test('a refusal names targets and options, and no place in a request', async () => {
    const create = ['cloud', 'token', 'create', 'job', '--target', 'orders', '--target', 'none', '--target', 'nowhere'];
    expect((await cli.tool(create)).stderr).toBe('error: There is no target "none", "nowhere"\n');
    const { stderr } = await cli.tool(['cloud', 'audit', '--target', 'a@b']);
    expect(stderr).toMatch(/^error: The request is not valid: target must .*\n$/);
    const days = await cli.tool(['cloud', 'token', 'create', 'job', '--target', 'orders', '--days', '400']);
    expect(days.stderr).toMatch(/^error: The request is not valid: expires_in_days must .*\n$/);
  });

  test('wrong roles, targets and equal names are refused', async () => {
    const create = (...words: string[]) => cli.json(['cloud', 'token', 'create', 'job', ...words]);
    expect(await create()).toMatchObject({ exit: 2, last: { error: { code: 'invalid_value' } } });
    expect(await create('--target', 'orders', '--role', 'owner')).toMatchObject({ exit: 2 });
    expect(await create('--target', 'nowhere')).toMatchObject({ exit: 1, last: { error: { code: 'cloud_refused' } } });
    expect(await create('--target', 'orders', '--days', '400')).toMatchObject({
      exit: 1,
      last: { error: { code: 'cloud_refused' } },
    });
    const [one, two] = [await create('--target', 'orders', '--role', 'reader'), await create('--target', 'users')];
    const revoke = (word: unknown) => cli.json(['cloud', 'token', 'revoke', String(word)]);
    expect(await revoke('job')).toMatchObject({ exit: 2, last: { error: { code: 'name_ambiguous' } } });
    expect(await revoke(one.last.id)).toMatchObject({ exit: 0 });
    expect(await revoke('job')).toMatchObject({ exit: 0, last: { id: two.last.id } });
    const readOnly = await cli.json(['--read-only', 'cloud', 'token', 'create', 'x', '--target', 'orders']);
    expect(readOnly.exit).toBe(5);
  });
});
