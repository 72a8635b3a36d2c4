import type { DestinationState } from '../../../results/load-results.ts';
import { UserError } from '../../../runtime/errors.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import { freeBytesOf, type Space } from '../../shared/disk-space.ts';
import { readServer, type Server } from '../catalog/introspect.ts';
import { readSize } from '../catalog/tables.ts';
import { connectToServer } from '../connection/connect.ts';
import { isLocalAddress } from '../connection/location.ts';
import { inDatabase } from '../connection/quote.ts';
import type { MysqlSession } from '../connection/session.ts';
import { addressOf, writeAddress } from '../connection/url.ts';
import { databaseExists } from '../server/server.ts';
import { packetLimit } from './rows/packet-limit.ts';

export interface InspectedDestination extends Space {
  destination: DestinationState;
  server: Server;
  collations: Set<string>;
  /** Method of loading rows, and most bytes of a statement. */
  packet: { limit: number; localInfile: boolean };
}

export async function inspectDestination(context: EngineContext, url: DatabaseUrl): Promise<InspectedDestination> {
  if (url.database === null) {
    throw new UserError('url_invalid', `The destination ${url.display} names no database`, {
      hint: 'Add its name at the end: mysql://user@host:3306/database. It is created when it does not exist.',
    });
  }
  await using session = await connectToServer(context, url);
  const server = await readServer(session);
  const collations = await session.query<{ name: string }>(
    'SELECT COLLATION_NAME AS name FROM information_schema.COLLATIONS',
  );
  const [data] = await session.query<{ directory: string; allowed: number }>(
    'SELECT @@datadir AS directory, @@local_infile AS allowed',
  );
  const address = addressOf(url);
  const local = url.parameters.tunnel === undefined && ('socket' in address || (await isLocalAddress(address.host)));
  return {
    destination: {
      url: url.display,
      host: writeAddress(address),
      local,
      database: url.database,
      ...(await readState(session, url.database)),
      server_version: server.version,
    },
    server,
    // MariaDB 11 lists some under a name without their character set: `uca1400_ai_ci`.
    collations: new Set(collations.map(({ name }) => name)),
    packet: { limit: await packetLimit(session), localInfile: data?.allowed === 1 },
    freeBytes: local && data ? await freeBytesOf(data.directory) : null,
  };
}

async function readState(session: MysqlSession, database: string) {
  const exists = await databaseExists(session, database);
  const size_bytes = exists ? await readSize(session, database) : null;
  const [row] = await session.query<{ connections: number }>(
    `SELECT COUNT(*) AS connections FROM information_schema.PROCESSLIST WHERE ${inDatabase('DB', database)} AND ID <> CONNECTION_ID()`,
  );
  return { exists, size_bytes, connections: Number(row?.connections ?? 0) };
}
