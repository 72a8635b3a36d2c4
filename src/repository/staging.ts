import { randomBytes } from 'node:crypto';
import { lstat, mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import { isRunning } from '../process/is-running.ts';
import { identityOf, isAlive, processIdentity } from '../process/process-identity.ts';
import { mapWithConcurrency } from '../runtime/map-with-concurrency.ts';
import { parseJsonAs } from '../text/parse-json.ts';

export interface StagingFolder extends AsyncDisposable {
  path(name: string): string;
  folder(name: string): Promise<string>;
}

export function stagingRoot(workingDirectory: string): string {
  return join(workingDirectory, 'staging');
}

/** Process id and eight random digits; anything else in `root` is foreign. */
const NAME = /^(\d+)-[0-9a-f]{8}$/;

const OWNER = 'owner.json';

const ownerSchema = v.object({ ...processIdentity.entries, started: v.string() });

type Owner = v.InferOutput<typeof ownerSchema>;

const SIGN_OF_LIFE_MS = 60_000;

const HEAD_REQUESTS = 16;

/** Age of a folder without owner, above which its process was killed before it could write one. */
const CREATED_MS = 60_000;

/** Expiry of a folder of another host without updates; a machine may sleep for a night. */
const STALE_AFTER_MS = 24 * 60 * 60 * 1000;

export async function createStaging(root: string): Promise<StagingFolder> {
  await mkdir(root, { recursive: true, mode: 0o700 });
  await removeDeadStagings(root);
  const directory = join(root, `${process.pid}-${randomBytes(4).toString('hex')}`);
  await mkdir(directory, { mode: 0o700 });
  const owner = join(directory, OWNER);
  try {
    const owned: Owner = { ...(await identityOf()), started: new Date().toISOString() };
    // Under another name first: a killed process leaves no incomplete owner.
    await writeFile(`${owner}.new`, JSON.stringify(owned), { mode: 0o600, flag: 'wx' });
    await rename(`${owner}.new`, owner);
  } catch (error) {
    await rm(directory, { recursive: true, force: true });
    throw error;
  }
  const signs = setInterval(() => void showLife(owner), SIGN_OF_LIFE_MS).unref();
  return {
    path: (name) => join(directory, name),
    async folder(name) {
      await mkdir(join(directory, name), { mode: 0o700 });
      return join(directory, name);
    },
    async [Symbol.asyncDispose]() {
      clearInterval(signs);
      await rm(directory, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

export async function liveStagings(root: string): Promise<number> {
  const live = await mapWithConcurrency(await names(root), HEAD_REQUESTS, (name) => isLive(join(root, name), name));
  return live.filter(Boolean).length;
}

/** Removes the folders of processes that were killed. */
export async function removeDeadStagings(root: string): Promise<void> {
  for (const name of await names(root)) {
    const directory = join(root, name);
    const isNamed = (await readOwner(directory, name)) !== null;
    if ((!isNamed && (await ageOf(directory)) < CREATED_MS) || (await isLive(directory, name))) continue;
    await rm(directory, { recursive: true, force: true });
  }
}

/** In ms; 0 when it is gone. */
async function ageOf(directory: string): Promise<number> {
  const facts = await stat(directory).catch(() => null);
  return facts ? Date.now() - facts.mtimeMs : 0;
}

async function names(root: string): Promise<string[]> {
  const entries = await readdir(root, { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isDirectory() && NAME.test(entry.name)).map(({ name }) => name);
}

async function isLive(directory: string, name: string): Promise<boolean> {
  const owner = await readOwner(directory, name);
  // Just being created, or by a former version.
  if (owner === null) return isRunning(Number.parseInt(name, 10));
  const alive = await isAlive(owner);
  if (alive !== null) return alive;
  const { mtimeMs } = await stat(join(directory, OWNER)).catch(() => ({ mtimeMs: 0 }));
  return Date.now() - mtimeMs < STALE_AFTER_MS;
}

async function readOwner(directory: string, name: string): Promise<Owner | null> {
  const path = join(directory, OWNER);
  const facts = await lstat(path).catch(() => null);
  if (!facts?.isFile() || facts.size > 10_000) return null;
  const text = await readFile(path, 'utf8').catch(() => '');
  const owner = parseJsonAs(ownerSchema, text);
  return owner?.pid === Number.parseInt(name, 10) ? owner : null;
}

async function showLife(owner: string): Promise<void> {
  const now = new Date();
  // The run itself reports a full disk.
  await utimes(owner, now, now).catch(() => {});
}
