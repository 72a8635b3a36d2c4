import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { Probe, ProbeRequest } from '../../facets/connect.ts';
import { failedProbe, SIZES_AT_ONCE, UNKNOWN } from '../../shared/connection/probe-states.ts';
import { groupsOf } from '../../shared/groups.ts';
import { readServer } from '../catalog/introspect.ts';
import { readSizes } from '../catalog/tables.ts';
import { failureOf } from './failure.ts';
import { identityOf, readServerIdentity } from './identity.ts';
import { quoteName, quoteText } from './quote.ts';
import { type MysqlSession, openSession } from './session.ts';
import { ConnectionLost, onRefusal } from './session-errors.ts';
import { addressOf, withDatabase, writeAddress } from './url.ts';

export async function probe({ signal }: EngineContext, { urls, sizes, take }: ProbeRequest): Promise<void> {
  const [first] = urls;
  if (!first) return;
  const opened = await openSession({ url: withDatabase(first, null), signal }).catch((thrown) => {
    if (thrown instanceof ConnectionLost) return thrown;
    throw thrown;
  });
  if (opened instanceof ConnectionLost) {
    const said = `${writeAddress(addressOf(first))}: ${opened.message}`;
    for (const index of urls.keys()) take(index, failedProbe(failureOf(opened), said));
    return;
  }
  await using session = opened;
  const started = performance.now();
  await session.execute('DO 1');
  const latency_ms = Math.max(1, Math.round(performance.now() - started));
  const { version } = await readServer(session);
  const server = await readServerIdentity(session, first);
  const usable = new Map<number, Probe>();
  const asked = await readVisible(session, urls);
  for (const [index, { database }] of urls.entries()) {
    const refusal = database === null || asked.isUsable(database) ? null : await use(session, database);
    if (refusal) {
      take(index, failedProbe(refusal.failure, refusal.said));
      continue;
    }
    const found: Probe = {
      state: {
        ...UNKNOWN,
        status: 'ok',
        latency_ms,
        server_version: version,
        size_bytes: database === null ? 0 : null,
      },
      identity: database === null ? null : identityOf(server, database),
    };
    usable.set(index, found);
    take(index, found);
  }
  if (sizes) await takeSizes(session, { urls, usable, take });
}

interface Visible {
  isUsable: (database: string) => boolean;
}

/** Databases are visible to users with any right to them; all of them with SHOW DATABASES. */
async function readVisible(session: MysqlSession, urls: DatabaseUrl[]): Promise<Visible> {
  const names = [...new Set(urls.flatMap(({ database }) => database ?? []))].map(quoteText).join(', ');
  if (names === '') return { isUsable: () => false };
  const rows = await session.query<{ name: string }>(
    `SELECT SCHEMA_NAME AS name FROM information_schema.SCHEMATA WHERE SCHEMA_NAME IN (${names})`,
  );
  const rights = await session.query<{ privilege: string }>(
    'SELECT DISTINCT PRIVILEGE_TYPE AS privilege FROM information_schema.USER_PRIVILEGES',
  );
  const held = new Set(rights.map(({ privilege }) => privilege));
  const seesAll = held.has('SHOW DATABASES') && !held.has('SELECT');
  const visible = new Set(rows.map(({ name }) => name));
  return { isUsable: (database) => !seesAll && visible.has(database) };
}

/** Why the database cannot be used; `null` if it can. */
async function use(session: MysqlSession, database: string) {
  return session.execute(`USE ${quoteName(database)}`).then(
    () => null,
    onRefusal((error) => ({ failure: failureOf(error), said: error.message })),
  );
}

interface SizesRequest extends Pick<ProbeRequest, 'urls' | 'take'> {
  usable: Map<number, Probe>;
}

async function takeSizes(session: MysqlSession, { urls, usable, take }: SizesRequest): Promise<void> {
  const entries = [...usable].flatMap(([index, found]) => {
    const database = urls[index]?.database ?? null;
    return database === null ? [] : [{ index, found, database }];
  });
  for (const part of groupsOf(entries, SIZES_AT_ONCE)) {
    const within = `TABLE_SCHEMA IN (${part.map(({ database }) => quoteText(database)).join(', ')})`;
    const bytes = new Map<string, number>();
    for (const [name, size] of await readSizes(session, within)) {
      bytes.set(name.toLowerCase(), (bytes.get(name.toLowerCase()) ?? 0) + size);
    }
    for (const { index, found, database } of part) {
      take(index, { ...found, state: { ...found.state, size_bytes: bytes.get(database.toLowerCase()) ?? 0 } });
    }
  }
}
