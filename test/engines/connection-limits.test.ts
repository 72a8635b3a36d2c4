import { expect, test, vi } from 'vitest';
import { parseMysqlUrl } from '../../src/engines/mysql/connection/url.ts';
import { parsePostgresUrl } from '../../src/engines/postgres/connection/url.ts';

// Its limits and counts are of the process, and suites before this one have changed them.
vi.resetModules();
const { connectionKey, withConnection } = await import('../../src/engines/connection-limits.ts');

const { signal } = new AbortController();

test('at most four connections to a server and sixteen in total are open, and every request is served', async () => {
  const open = new Map<string, number>();
  const most = { perServer: 0, total: 0 };
  let total = 0;
  let done = 0;
  const urls = Array.from({ length: 120 }, (_, index) =>
    parsePostgresUrl(`postgres://u@10.0.0.${index % 5}/d${index}`),
  );
  await Promise.all(
    urls.map((url) =>
      withConnection(url, signal, async () => {
        const host = url.hosts[0]?.host ?? '';
        const count = (open.get(host) ?? 0) + 1;
        open.set(host, count);
        total += 1;
        most.perServer = Math.max(most.perServer, count);
        most.total = Math.max(most.total, total);
        await new Promise(setImmediate);
        open.set(host, (open.get(host) ?? 0) - 1);
        total -= 1;
        done += 1;
      }),
    ),
  );
  expect({ ...most, done }).toEqual({ perServer: 4, total: 16, done: 120 });
});

test('a cancelled request leaves the queue, and a failed one returns its connection', async () => {
  const url = parseMysqlUrl('mysql://u@localhost/d');
  const held = Array.from({ length: 4 }, () => Promise.withResolvers<void>());
  const working = held.map(({ promise }) => withConnection(url, signal, () => promise));
  const controller = new AbortController();
  // The names of this machine are one server.
  const elsewhere = parseMysqlUrl('mysql://other@127.0.0.1:3306/e');
  const waiting = withConnection(elsewhere, controller.signal, async () => 'begun');
  controller.abort(new Error('cancelled'));
  await expect(waiting).rejects.toThrow('cancelled');
  const next = withConnection(elsewhere, signal, async () => 'begun');
  held[0]?.reject(new Error('failed'));
  await expect(working[0]).rejects.toThrow('failed');
  expect(await next).toBe('begun');
  for (const { resolve } of held.slice(1)) resolve();
  await Promise.all(working.slice(1));
});

test('only URLs that differ in nothing but the database share a connection', () => {
  const key = (url: string): string => connectionKey(parsePostgresUrl(url));
  const base = key('postgres://u:p@h:1/a?sslmode=require');
  expect(key('postgres://u:p@h:1/b?sslmode=require')).toBe(base);
  const others = ['v:p@h:1/a?sslmode=require', 'u:q@h:1/a?sslmode=require', 'u:p@h:2/a?sslmode=require', 'u:p@h:1/a'];
  for (const other of others) expect(key(`postgres://${other}`)).not.toBe(base);
});
