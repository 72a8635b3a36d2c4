import { randomBytes } from 'node:crypto';
import { chown, lstat, mkdir, readdir, rm } from 'node:fs/promises';
import { basename, isAbsolute, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import { ENGINE_IDS } from '../../engines/list.ts';
import { engineOf } from '../../engines/registry.ts';
import { identityOf, isAlive, processIdentity } from '../../process/process-identity.ts';
import type { Command } from '../../process/runner.ts';
import { removeDeadStagings, stagingRoot } from '../../repository/staging.ts';
import type { Context } from '../../runtime/context.ts';
import { readState, writeState } from '../working-state.ts';

const PORTS = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(65_535));

const recordSchema = v.strictObject({
  format: v.literal(1),
  /** The last part of the directory's name. */
  id: v.pipe(v.string(), v.regex(/^[0-9a-f]{8}$/)),
  engine: v.picklist(ENGINE_IDS),
  target: v.string(),
  snapshot: v.string(),
  database: v.string(),
  /** Both are `null` until it accepts connections. The URL is without password; earlier versions have recorded none. */
  port: v.nullable(PORTS),
  url: v.optional(v.nullable(v.string()), null),
  detached: v.boolean(),
  created_at: v.pipe(v.string(), v.isoTimestamp()),
  directory: v.string(),
  /** The process with which it ends; its own for one that goes on without another. */
  owner: processIdentity,
});
export type ServerRecord = v.InferOutput<typeof recordSchema>;

export interface RunningServer extends ServerRecord {
  port: number;
  url: string;
  pid: number;
}

const FOLDER = 'servers';
const PREFIX = 'tool-server-';
const MODE = 0o700;

const fileOf = (name: string) => ({ name: join(FOLDER, name), schema: recordSchema });

function recordsFolder({ configuration }: Pick<Context, 'configuration'>): string {
  return join(configuration.settings.working_directory, FOLDER);
}

/**
 * Makes a folder for a server of this process: in the working directory, or where its account can reach it if we are
 * root. Its record is written first: a later run finds it after a kill.
 */
export async function createServer(
  context: Context,
  facts: Pick<ServerRecord, 'engine' | 'target' | 'snapshot' | 'database' | 'detached'>,
): Promise<{ record: ServerRecord; user: Command['user'] }> {
  const root = recordsFolder(context);
  await mkdir(root, { recursive: true, mode: 0o700 });
  const { folder, user } = await (await engineOf(facts.engine).images()).findHome(context, root);
  const id = randomBytes(4).toString('hex');
  const directory = join(folder, `${PREFIX}${id}`);
  const created_at = context.clock().toISOString();
  const owner = await identityOf();
  const record = { format: 1, id, ...facts, port: null, url: null, created_at, directory, owner } as const;
  await writeRecord(context, record);
  await mkdir(directory, { mode: MODE });
  if (user) await chown(directory, user.uid, user.gid);
  return { record, user };
}

export function writeRecord(context: Context, record: ServerRecord): Promise<void> {
  return writeState(context, fileOf(`${record.id}.json`), record);
}

/** Reports whether no other run has taken the server over. */
export async function isOwned(context: Context, { id, owner }: ServerRecord): Promise<boolean> {
  const record = await readState(context, fileOf(`${id}.json`)).catch(() => undefined);
  return record !== undefined && isDeepStrictEqual(record.owner, owner);
}

/** Makes this process the owner: the command that waits for the end of the server learns by it that the end is wanted. */
export async function takeOver(context: Context, record: ServerRecord): Promise<void> {
  await writeRecord(context, { ...record, owner: await identityOf() });
}

/** Stops the server, if it runs, and removes its files. */
export async function removeServer(context: Context, record: ServerRecord): Promise<void> {
  const { id, engine, directory } = record;
  await (await engineOf(engine).images()).stopServer(context, directory);
  await rm(directory, { recursive: true, force: true, maxRetries: 3 });
  await rm(join(recordsFolder(context), `${id}.json`), { force: true });
}

/** Returns the running servers of this machine, and removes what killed ones have left; those of other hosts stay. */
export async function sweepServers(context: Context): Promise<RunningServer[]> {
  const { running, dead } = await findServers(context);
  for (const record of dead) await removeServer(context, record);
  if (dead.length > 0) await removeDeadStagings(stagingRoot(context.configuration.settings.working_directory));
  return running;
}

/** Returns the running servers of this machine, and those that have lost their process. */
export async function findServers(context: Context): Promise<{ running: RunningServer[]; dead: ServerRecord[] }> {
  const running: RunningServer[] = [];
  const dead: ServerRecord[] = [];
  for (const record of await readRecords(context)) {
    const { engine, owner, port, directory } = record;
    const isOwned = await isAlive(owner);
    if (isOwned === false) dead.push(record);
    else if (isOwned && port !== null) {
      const pid = await (await engineOf(engine).images()).findServer(context, directory);
      const url = record.url ?? `postgres://tool@127.0.0.1:${port}/${record.database}`;
      if (pid !== null) running.push({ ...record, port, url, pid });
    }
  }
  return { running, dead };
}

/** Ends the servers of this process, apart from detached ones. */
export async function removeOwnServers(context: Context): Promise<void> {
  for (const record of await ownOf(await readRecords(context))) await removeServer(context, record);
}

/** Returns those that end with this process. */
export async function ownOf<Record extends ServerRecord>(records: Record[]): Promise<Record[]> {
  const own = await identityOf();
  return records.filter(({ owner }) => isDeepStrictEqual(owner, own));
}

async function readRecords(context: Context): Promise<ServerRecord[]> {
  const names = (await readdir(recordsFolder(context)).catch(() => [])).filter((name) =>
    /^[0-9a-f]{8}\.json$/.test(name),
  );
  const records: ServerRecord[] = [];
  for (const name of names) {
    const record = await readState(context, fileOf(name)).catch(() => undefined);
    if (record && name === `${record.id}.json` && (await isOwn(context, record))) records.push(record);
  }
  return records;
}

/** A record is input: its folder is one that `createServer` has made, or none. TMPDIR may be another by now. */
async function isOwn(context: Context, { id, directory, engine }: ServerRecord): Promise<boolean> {
  if (!isAbsolute(directory) || basename(directory) !== `${PREFIX}${id}`) return false;
  const facts = await lstat(directory).catch(() => null);
  if (facts === null) return true;
  if (!facts.isDirectory() || (facts.mode & 0o777) !== MODE) return false;
  const self = process.getuid?.();
  if (self === undefined || facts.uid === self) return true;
  // Of root's servers, the account that they run as owns the folder.
  const { user } = await (await engineOf(engine).images()).findHome(context, recordsFolder(context));
  return facts.uid === user?.uid;
}
