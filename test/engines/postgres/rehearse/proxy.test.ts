import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import pg from 'pg';
import { afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { parsePostgresUrl } from '../../../../src/engines/postgres/connection/url.ts';
import { logIn, type WireAddress } from '../../../../src/engines/postgres/connection/wire-login.ts';
import { int32, messageOf, readMessages } from '../../../../src/engines/postgres/connection/wire-messages.ts';
import { startProxy } from '../../../../src/engines/postgres/rehearse/proxy.ts';
import { modeText, STRONG_MODES } from '../../../../src/engines/postgres/rehearse/read-locks.ts';
import type { LoopbackProxy } from '../../../../src/engines/shared/rehearse/loopback-proxy.ts';
import { createRecorder, type Recorder } from '../../../../src/engines/shared/rehearse/recorder.ts';
import { describeWithPostgres, eventually, startPostgres } from '../../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../../helpers/suite-resource.ts';

describeWithPostgres('the proxy of a rehearsal', () => {
  const server = suiteResource(() => startPostgres());
  let proxy: LoopbackProxy;
  let recorder: Recorder<number>;
  let address: WireAddress;

  beforeAll(async () => {
    await server.createDatabase('branch');
    await server.psql('branch', { sql: 'CREATE TABLE items (id integer)' });
    const { hosts, user, password } = parsePostgresUrl(server.url('branch'));
    const [{ host, port } = { host: '', port: null }] = hosts;
    address = { host, port: port ?? 5432, user: user ?? '', password, database: 'branch', encryption: null };
  }, 60_000);

  beforeEach(async () => {
    recorder = createRecorder({ relations: new Map(), strongModes: STRONG_MODES, modeText });
    proxy = await startProxy({ address, recorder, settings: {}, look: async () => {} });
    await server.psql('branch', { sql: 'TRUNCATE items' });
  });

  afterEach(async () => {
    await proxy?.[Symbol.asyncDispose]();
  });

  const seen = () => recorder.end().statements.map(({ text, error }) => [text, error?.code ?? null]);

  async function client(): Promise<pg.Client> {
    const { user, password, database } = address;
    const opened = new pg.Client({ host: '127.0.0.1', port: proxy.port, user, password: password ?? '', database });
    await opened.connect();
    return opened;
  }

  const text = (...words: string[]) => Buffer.from(words.map((word) => `${word}\0`).join(''));
  const message = (type: string, body: Buffer = Buffer.alloc(0)) => messageOf(type.charCodeAt(0), body);
  const NONE = Buffer.alloc(2);
  /** Of a driver that waits for nothing: Parse, Bind and Execute. */
  const statement = (sql: string, most = 0) =>
    Buffer.concat([
      message('P', Buffer.concat([text('', sql), NONE])),
      message('B', Buffer.concat([text('', ''), NONE, NONE, NONE])),
      message('E', Buffer.concat([text(''), int32(most)])),
    ]);

  /** Sends messages in pieces, each once the session is ready for a query so many times, or awaits rows. */
  async function send(pieces: Uint8Array[]): Promise<string> {
    const stream: Duplex = await logIn({ ...address, host: '127.0.0.1', port: proxy.port }, { settings: {} });
    let types = '';
    let arrived = (): void => {};
    const handle = (type: number): void => {
      types += String.fromCharCode(type);
      if (type === 0x5a || type === 0x47) arrived();
    };
    const read = readMessages({ rows: () => {}, row: () => {}, handle });
    stream.on('data', read);
    for (const piece of pieces) {
      const next = new Promise<void>((resolve) => {
        arrived = resolve;
      });
      stream.write(piece);
      await next;
    }
    stream.destroy();
    return types;
  }

  it('follows a pipeline, in which a failure skips what is behind it until its end', async () => {
    const failing = [
      statement('INSERT INTO items VALUES (1)'),
      statement('SELEC 1'),
      statement('SELECT 2'),
      message('S'),
    ];
    await send([Buffer.concat(failing), Buffer.concat([statement('SELECT 3'), statement('SELECT 4'), message('S')])]);
    expect(seen()).toEqual([
      ['INSERT INTO items VALUES (1)', null],
      ['SELEC 1', '42601'],
      ['SELECT 3', null],
      ['SELECT 4', null],
    ]);
  });

  it('follows rows of COPY, whose client says Sync before them, behind them, or with all at once', async () => {
    const copy = statement('COPY items FROM STDIN');
    const rows = message('d', Buffer.from('1\n2\n'));
    const ended = Buffer.concat([rows, message('c'), message('S')]);
    const failed = Buffer.concat([message('d', Buffer.from('x\n')), message('c'), message('S')]);
    const last = (sql: string) => Buffer.concat([statement(sql), message('S')]);
    await send([Buffer.concat([copy, message('S')]), ended, last('SELECT 1')]);
    await send([copy, ended, last('SELECT 2')]);
    await send([Buffer.concat([copy, message('S')]), failed, last('SELECT 3')]);
    await send([
      Buffer.concat([copy, message('S')]),
      Buffer.concat([message('f', text('no')), message('S')]),
      last('SELECT 4'),
    ]);
    await send([message('Q', text('COPY items FROM STDIN')), Buffer.concat([rows, message('c')]), last('SELECT 5')]);
    const all = 'COPY items FROM STDIN';
    expect(seen()).toEqual([
      ...[
        [all, null],
        ['SELECT 1', null],
        [all, null],
        ['SELECT 2', null],
        [all, '22P02'],
        ['SELECT 3', null],
      ],
      ...[
        [all, '57014'],
        ['SELECT 4', null],
        [all, null],
        ['SELECT 5', null],
      ],
    ]);
    expect(await server.psql('branch', { sql: 'SELECT count(*) FROM items' })).toBe('6\n');
  });

  it('follows cursors, portals that are read in parts, and notifications', async () => {
    await send([
      Buffer.concat([message('Q', text('LISTEN calls'))]),
      message('Q', text('BEGIN; DECLARE c CURSOR FOR SELECT generate_series(1, 9); FETCH 2 FROM c; COMMIT')),
      Buffer.concat([
        statement('SELECT generate_series(1, 3)', 2),
        message('E', Buffer.concat([text(''), int32(0)])),
        message('S'),
      ]),
      message('Q', text("NOTIFY calls, 'one'")),
      message('Q', text('')),
      message('Q', text('SELECT 1')),
    ]);
    expect(seen().map(([sql]) => sql)).toEqual([
      ...['LISTEN calls', 'BEGIN; DECLARE c CURSOR FOR SELECT generate_series(1, 9); FETCH 2 FROM c; COMMIT'],
      ...['SELECT generate_series(1, 3)', 'SELECT generate_series(1, 3)', "NOTIFY calls, 'one'", '', 'SELECT 1'],
    ]);
  });

  it('serves 50 connections at once, and passes a cancel on', async () => {
    const clients = await Promise.all(Array.from({ length: 50 }, client));
    const results = await Promise.all(clients.map((each, at) => each.query(`SELECT ${at} AS at`)));
    expect(results.map(({ rows }) => rows[0].at)).toEqual(clients.map((_, at) => at));
    const { user, database } = address;
    const words = ['-X', '-h', '127.0.0.1', '-p', `${proxy.port}`, '-U', user, '-c', 'SELECT pg_sleep(60)', database];
    const psql = spawn('psql', words, { stdio: 'ignore', env: { ...process.env, PGPASSWORD: address.password ?? '' } });
    const sleeps = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%' AND state = 'active'";
    await eventually(async () => (await server.psql('postgres', { sql: sleeps })) === '1\n');
    psql.kill('SIGINT');
    await once(psql, 'close');
    await Promise.all(clients.map((each) => each.end()));
    expect(seen()).toHaveLength(51);
    expect(seen()).toContainEqual(['SELECT pg_sleep(60)', '57014']);
  });

  it('answers that it has no TLS, and ends a connection that is no client', async () => {
    const answers: string[] = [];
    for (const bytes of [Buffer.concat([int32(8), int32(80877103)]), Buffer.from('GET / HTTP/1.1\r\n\r\n')]) {
      const socket = connect(proxy.port, '127.0.0.1');
      const ended = new Promise<string>((resolve) => {
        let answer = '';
        socket.on('data', (chunk) => {
          answer += chunk;
          resolve(answer);
        });
        socket.on('error', () => {}).once('close', () => resolve(answer));
      });
      socket.write(bytes);
      answers.push(await ended);
      socket.destroy();
    }
    expect(answers).toEqual(['N', '']);
    await eventually(
      async () =>
        (await server.psql('postgres', { sql: "SELECT count(*) FROM pg_stat_activity WHERE datname = 'branch'" })) ===
        '0\n',
    );
  });
});
