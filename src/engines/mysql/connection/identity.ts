import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { AffectedDatabase } from '../../facets/connect.ts';
import type { DatabaseIdentity } from '../../identity.ts';
import { auxiliaryNames } from '../server/names.ts';
import { connectToServer } from './connect.ts';
import { quoteText } from './quote.ts';
import type { MysqlSession } from './session.ts';
import { SqlError } from './session-errors.ts';
import { addressOf } from './url.ts';

export async function identifyAffected(context: EngineContext, url: DatabaseUrl): Promise<AffectedDatabase[]> {
  await using session = await connectToServer(context, url);
  const destination = url.database ?? '';
  const { prefix, undo, base, spare } = auxiliaryNames(destination);
  const rows = await session.query<{ name: string }>(`
    SELECT SCHEMA_NAME AS name FROM information_schema.SCHEMATA
    WHERE SCHEMA_NAME IN (${[destination, undo, base, spare].map(quoteText).join(', ')})
      OR LEFT(SCHEMA_NAME, ${prefix.length}) = ${quoteText(prefix)}
    ORDER BY SCHEMA_NAME <> ${quoteText(destination)}, SCHEMA_NAME`);
  const server = await readServerIdentity(session, url);
  return rows.map(({ name }) => ({ name, identity: identityOf(server, name) }));
}

export type ServerIdentity = Omit<DatabaseIdentity, 'databases'>;

const VARIABLES = [
  ...['server_uuid', 'server_uid', 'server_id', 'hostname', 'report_host', 'port', 'datadir', 'log_bin'],
  ...['read_only', 'gtid_executed', 'gtid_slave_pos', 'gtid_current_pos', 'group_replication_group_name'],
];

/** Variables and rights that a version or flavour lacks are skipped. */
export async function readServerIdentity(session: MysqlSession, url: DatabaseUrl): Promise<ServerIdentity> {
  const names = VARIABLES.map(quoteText).join(', ');
  const variables = valuesOf(await session.query<Row>(`SHOW GLOBAL VARIABLES WHERE Variable_name IN (${names})`));
  const cluster = valuesOf(
    await session.query<Row>("SHOW GLOBAL STATUS WHERE Variable_name = 'wsrep_cluster_state_uuid'"),
  ).wsrep_cluster_state_uuid;
  const sources = await readSources(session);
  const group = variables.group_replication_group_name;
  const shared = [
    ...(group ? [`group:${group}`] : []),
    ...(cluster && /[1-9a-f]/i.test(cluster) ? [`galera:${cluster}`] : []),
  ];
  const { server_uuid } = variables;
  if (server_uuid) {
    const replicas = await readReplicas(session);
    const upstreams = sources.flatMap(({ uuid }) => (uuid === '' ? [] : [uuid]));
    // A replica of a replica, or one that hides its source: its transactions name the server of origin.
    const isReplica = sources.length > 0 || variables.read_only === 'ON';
    const origins = isReplica ? ((variables.gtid_executed ?? '').match(UUID) ?? []) : [];
    const uuids = new Set([server_uuid, ...upstreams, ...replicas, ...origins].map((uuid) => uuid.toLowerCase()));
    return { servers: [...[...uuids].map((uuid) => `uuid:${uuid}`), ...shared] };
  }
  const { hostname, port, datadir, server_uid = '' } = variables;
  return {
    servers: [`machine:${[hostname, port, datadir, server_uid].join('/')}`, ...shared],
    upstreams: [...sources.map(withoutUuid), ...replicated(variables.gtid_slave_pos ?? '')],
    ...(variables.log_bin === 'ON' && { primary: primaryOf(variables, url) }),
  };
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;

interface Row {
  Variable_name: string;
  Value: string;
}

function valuesOf(rows: Row[]): Partial<Record<string, string>> {
  return Object.fromEntries(rows.map(({ Variable_name, Value }) => [Variable_name.toLowerCase(), Value]));
}

type Upstream = NonNullable<ServerIdentity['upstreams']>[number];

function withoutUuid({ uuid: _, ...upstream }: Upstream & { uuid: string }): Upstream {
  return upstream;
}

/** Replicated positions name the server of origin, so that a replica of a replica leads to the primary. */
function replicated(positions: string): Upstream[] {
  return positions
    .split(',')
    .filter((position) => /^\d+-\d+-\d+$/.test(position))
    .map((position) => ({ server_id: Number(position.split('-')[1]), port: 0, host: '', positions: [position] }));
}

function primaryOf(
  { server_id, port, hostname, report_host, gtid_current_pos = '' }: Partial<Record<string, string>>,
  url: DatabaseUrl,
): NonNullable<ServerIdentity['primary']> {
  const address = addressOf(url);
  const hosts = [hostname, report_host, 'socket' in address ? '' : address.host];
  return {
    server_id: Number(server_id),
    port: Number(port),
    hosts: hosts.flatMap((host) => (host ? [host.toLowerCase()] : [])),
    positions: gtid_current_pos.split(',').filter((position) => position !== ''),
  };
}

const SOURCE_STATEMENTS = ['SHOW REPLICA STATUS', 'SHOW ALL SLAVES STATUS', 'SHOW SLAVE STATUS'];

async function readSources(session: MysqlSession): Promise<(Upstream & { uuid: string })[]> {
  const rows = await firstAnswer(session, SOURCE_STATEMENTS);
  return rows.map((row) => {
    const read = (name: string): string => String(row[`Source_${name}`] ?? row[`Master_${name}`] ?? '');
    return {
      uuid: read('UUID'),
      server_id: Number(read('Server_Id') || 0),
      port: Number(read('Port') || 0),
      host: read('Host').toLowerCase(),
      positions: [],
    };
  });
}

async function readReplicas(session: MysqlSession): Promise<string[]> {
  const rows = await firstAnswer(session, ['SHOW REPLICAS', 'SHOW SLAVE HOSTS']);
  return rows.flatMap((row) => {
    const uuid = String(row.Replica_UUID ?? row.Slave_UUID ?? '');
    return uuid === '' ? [] : [uuid];
  });
}

async function firstAnswer(session: MysqlSession, statements: string[]): Promise<Record<string, unknown>[]> {
  for (const statement of statements) {
    try {
      const rows = await session.query<Record<string, unknown>>(statement);
      if (rows.length > 0) return rows;
    } catch (error) {
      if (!(error instanceof SqlError)) throw error;
    }
  }
  return [];
}

/** Some systems ignore case: a wrong match refuses a load, a missed one would overwrite a source. */
export function identityOf(server: ServerIdentity, database: string): DatabaseIdentity {
  return { ...server, databases: [`name:${database.toLowerCase()}`] };
}
