import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { isRunning } from '../../../process/is-running.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { ServerHome } from '../../shared/server/server-home.ts';
import { serverNotStarted } from '../../shared/server/start-server.ts';
import { startSupervised } from '../../shared/server/supervised-server.ts';
import { TEMPORARY_SETTINGS } from '../server/throw-away-server.ts';
import { DATA, findServer, isReady, PID_FILE, stopServer } from './running-server.ts';

export const PRODUCT = 'PostgreSQL';

interface ServerOptions {
  /** Folder of the programs. */
  bin: string;
  home: ServerHome;
  port: number;
  settings: Record<string, string>;
  /** The server ends by itself, not with this program. */
  detached: boolean;
  /** Its files are removed when this program is killed. */
  removes: boolean;
}

interface RunningServer {
  pid: number;
  port: number;
  ended: Promise<{ stderr: string }>;
}

const SETTINGS = {
  ...TEMPORARY_SETTINGS,
  log_min_messages: 'fatal',
  log_min_error_statement: 'panic',
  // In the data directory, where nothing remains of a killed server.
  dynamic_shared_memory_type: 'mmap',
  default_text_search_config: 'pg_catalog.english',
};

const ACCESS = 'host all all 127.0.0.1/32 scram-sha-256\n';

const DEADLINE_MS = 60_000;
const LOOK_EVERY_MS = 10;

/** Writes all files that make a server do something; none of them is taken from elsewhere. */
export async function writeSettings(home: ServerHome, settings: Record<string, string>): Promise<void> {
  const lines = Object.entries({ ...SETTINGS, ...settings }).map(([name, value]) => `${name} = '${value}'\n`);
  await home.write(join(DATA, 'postgresql.conf'), lines.join(''));
  await home.write(join(DATA, 'postgresql.auto.conf'), '');
  await home.write(join(DATA, 'pg_hba.conf'), ACCESS);
  await home.write(join(DATA, 'pg_ident.conf'), '');
}

/** Starts a server on the data of a folder, and waits until it accepts connections. */
export async function runServer(context: EngineContext, options: ServerOptions): Promise<RunningServer> {
  const { home, port, settings, detached } = options;
  await writeSettings(home, { ...settings, port: String(port) });
  await rm(join(home.directory, PID_FILE), { force: true });
  const server = detached ? await startDetached(context, options) : startAttached(context, options);
  for (const end = Date.now() + DEADLINE_MS; Date.now() < end && !context.signal.aborted && server.runs(); ) {
    const pid = (await isReady(home.directory)) ? await findServer(context, home.directory) : null;
    if (pid !== null) return { pid, port, ended: server.ended };
    await setTimeout(LOOK_EVERY_MS);
  }
  await stopServer(context, home.directory);
  context.signal.throwIfAborted();
  throw serverNotStarted(PRODUCT, 'it did not become ready', { stderr: await server.said() });
}

interface StartedServer extends Pick<RunningServer, 'ended'> {
  runs(): boolean;
  /** Returns its output. */
  said(): Promise<string>;
}

/** Ends with this program, however that ends. */
function startAttached(context: EngineContext, { bin, home, removes }: ServerOptions): StartedServer {
  const { directory, user } = home;
  const { ended } = startSupervised(context, {
    words: [join(bin, 'postgres'), '-D', join(directory, DATA)],
    directory: removes ? directory : null,
    ...{ user, lastSignal: 'QUIT' },
  });
  let over = false;
  const end = (): void => {
    over = true;
  };
  ended.then(end, end);
  return { ended, runs: () => !over, said: async () => (await ended).stderr };
}

const LOG = 'server.log';
const DETACH = 'umask 077; log=$1; shift; "$0" "$@" </dev/null >"$log" 2>&1 & echo $!';

async function startDetached({ runner, signal }: EngineContext, { bin, home }: ServerOptions): Promise<StartedServer> {
  const { directory, user } = home;
  const words = [join(bin, 'postgres'), join(directory, LOG), '-D', join(directory, DATA)];
  const { stdout } = await runner.run(
    { file: '/bin/sh', args: ['-c', DETACH, ...words], env: { LC_ALL: 'C' }, detached: true, ...(user && { user }) },
    { signal },
  );
  return { ended: new Promise(() => {}), runs: () => isRunning(Number(stdout)), said: () => home.read(LOG) };
}
