import { describe, expect, it } from 'vitest';
import { connectionKey } from '../../../../src/engines/connection-limits.ts';
import { openDatabase } from '../../../../src/engines/open-database.ts';
import { engineOf, parseUrl } from '../../../../src/engines/registry.ts';
import { parseTunnel, withTunnel } from '../../../../src/engines/tunnel-address.ts';
import { testContext } from '../../../helpers/postgres/postgres-server.ts';

describe('the address of a tunnel', () => {
  it.each([
    ['ssh://bastion', { user: null, host: 'bastion', port: null }],
    ['ssh://deploy@bastion.example.com:2222', { user: 'deploy', host: 'bastion.example.com', port: 2222 }],
    ['ssh://[2001:db8::1]:22/', { user: null, host: '2001:db8::1', port: 22 }],
  ])('%s is read', (text, address) => {
    expect(parseTunnel(text)).toEqual(address);
  });

  it.each([
    '',
    'bastion',
    'http://bastion',
    'ssh://',
    'ssh://-oProxyCommand=id',
    'ssh://-oProxyCommand=id@bastion',
    'ssh://bastion -oProxyCommand=id',
    'ssh://user@-bastion',
    'ssh://a:password@bastion',
    'ssh://bastion:0',
    'ssh://bastion:65536',
    'ssh://bastion:22:33',
    'ssh://%h@bastion',
    'ssh://$(id)@bastion',
    'ssh://a`id`@bastion',
    "ssh://a'@bastion",
    'ssh://bastion\nssh://other',
    'ssh://bastion\n',
    'ssh://bastion/path',
    'ssh://bastion;id',
    'ssh://bastion?x=y',
    'ssh://a@b@bastion',
    'ssh://bästion',
  ])('%j is refused, also in a URL', (text) => {
    expect(parseTunnel(text)).toBeNull();
    for (const url of ['postgres://db/app', 'mysql://db/app?tls=required']) {
      expect(() => parseUrl(withTunnel(url, text))).toThrow(/cannot be read/);
    }
  });

  it.each([
    'postgres:///app',
    'postgres://%2Fvar%2Frun/app',
    'pgdocker://db/app',
    'postgres://db/app?hostaddr=10.0.0.1',
    'postgres://db/app?service=prod',
    'postgres://db,/app',
    'mysql:///app',
    'mysql://db/app?socket=/run/mysqld.sock',
    'mydocker://db/app',
  ])('%s has none', (url) => {
    expect(() => parseUrl(withTunnel(url, 'ssh://bastion'))).toThrow(/tunnel/);
  });

  it.each(['postgres', 'mysql'])('distinguishes databases of %s that have the same host', async (scheme) => {
    const text = `${scheme}://app:secret@localhost:5432/app`;
    const urls = [text, withTunnel(text, 'ssh://a@one'), withTunnel(text, 'ssh://a@two')].map(parseUrl);
    const displays = urls.map(({ display }) => display);
    expect(displays[1]).toBe(`${scheme}://app@localhost:5432/app?tunnel=ssh://a%40one`);
    expect(displays.map((display) => parseUrl(display).display)).toEqual(displays);
    expect(new Set(displays).size).toBe(3);
    expect(new Set(urls.map(connectionKey)).size).toBe(3);
    const context = testContext({ settings: {} });
    const addresses = await Promise.all(urls.map((url) => openDatabase(context, url).connect.readAddresses()));
    const all = addresses.flatMap((found) => [...found]);
    expect(new Set(all).size).toBe(all.length);
    expect(all).toContain('ssh://a@one localhost:5432');
  });
});

it.each(['postgres', 'mysql'])('a URL of %s for other programs is refused while its tunnel is not open', (scheme) => {
  const url = parseUrl(`${scheme}://app:secret@localhost/shop_dev?tunnel=ssh://deploy%40bastion`);
  // They would leave out what they do not know, and connect to this machine.
  const { urlWithPassword } = engineOf(url.engine);
  expect(() => urlWithPassword(url)).toThrow(expect.objectContaining({ code: 'client_unavailable' }));
  expect(urlWithPassword({ ...url, localPorts: [40_000] })).not.toContain('tunnel');
});
