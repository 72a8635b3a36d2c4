import { open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { isRunning } from '../../../process/is-running.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { ServerHome } from './server-home.ts';
import { serverNotStarted } from './start-server.ts';
import { type ServerStart, startSupervised } from './supervised-server.ts';

/** Finds servers, which may outlive this program, among the processes, and ends them. */
export interface ServerKind extends Pick<ServerStart, 'lastSignal'> {
  /** In the folder of a server; its first line is the id of the process. */
  pidFile: string;
  /** Part of the arguments, which every user may read, unlike the current folder of a process. */
  argumentOf(directory: string): string;
  /** The signals that end it, the mildest first. */
  signals: NodeJS.Signals[];
}

const STOP_MS = 10_000;
const LOOK_EVERY_MS = 10;

/** Finds the process that runs on the data of a folder. A process that only has its id is another one. */
export async function findOwnServer(context: EngineContext, { pidFile, argumentOf }: ServerKind, directory: string) {
  const [first = ''] = await firstLines(join(directory, pidFile));
  // A single-user process of PostgreSQL has a negative one.
  const pid = Math.abs(Number(first));
  if (!Number.isSafeInteger(pid) || pid <= 1 || !isRunning(pid)) return null;
  return (await argumentsOf(context, pid)).includes(argumentOf(directory)) ? pid : null;
}

async function argumentsOf({ runner }: EngineContext, pid: number): Promise<string> {
  const words = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => null);
  if (words !== null) return words.replaceAll('\0', ' ');
  // Systems without /proc.
  const listed = await runner.run({ file: 'ps', args: ['-ww', '-o', 'args=', '-p', String(pid)] }).catch(() => null);
  return listed?.stdout ?? '';
}

const MOST_BYTES = 4096;

export async function firstLines(path: string): Promise<string[]> {
  try {
    await using handle = await open(path, 'r');
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(MOST_BYTES), 0, MOST_BYTES, 0);
    return buffer.subarray(0, bytesRead).toString().split('\n');
  } catch {
    return [];
  }
}

/** Stops it, at once where a clean shutdown takes too long. */
export async function stopOwnServer(context: EngineContext, kind: ServerKind, directory: string): Promise<void> {
  for (const signal of kind.signals) {
    const pid = await findOwnServer(context, kind, directory);
    if (pid === null) return;
    try {
      process.kill(pid, signal);
    } catch {
      return;
    }
    for (const end = Date.now() + STOP_MS; Date.now() < end; ) {
      if ((await findOwnServer(context, kind, directory)) === null) return;
      await setTimeout(LOOK_EVERY_MS);
    }
  }
}

export interface OwnServerOptions {
  product: string;
  words: ServerStart['words'];
  home: ServerHome;
  /** The server ends by itself, not with this program. */
  detached: boolean;
  /** Its files are removed when this program is killed. */
  removes: boolean;
  /** Rejects where it never will be. */
  isReady(): Promise<boolean>;
}

export interface OwnServer {
  pid: number;
  /** Never resolves for a detached one. */
  ended: Promise<{ stderr: string }>;
}

const START_MS = 60_000;

/** Starts a server on the files of a folder, and waits until it accepts connections. */
export async function runOwnServer(context: EngineContext, kind: ServerKind, options: OwnServerOptions) {
  const { home, product, detached } = options;
  await rm(join(home.directory, kind.pidFile), { force: true });
  const server = await (detached ? startDetached(context, kind, options) : startAttached(context, kind, options));
  const pid = await untilReady(context, kind, { ...options, server }).catch(() => null);
  if (pid !== null) return { pid, ended: server.ended };
  await server.stop();
  context.signal.throwIfAborted();
  throw serverNotStarted(product, 'it did not become ready', { stderr: await server.said() });
}

async function untilReady(
  context: EngineContext,
  kind: ServerKind,
  { server, isReady, home }: OwnServerOptions & { server: StartedServer },
): Promise<number | null> {
  for (const end = Date.now() + START_MS; Date.now() < end && !context.signal.aborted && server.runs(); ) {
    const pid = (await isReady()) ? await findOwnServer(context, kind, home.directory) : null;
    if (pid !== null) return pid;
    await setTimeout(LOOK_EVERY_MS);
  }
  return null;
}

interface StartedServer extends Pick<OwnServer, 'ended'> {
  runs(): boolean;
  /** Returns its output. */
  said(): Promise<string>;
  stop(): Promise<void>;
}

/** Ends with this program, however that ends. */
async function startAttached(
  context: EngineContext,
  { lastSignal }: ServerKind,
  { words, home: { directory, user }, removes }: OwnServerOptions,
): Promise<StartedServer> {
  const supervised = startSupervised(context, { words, directory: removes ? directory : null, user, lastSignal });
  const { ended } = supervised;
  let over = false;
  const end = (): void => {
    over = true;
  };
  ended.then(end, end);
  return {
    ended,
    runs: () => !over,
    said: async () => (await ended).stderr,
    // Some write their id late.
    stop: () => supervised.stop(lastSignal),
  };
}

const LOG = 'server.log';
/** The id of the process is known before it is a server: some write it late, and have to be found until then. */
const DETACH = `umask 077; log=$1 pid=$2; shift 2
/bin/sh -c 'echo $$ >"$0"; exec "$@"' "$pid" "$0" "$@" </dev/null >"$log" 2>&1 & echo $!`;

async function startDetached(
  context: EngineContext,
  kind: ServerKind,
  { words: [file, ...args], home }: OwnServerOptions,
): Promise<StartedServer> {
  const { runner, signal } = context;
  const { directory, user } = home;
  const words = [file, join(directory, LOG), join(directory, kind.pidFile), ...args];
  const { stdout } = await runner.run(
    { file: '/bin/sh', args: ['-c', DETACH, ...words], env: { LC_ALL: 'C' }, detached: true, ...(user && { user }) },
    { signal },
  );
  return {
    ended: new Promise(() => {}),
    runs: () => isRunning(Number(stdout)),
    said: () => home.read(LOG),
    stop: () => stopOwnServer(context, kind, directory),
  };
}
