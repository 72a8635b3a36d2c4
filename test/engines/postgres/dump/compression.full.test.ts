import { connect, createServer, type Socket } from 'node:net';
import { Transform } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { constants, zstdCompressSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { build } from '../../../../src/operations/build/build.ts';
import { localRepository } from '../../../../src/operations/snapshots/local-repository.ts';
import { filesOfTable } from '../../../../src/repository/manifest.ts';
import { readFrames } from '../../../../src/repository/objects/object-file.ts';
import { benchData } from '../../../helpers/bench-data.ts';
import { freePort } from '../../../helpers/free-port.ts';
import { describeWithPostgres, startPostgres, temporaryFolder, testContext } from '../../../helpers/postgres-server.ts';

const BYTES_PER_SECOND = 12 * 1024 * 1024;

describeWithPostgres('a build from a slow server by four workers', () => {
  it('stores no more bytes than zstd -3, and takes no longer than its network', async () => {
    await using folder = await temporaryFolder();
    const server = await startPostgres();
    try {
      await server.createDatabase('data');
      for (const sql of benchData({ megabytes: 80, tables: 6 })) await server.psql('data', { sql });
      await using slow = await slowProxy(server.port);
      const url = new URL(server.url('data'));
      url.port = `${slow.port}`;
      const targets = { data: { snapshot: { src_url: url.href } } };
      const context = testContext({ settings: { working_directory: folder.path, targets } });
      const started = performance.now();
      await build(context, { target: 'data', cpus: 4 });
      const seconds = (performance.now() - started) / 1000;
      const repository = localRepository(context);
      const [manifest] = await repository.list('data');
      const stored = { own: 0, zstd: 0, bytes: 0 };
      for (const file of manifest?.tables.flatMap(filesOfTable) ?? []) {
        const content = Buffer.concat([...readFrames(repository.object(file))].map((frame) => Buffer.from(frame)));
        stored.own += file.stored_bytes;
        stored.zstd += zstdCompressSync(content, { params: { [constants.ZSTD_c_compressionLevel]: 3 } }).length;
        stored.bytes += content.length;
      }
      expect(stored.bytes).toBeGreaterThan(40e6);
      // The lightest level alone reaches 0.96.
      expect(stored.own).toBeLessThan(0.95 * stored.zstd);
      expect(seconds).toBeLessThan(1.1 * (stored.bytes / BYTES_PER_SECOND) + 3);
    } finally {
      await server.stop();
    }
  });
});

/** A network that passes on so many bytes a second in all of its connections. */
async function slowProxy(port: number): Promise<{ port: number } & AsyncDisposable> {
  const sockets = new Set<Socket>();
  let free = performance.now();
  const throttle = (): Transform =>
    new Transform({
      async transform(chunk: Buffer, _, done) {
        free = Math.max(free, performance.now()) + (1000 * chunk.length) / BYTES_PER_SECOND;
        await setTimeout(Math.max(1, free - performance.now()));
        done(null, chunk);
      },
    });
  const proxy = createServer((client) => {
    const server = connect(port, '127.0.0.1');
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        client.destroy();
        server.destroy();
      });
    }
    client.pipe(server);
    server.pipe(throttle()).pipe(client);
  });
  const own = await freePort();
  await new Promise<void>((resolve) => proxy.listen(own, '127.0.0.1', resolve));
  return {
    port: own,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => proxy.close(resolve));
    },
  };
}
