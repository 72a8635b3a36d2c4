import { join } from 'node:path';
import type { EngineContext } from '../../engine-context.ts';
import { type OwnServerOptions, runOwnServer } from '../../shared/server/own-server.ts';
import type { ServerHome } from '../../shared/server/server-home.ts';
import { TEMPORARY_SETTINGS } from '../server/throw-away-server.ts';
import { DATA, isReady, KIND } from './running-server.ts';

export const PRODUCT = 'PostgreSQL';

interface ServerOptions extends Pick<OwnServerOptions, 'home' | 'detached' | 'removes'> {
  /** Folder of the programs. */
  bin: string;
  port: number;
  settings: Record<string, string>;
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

/** Writes all files that make a server do something; none of them is taken from elsewhere. */
export async function writeSettings(home: ServerHome, settings: Record<string, string>): Promise<void> {
  const lines = Object.entries({ ...SETTINGS, ...settings }).map(([name, value]) => `${name} = '${value}'\n`);
  await home.write(join(DATA, 'postgresql.conf'), lines.join(''));
  await home.write(join(DATA, 'postgresql.auto.conf'), '');
  await home.write(join(DATA, 'pg_hba.conf'), ACCESS);
  await home.write(join(DATA, 'pg_ident.conf'), '');
}

/** Starts a server on the data of a folder, and waits until it accepts connections. */
export async function runServer(context: EngineContext, { bin, port, settings, ...options }: ServerOptions) {
  const { directory } = options.home;
  await writeSettings(options.home, { ...settings, port: String(port) });
  const words: OwnServerOptions['words'] = [join(bin, 'postgres'), '-D', join(directory, DATA)];
  const isReadyNow = () => isReady(directory);
  const server = await runOwnServer(context, KIND, { ...options, product: PRODUCT, words, isReady: isReadyNow });
  return { ...server, port };
}
