import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, it } from 'vitest';
import { parseMysqlUrl } from '../../../../src/engines/mysql/connection/url.ts';
import { runServer } from '../../../../src/engines/mysql/images/run-server.ts';
import { findServerPrograms } from '../../../../src/engines/mysql/server/server-programs.ts';
import { createServerProof } from '../../../../src/engines/mysql/server/server-proof.ts';
import { initialise } from '../../../../src/engines/mysql/server/throw-away-server.ts';
import { makeServerHome } from '../../../../src/engines/shared/server/server-home.ts';
import { describeWithMysql } from '../../../helpers/mysql/mysql-server.ts';
import { testContext } from '../../../helpers/postgres/postgres-server.ts';
import { processesNaming } from '../../../helpers/processes/processes.ts';

const OK = Buffer.from([0, 0, 0, 2, 0, 0, 0]);
/** Protocol 10, no TLS, `mysql_native_password`. */
const GREETING = Buffer.concat([
  Buffer.from('\x0a5.5.5-10.11.0-MariaDB\0\x01\0\0\0abcdefgh\0', 'latin1'),
  Buffer.from([0xdf, 0xf7, 45, 2, 0, 0x0f, 0x80, 21]),
  Buffer.from(`${'\0'.repeat(10)}ijklmnopqrst\0mysql_native_password\0`),
]);
const QUIT = 1;

/** Lets anybody in, and says yes to everything. */
async function startObligingServer(): Promise<{ port: number; logins(): number } & AsyncDisposable> {
  let logins = 0;
  const server = createServer((client) => {
    let isIn = false;
    client.on('error', () => {}).write(packet(0, GREETING));
    client.on('data', (data) => {
      if (isIn && data[4] === QUIT) client.end();
      else client.write(packet(isIn ? 1 : 2, OK));
      if (!isIn) logins += 1;
      isIn = true;
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    logins: () => logins,
    [Symbol.asyncDispose]: async () => void server.close(),
  };
}

function packet(sequence: number, content: Buffer): Buffer {
  const head = Buffer.alloc(4);
  head.writeUIntLE(content.length, 0, 3);
  head[3] = sequence;
  return Buffer.concat([head, content]);
}

describeWithMysql('mariadb', { name: 'a server whose port another process takes first' }, () => {
  it('is not started, and that process is not taken for it', async () => {
    const context = testContext({ settings: {} });
    const [programs] = await findServerPrograms(context);
    if (!programs) throw new Error('there are no server programs');
    await using other = await startObligingServer();
    const url = parseMysqlUrl(`mysql://tool:secret@127.0.0.1:${other.port}/`);
    expect(await createServerProof().isGiven(url, context.signal)).toBe(false);
    const home = await makeServerHome(context, 'mysql');
    await using _home = { [Symbol.asyncDispose]: () => home.remove() };
    await initialise(context, programs, home);
    const start = { programs, home, port: other.port, removes: false, settings: [], database: 'shop' };
    const account = { password: 'secret', statements: ["CREATE USER tool@'%' IDENTIFIED BY 'secret'"] };
    // Its process has a file with its id from the beginning.
    const starting = runServer(context, { ...start, ...account, detached: true });
    await expect(starting).rejects.toMatchObject({ code: 'server_not_started' });
    expect(other.logins()).toBeGreaterThan(1);
    expect(await processesNaming(home.directory)).toEqual([]);
  }, 60_000);
});
