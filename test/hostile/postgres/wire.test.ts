import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterEach, expect, it, vi } from 'vitest';
import { LOGIN_TIMEOUT_MS } from '../../../src/engines/postgres/connection/exchange.ts';
import { openWire } from '../../../src/engines/postgres/connection/wire.ts';

let server: Server | undefined;

afterEach(() => new Promise<void>((done) => (server ? server.close(() => done()) : done())));

/** A server that answers each message of the client with the next of these bytes, whatever it was asked. */
async function serverOf(answers: ((sent: string) => Buffer)[]) {
  const waiting = [...answers];
  server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (bytes) => void socket.write(waiting.shift()?.(bytes.toString('latin1')) ?? Buffer.alloc(0)));
  });
  await new Promise<void>((done) => server?.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return { host: '127.0.0.1', port, user: 'app', password: 'secret', database: 'app', encryption: null };
}

function message(type: string, body: Buffer | string, length?: number): Buffer {
  const content = Buffer.from(body);
  const head = Buffer.alloc(5);
  head.write(type, 0, 'latin1');
  head.writeInt32BE(length ?? content.length + 4, 1);
  return Buffer.concat([head, content]);
}

function authentication(code: number, text = ''): Buffer {
  const number = Buffer.alloc(4);
  number.writeInt32BE(code);
  return message('R', Buffer.concat([number, Buffer.from(text)]));
}

const READY = message('Z', 'I');
const askForProof = (): Buffer => authentication(10, 'SCRAM-SHA-256\0\0');
const nonceOf = (sent: string): string => /r=([^,]+)/.exec(sent)?.[1] ?? '';
const goOn = (iterations: string) => (sent: string) =>
  authentication(11, `r=${nonceOf(sent)}more,s=${Buffer.from('salt').toString('base64')},i=${iterations}`);

it.each([
  ['asks for no proof after all', [askForProof, () => Buffer.concat([authentication(0), READY])]],
  ['has another nonce', [askForProof, () => authentication(11, 'r=other,s=c2FsdA==,i=4096')]],
  [
    'adds nothing to the nonce',
    [askForProof, (sent: string) => authentication(11, `r=${nonceOf(sent)},s=c2FsdA==,i=1`)],
  ],
  ['would have it computed for hours', [askForProof, goOn('2000000000')]],
  [
    'does not know the password',
    [askForProof, goOn('1'), () => Buffer.concat([authentication(12, 'v=AAAA'), authentication(0), READY])],
  ],
  ['proves nothing', [askForProof, goOn('1'), () => Buffer.concat([authentication(0), READY])]],
])('a server that %s gets no session', async (_, answers) => {
  await expect(openWire(await serverOf(answers))).rejects.toMatchObject({ name: 'ConnectionLost' });
});

it.each([
  ['asks for a ticket of Kerberos', authentication(7)],
  ['asks for one of Windows', authentication(9)],
  ['asks for nothing', message('R', '')],
  ['sends a row of negative width', message('D', Buffer.from([0xff, 0xff]))],
  ['sends an error without its end', message('E', 'SFATAL\0')],
  ['sends a message of 1 GB', message('S', '', 1e9)],
  ['speaks another protocol', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')],
])('a server that %s at the login ends the connection only', async (_, answer) => {
  await expect(openWire(await serverOf([() => answer]))).rejects.toMatchObject({
    name: 'ConnectionLost',
    isFinal: false,
  });
});

it.each([
  ['in words', authentication(3)],
  ['as a digest', authentication(5, 'salt')],
])('an empty password is none, also where it is asked for %s: libpq looks into the password file', async (_, asked) => {
  const sent: string[] = [];
  const refuse = (bytes: string): Buffer => {
    sent.push(bytes);
    return message('E', 'SFATAL\0C28P01\0Mwrong\0\0');
  };
  const address = { ...(await serverOf([() => asked, refuse])), password: '' };
  await expect(openWire(address)).rejects.toMatchObject({ name: 'ConnectionLost', isFinal: false });
  expect(sent).toEqual([]);
});

const PREFERRED = {
  ...{ isOptional: true, roots: null, verifiesHost: false, client: null },
  channelBinding: 'prefer' as const,
};

/** A server that has no TLS, until it demands it. */
async function serverWithoutTls() {
  const asked: string[] = [];
  const state = { demandsTls: false };
  server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', (bytes) => {
      const asksForTls = bytes.length === 8;
      asked.push(asksForTls ? 'TLS' : 'plain');
      const refusal = message('E', 'SFATAL\0C28000\0Mno encryption\0\0');
      socket.write(asksForTls ? 'N' : state.demandsTls ? refusal : Buffer.concat([authentication(0), READY]));
    });
  });
  await new Promise<void>((done) => server?.listen(0, '0.0.0.0', done));
  const { port } = server.address() as AddressInfo;
  const open = async (host: string): Promise<void> => {
    const wire = await openWire({ host, port, user: 'app', password: 'x', database: 'app', encryption: PREFERRED });
    wire.close();
  };
  return { asked, state, open };
}

it('a server of another machine that has once refused TLS is asked for it again', async () => {
  const { asked, open } = await serverWithoutTls();
  // Leads to this machine, and is no name of it.
  await open('0.0.0.0');
  await open('0.0.0.0');
  expect(asked).toEqual(['TLS', 'plain', 'TLS', 'plain']);
});

it('a server of this machine that has refused TLS is not asked again until it refuses the login', async () => {
  const { asked, state, open } = await serverWithoutTls();
  await open('127.0.0.1');
  await open('127.0.0.1');
  state.demandsTls = true;
  // Not final: libpq would ask for TLS.
  await expect(open('127.0.0.1')).rejects.toMatchObject({ isFinal: false });
  await expect(open('127.0.0.1')).rejects.toMatchObject({ isFinal: true });
  expect(asked).toEqual(['TLS', 'plain', 'plain', 'plain', 'TLS', 'plain']);
});

it.each([
  ['another number of rows', [message('d', '1\n'), message('d', '2\n'), message('C', 'COPY 3\0'), READY]],
  ['no number of rows', [message('d', '1\n'), message('C', 'SELECT\0'), READY]],
  ['too long a message', [message('S', '', 1e9)]],
  ['too long a row', [message('d', '1', 2 ** 30 + 5)]],
  ['a message without length', [message('S', '', 3)]],
  ['another protocol', [Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')]],
])('a server that says %s is not believed', async (_, answer) => {
  const wire = await openWire(
    await serverOf([() => Buffer.concat([authentication(0), READY]), () => Buffer.concat(answer)]),
  );
  await expect(wire.copyOut('COPY a TO STDOUT', () => {})).rejects.toMatchObject({ name: 'ConnectionLost' });
  wire.close();
});

it('messages are understood wherever the network cuts them', async () => {
  const answer = Buffer.concat([
    message('H', '\0\0\0'),
    message('d', 'first\n'),
    message('d', ''),
    message('d', 'last\n'),
  ]);
  const whole = Buffer.concat([answer, message('c', ''), message('C', 'COPY 3\0'), READY]);
  for (let cut = 1; cut < whole.length; cut += 1) {
    const address = await serverOf([() => Buffer.concat([authentication(0), READY])]);
    server?.on('connection', (socket) => {
      socket.setNoDelay(true);
      socket.on('data', (bytes) => {
        if (bytes[0] !== 'Q'.charCodeAt(0)) return;
        socket.write(whole.subarray(0, cut), () => setImmediate(() => socket.write(whole.subarray(cut))));
      });
    });
    const wire = await openWire(address);
    let content = '';
    const rows = await wire.copyOut('COPY a TO STDOUT', (buffer, from, to) => {
      content += buffer.toString('utf8', from, to);
    });
    expect({ rows, content }).toEqual({ rows: 3, content: 'first\nlast\n' });
    wire.close();
    await new Promise((done) => server?.close(done));
    server = undefined;
  }
});

it('a server of another machine without TLS gets no password in clear text; one of this machine does', async () => {
  const sent: string[] = [];
  server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      const asksForTls = bytes.length === 8;
      if (!asksForTls) sent.push(bytes.toString('latin1'));
      socket.write(asksForTls ? 'N' : bytes[0] === 0 ? authentication(3) : Buffer.concat([authentication(0), READY]));
    });
  });
  await new Promise<void>((done) => server?.listen(0, '0.0.0.0', done));
  const { port } = server.address() as AddressInfo;
  const address = { port, user: 'app', password: 'Secret-1', database: 'app' };
  await expect(openWire({ ...address, host: '0.0.0.0', encryption: PREFERRED })).rejects.toMatchObject({
    message: expect.stringContaining('sslmode=disable'),
    // libpq would send it.
    isFinal: true,
  });
  expect(sent.join()).not.toContain('Secret-1');
  for (const way of [
    { host: '0.0.0.0', encryption: null },
    { host: '127.0.0.1', encryption: PREFERRED },
  ]) {
    const wire = await openWire({ ...address, ...way });
    wire.close();
  }
  expect(sent.join().match(/Secret-1/g)).toHaveLength(2);
});

it('a server that does not answer at the login is waited for a minute', async () => {
  const address = await serverOf([]);
  const accepted = new Promise((done) => server?.once('connection', (socket) => socket.once('data', done)));
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const opening = expect(openWire(address)).rejects.toMatchObject({
      message: expect.stringContaining('timeout expired'),
      isFinal: true,
    });
    await accepted;
    await vi.advanceTimersByTimeAsync(LOGIN_TIMEOUT_MS);
    await opening;
  } finally {
    vi.useRealTimers();
  }
});
