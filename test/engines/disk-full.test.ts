import { expect, it } from 'vitest';
import * as mysql from '../../src/engines/mysql/connection/explain-errors.ts';
import { openSession } from '../../src/engines/mysql/connection/session.ts';
import { parseMysqlUrl } from '../../src/engines/mysql/connection/url.ts';
import { connectToServer } from '../../src/engines/postgres/connection/connect.ts';
import * as postgres from '../../src/engines/postgres/connection/explain-errors.ts';
import { parsePostgresUrl } from '../../src/engines/postgres/connection/url.ts';
import { type AnyServer, startAnyServer, testedKinds } from '../helpers/databases/any-server.ts';
import { describeWithKind } from '../helpers/databases/describe-with-kind.ts';
import { testContext } from '../helpers/postgres/postgres-server.ts';

/** The server raises its own error of a full disk. */
async function raise(server: AnyServer): Promise<void> {
  const context = testContext({ settings: {} });
  if (server.kind === 'postgres') {
    const url = parsePostgresUrl(server.url('postgres'));
    await postgres.withExplainedErrors({ context, url }, async () => {
      await using session = await connectToServer(context, url);
      await session.execute('DO $$ BEGIN RAISE disk_full; END $$');
    });
    return;
  }
  const url = parseMysqlUrl(server.url('mysql'));
  await mysql.withExplainedErrors({ context, url }, async () => {
    await using session = await openSession({ url });
    await session.execute("SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1021");
  });
}

for (const kind of testedKinds('mariadb')) {
  describeWithKind(kind, 'a full disk of the server', () => {
    it('is named in the hint of a refused statement', async () => {
      const server = await startAnyServer(kind);
      try {
        const hint = expect.stringContaining('disk of the server is full');
        await expect(raise(server)).rejects.toMatchObject({ code: 'statement_refused', hint });
      } finally {
        await server.stop();
      }
    });
  });
}
