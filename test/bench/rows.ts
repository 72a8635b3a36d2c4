/**
 * `npm run bench -- rows [MEGABYTES]`: the ways in which a build may read rows, each over a plain connection and over TLS:
 * seconds of processor time (this process and psql, the server) and of the clock, medians of five in turns.
 */
import { closeSync, openSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '../../src/engines/postgres/connection/connect.ts';
import { directAddress } from '../../src/engines/postgres/connection/direct-address.ts';
import { parsePostgresUrl } from '../../src/engines/postgres/connection/url.ts';
import { DATA_TERMINATOR } from '../../src/engines/postgres/dump/archive.ts';
import { openCopyReader } from '../../src/engines/postgres/dump/copy-readers.ts';
import { FRAME_BYTES } from '../../src/repository/objects/object-format.ts';
import { createPacker, packFile, writeWhole } from '../../src/repository/objects/pack-object.ts';
import { release } from '../../src/repository/objects/release.ts';
import { benchData } from '../helpers/databases/bench-data.ts';
import { openPostgresBench } from '../helpers/postgres/postgres-bench.ts';
import { testContext } from '../helpers/postgres/postgres-server.ts';
import { makeAuthority, sign, speakTls } from '../helpers/postgres/postgres-tls.ts';
import { cpuSeconds, printTable } from '../helpers/terminal/measured-run.ts';

const megabytes = Number(process.argv[2] ?? 200);
const ROUNDS = 5;
const TABLE = 'public.event';
const STATEMENT = `COPY ${TABLE} TO STDOUT`;

const folder = await mkdtemp(join(tmpdir(), 'tool-bench-rows-'));
await using bench = await openPostgresBench(benchData({ megabytes: megabytes * 2, tables: 1 }).slice(0, 4));
const authority = await makeAuthority(join(folder, 'tls'));
const psql = async (database: string, input: { sql: string } | { file: string }): Promise<string> =>
  'sql' in input ? ((await bench.sql(database, `${input.sql}`)).output.split('\n')[2] ?? '') : '';
await speakTls({ psql }, await sign(authority, { name: 'server', subject: '/CN=localhost' }));
const context = testContext({ settings: {} });

type Session = Awaited<ReturnType<typeof connect>>;
type Way = (session: Session, place: { url: string; destination: string; begun: () => Promise<void> }) => Promise<void>;

const WAYS: Record<string, Way> = {
  /** A connection of our own in a thread. */
  async direct(_session, { url, destination, begun }) {
    const address = await directAddress(context, parsePostgresUrl(url));
    if (!address) throw new Error('no address');
    await using reader = await openCopyReader(context, { address, statements: [] });
    if (!reader) throw new Error('no connection');
    await begun();
    await reader.read({ statement: STATEMENT, destination, stored: null, onBytes: () => {} });
  },
  /** psql writes a file, which is packed afterwards. */
  async 'psql, file'(session, { destination, begun }) {
    await begun();
    const path = `${destination}.rows`;
    await writeFile(path, '');
    await session.copyToFile(STATEMENT, { path, ending: DATA_TERMINATOR });
    const whole = { complete: () => true, wait: () => {}, onBytes: () => {} };
    packFile({ source: path, destination, terminator: DATA_TERMINATOR, ...whole });
  },
  /** psql writes to its standard output, which this process reads. */
  async 'psql, pipe'(session, { destination, begun }) {
    await begun();
    const output = openSync(destination, 'wx');
    const packer = createPacker(DATA_TERMINATOR);
    const frame = Buffer.allocUnsafeSlow(FRAME_BYTES);
    let filled = 0;
    const flush = (): void => {
      const packed = packer.add(frame.subarray(0, filled));
      writeWhole(output, packed);
      release(packed);
      filled = 0;
    };
    await session.lines(STATEMENT, (lines) => {
      for (let at = 0; at < lines.length; ) {
        const copied = lines.copy(frame, filled, at);
        filled += copied;
        at += copied;
        if (filled === FRAME_BYTES) flush();
      }
    });
    flush();
    writeWhole(output, packer.finish().table);
    closeSync(output);
  },
};

const plain = bench.url('bench');
const urls = { plain: `${plain}?sslmode=disable`, TLS: `${plain}?sslmode=require` };
const rows: { name: string; own: number[]; server: number[]; seconds: number[] }[] = [];
for (let round = 0; round < ROUNDS; round += 1) {
  for (const [way, read] of Object.entries(WAYS)) {
    for (const [transport, url] of Object.entries(urls)) {
      const name = `${way}, ${transport}`;
      let before = await used();
      let started = 0;
      const begun = async (): Promise<void> => {
        before = await used();
        started = performance.now();
      };
      await using session = await connect(context, parsePostgresUrl(url));
      await read(session, { url, destination: join(folder, `${round}-${name}`), begun });
      await session.close();
      const seconds = (performance.now() - started) / 1000;
      const after = await used();
      const row = rows.find((one) => one.name === name) ?? { name, own: [], server: [], seconds: [] };
      if (row.own.length === 0) rows.push(row);
      row.own.push(after.own - before.own);
      row.server.push(after.server - before.server);
      row.seconds.push(seconds);
    }
  }
}
await rm(folder, { recursive: true });

/** Children count when they have ended; those of the server while they run, too. */
async function used(): Promise<{ own: number; server: number }> {
  return { own: await cpuSeconds(process.pid), server: await bench.cpu() };
}

const median = (values: number[]): string => (values.sort((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0).toFixed(2);
printTable([
  [`${megabytes} MB`, 'CPU s of client', 'CPU s of server', 'seconds'],
  ...rows.map(({ name, own, server, seconds }) => [name, median(own), median(server), median(seconds)]),
]);
