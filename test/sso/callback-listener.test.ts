import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { listenForCallback } from '../../src/sso/callback-listener.ts';

async function listening(redirectUrl = 'http://127.0.0.1:0/callback') {
  const listener = await listenForCallback(redirectUrl, { state: 's', signal: new AbortController().signal });
  onTestFinished(() => listener[Symbol.asyncDispose]());
  let arrived = false;
  void listener.callback.then(() => {
    arrived = true;
  });
  return { listener, url: new URL(listener.redirectUrl), arrived: () => arrived };
}

/** What is answered to bytes as they are. */
async function send(url: URL, bytes: string): Promise<string> {
  const socket = connect(Number(url.port), url.hostname);
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.write(bytes);
  return text(socket).catch(() => '');
}

it('the redirect_url is served on its own path, and a port of 0 is any that is free', async () => {
  const { listener, url } = await listening();
  expect(Number(url.port)).toBeGreaterThan(0);
  const page = fetch(`${url.href}?code=c&state=s`);
  const callback = await listener.callback;
  expect(callback.url.searchParams.get('code')).toBe('c');
  await callback.answer('<b>no</b>');
  const answer = await page;
  expect(answer.status).toBe(400);
  expect(await answer.text()).toContain('&lt;b&gt;no&lt;/b&gt;');
});

it('a request for another host, path or method is refused, and the listener goes on', async () => {
  const { listener, url, arrived } = await listening();
  expect(await send(url, 'GET /callback?code=c&state=s HTTP/1.1\r\nHost: evil.example.com\r\n\r\n')).toMatch(
    /^HTTP\/1.1 421 /,
  );
  expect(await send(url, 'GET /callback?code=c&state=s HTTP/1.1\r\nHost: localhost\r\n\r\n')).toMatch(
    /^HTTP\/1.1 421 /,
  );
  expect(await send(url, 'GET /callback?code=c&state=s HTTP/1.1\r\n\r\n')).toMatch(/^HTTP\/1.1 400 /);
  expect((await fetch(new URL('/callback/../other', url))).status).toBe(404);
  expect((await fetch(new URL('/callbacks', url))).status).toBe(404);
  expect((await fetch(url, { method: 'POST', body: 'x' })).status).toBe(405);
  expect(arrived()).toBe(false);
  void fetch(`${url.href}?state=s`).catch(() => {});
  await listener.callback;
});

it('requests that are oversized or no HTTP at all are cut off, and the listener goes on', async () => {
  const { listener, url, arrived } = await listening();
  const long = 'x'.repeat(100_000);
  expect(await send(url, `GET /callback?code=${long} HTTP/1.1\r\nHost: ${url.host}\r\n\r\n`)).toMatch(/ 431 |^$/);
  expect(await send(url, `GET /callback HTTP/1.1\r\nHost: ${url.host}\r\nA: ${long}\r\n\r\n`)).toMatch(/ 431 |^$/);
  expect(await send(url, '\x16\x03\x01\x02 nonsense\r\n\r\n')).toMatch(/ 400 |^$/);
  expect(arrived()).toBe(false);
  void fetch(`${url.href}?state=s`).catch(() => {});
  await listener.callback;
});

it('a silent connection is closed', async () => {
  const { url } = await listening();
  expect(await send(url, 'GET /callback HTTP/1.1\r\nHost: ')).toMatch(/^HTTP\/1.1 408 /);
}, 30_000);

it('silent connections do not block the browser', async () => {
  const { listener, url } = await listening();
  const idle = Array.from({ length: 100 }, () => connect(Number(url.port), url.hostname).on('error', () => {}));
  await Promise.all(idle.map((socket) => once(socket, 'connect')));
  void fetch(`${url.href}?state=s`).catch(() => {});
  await listener.callback;
});

it('a browser that has gone meanwhile is not waited for', async () => {
  const { listener, url } = await listening();
  const browser = connect(Number(url.port), url.hostname);
  browser.write(`GET /callback?code=c&state=s HTTP/1.1\r\nHost: ${url.host}\r\n\r\n`);
  const callback = await listener.callback;
  browser.resetAndDestroy();
  // By the time that another is answered, the listener has seen it go.
  expect((await fetch(url)).status).toBe(409);
  await callback.answer();
});

it('a second callback is refused', async () => {
  const { listener, url } = await listening();
  const first = fetch(`${url.href}?code=1&state=s`);
  const callback = await listener.callback;
  expect((await fetch(`${url.href}?code=2&state=s`)).status).toBe(409);
  await callback.answer();
  expect((await first).status).toBe(200);
});

it('a port that is taken is an error that says how to find the other program', async () => {
  const { url } = await listening();
  const failed = listenForCallback(url.href, { state: 's', signal: new AbortController().signal });
  await expect(failed).rejects.toMatchObject({
    code: 'redirect_port_busy',
    exit: 4,
    message: expect.stringMatching(/: in use$/),
    hint: expect.stringMatching(/or change the host or the port of redirect_url .* lsof -i :\d+$/),
  });
});

it.each(['https://127.0.0.1:1/callback', 'http://example.com/callback', 'http://10.0.0.1:80/callback'])(
  '%s is not on this machine',
  async (redirectUrl) => {
    const failed = listenForCallback(redirectUrl, { state: 's', signal: new AbortController().signal });
    await expect(failed).rejects.toMatchObject({ code: 'redirect_url_not_local', exit: 3 });
  },
);

it.each(['', '?code=c', '?code=c&state=forged', '?error=access_denied&state=', '?state=forged&state=s&code=c'])(
  'a request without the state of this sign-in is refused, and the right one is still taken: %s',
  async (query) => {
    const { listener, url, arrived } = await listening();
    expect((await fetch(`${url.href}${query}`)).status).toBe(400);
    expect(arrived()).toBe(false);
    const page = fetch(`${url.href}?code=c&state=s`);
    await (await listener.callback).answer();
    expect((await page).status).toBe(200);
  },
);
