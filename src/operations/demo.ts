import { randomBytes } from 'node:crypto';
import { lstat, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parsePostgresUrl, urlWithPassword, withDatabase } from '../engines/postgres/connection/url.ts';
import { runScript } from '../engines/postgres/restore/script/script.ts';
import { createPlainRole } from '../engines/postgres/server/plain-role.ts';
import { startThrowAwayServer, type ThrowAwayServer } from '../engines/postgres/server/throw-away-server.ts';
import { isRunning } from '../process/is-running.ts';
import { localRunner } from '../process/local.ts';
import type { Tour } from '../results/demo-results.ts';
import type { LoadResult } from '../results/load-results.ts';
import { type Context, createContext } from '../runtime/context.ts';
import { type Report, withStep } from '../runtime/events.ts';
import { readAsset } from '../runtime/package-files.ts';
import { build } from './build/build.ts';
import { applyLoad, planLoad } from './load/load.ts';
import { applySanitize, planSanitize } from './sanitize/sanitize.ts';
import { verify } from './snapshots/verify/verify.ts';
import { applySubset, planSubset } from './subset/subset.ts';
import { applyUndo, planUndo } from './undo/undo.ts';

/** A throw-away database with sample data, and a configuration for it; disposing leaves nothing of either. */
export interface Demo extends AsyncDisposable {
  config: string;
  /** The variables to run with: without those that would change the configuration or a connection. */
  environment: NodeJS.ProcessEnv;
  /** Connection URL of the sample database, without password. */
  source: string;
}

export interface DemoOptions {
  report: Report;
  signal: AbortSignal;
  environment: NodeJS.ProcessEnv;
  clock: () => Date;
}

/** Folders of demos are called so, with the process that they belong to. */
const FOLDER = 'tool-demo-';

/** Starts a server of its own, fills it with the sample shop, and writes a configuration. Steps: `server`, `sample`. */
export async function startDemo({ report, signal, environment: given, clock }: DemoOptions): Promise<Demo> {
  const environment = withoutSettings(given);
  const runner = localRunner({ environment, report });
  const context = { runner, report, signal, clock, environment };
  await removeDeadDemos();
  const folder = await mkdtemp(join(tmpdir(), `${FOLDER}${process.pid}-`));
  let server: ThrowAwayServer | undefined;
  const dispose = async (): Promise<void> => {
    await server?.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const starting = {
      step: 'server',
      label: 'Start a throw-away PostgreSQL server',
      done: () => `Started PostgreSQL on 127.0.0.1:${server?.port}`,
    };
    const role = await withStep(report, starting, async () => {
      server = await startThrowAwayServer(context);
      return createPlainRole(context, parsePostgresUrl(server.url('postgres')));
    });
    const source = withDatabase(role, 'shop');
    const urlOf = (database: string): string => urlWithPassword(withDatabase(role, database));
    const filling = {
      step: 'sample',
      label: 'Create the sample database',
      done: `Created the sample database ${source.display}`,
    };
    await withStep(report, filling, async () => {
      const quiet = { ...context, report: () => {} };
      const file = join(folder, 'shop.sql');
      await writeFile(file, readAsset('demo/shop.sql'));
      await runScript(quiet, { url: source, file, asItIs: false, undo: false, directory: folder });
    });
    await writeFile(join(folder, 'sanitize.sql'), readAsset('demo/sanitize.sql'));
    const config = join(folder, 'tool.yml');
    await writeFile(config, configurationText(urlOf, folder), { mode: 0o600 });
    return { config, environment, source: source.display, [Symbol.asyncDispose]: dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}

/** Builds twice, verifies, loads twice, undoes, sanitizes and makes a subset, as a person would at a terminal. */
export async function tourDemo(demo: Demo, { report, signal, clock }: DemoOptions): Promise<Tour> {
  const { config, environment } = demo;
  const context = await createContext({ config, environment, cwd: '/', report, signal, clock });
  const target = 'shop';
  const built = await build(context, { target, note: 'the first' });
  const again = await build(context, { target, note: 'the same again' });
  const verified = await verify(context, { target });
  const loaded = await loadNewest(context, target);
  const reloaded = await loadNewest(context, target);
  const undone = await applyUndo(context, await planUndo(context, { target }));
  const sanitized = await applySanitize(context, await planSanitize(context, { target, strict: true }));
  const small = await applySubset(context, await planSubset(context, { target }));
  return { built, again, verified, loaded, reloaded, undone, sanitized, subset: small };
}

async function loadNewest(context: Context, target: string): Promise<LoadResult> {
  return applyLoad(context, await planLoad(context, { target }));
}

/** `TOOL_…` and libpq's variables (`PGSSLMODE`) are meant for other databases than the demo's. */
function withoutSettings(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !/^(TOOL_|PG)/.test(name)));
}

/**
 * A demo that was killed could not remove its folder. Another user could turn a folder inside of one into a link to
 * ours while it is removed.
 */
async function removeDeadDemos(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const pid = /^tool-demo-(\d+)-[A-Za-z0-9]{6}$/.exec(name)?.[1];
    if (pid === undefined || isRunning(Number(pid))) continue;
    const folder = join(tmpdir(), name);
    const facts = await lstat(folder).catch(() => null);
    const isOwn = facts?.isDirectory() && facts.uid === process.getuid?.() && (facts.mode & 0o077) === 0;
    if (isOwn || process.platform === 'win32') await rm(folder, { recursive: true, force: true }).catch(() => {});
  }
}

function configurationText(urlOf: (database: string) => string, folder: string): string {
  return `# The configuration of the demo: everything in it goes when the demo ends.
secret_key: ${randomBytes(16).toString('hex')}
working_directory: ${JSON.stringify(join(folder, 'work'))}
targets:
  shop:
    name: The whole shop
    cpus: 2
    snapshot:
      src_url: ${urlOf('shop')}
      dst_url: ${urlOf('shop_dev')}
      schema_config:
        use_default_schema: false
    sanitize:
      dst_url: ${urlOf('shop_sanitized')}
      query_file: ${JSON.stringify(join(folder, 'sanitize.sql'))}
    subset:
      src_url: ${urlOf('shop')}
      dst_url: ${urlOf('shop_small')}
      subset_tables:
        - table: public.customer
          percent: 1
      copy_tables: [public.feature_flag, "public.Gift Cards"]
      excluded_tables: [public.page_view]
  shop-public:
    name: Without the books of the billing department
    snapshot:
      src_url: ${urlOf('shop')}
      dst_url: ${urlOf('shop_public_dev')}
      schema_config:
        include_schemas: [public]
  offline:
    name: A server that does not answer
    snapshot:
      src_url: postgres://nobody@127.0.0.1:1/somewhere
`;
}
