import { startThrowAwayServer } from '../engines/postgres/server/throw-away-server.ts';
import { localRunner } from '../process/local.ts';
import { type Report, withStep } from '../runtime/events.ts';

export interface HubDatabase extends AsyncDisposable {
  url: string;
}

export interface HubDatabaseOptions {
  report: Report;
  environment: NodeJS.ProcessEnv;
  clock: () => Date;
}

/** Starts a throw-away PostgreSQL server for a trial of the hub. Step: `server`. */
export async function startHubDatabase({ report, environment, clock }: HubDatabaseOptions): Promise<HubDatabase> {
  const runner = localRunner({ environment, report: () => {} });
  // It outlives the signal that ends the hub: requests that have begun still need it.
  const { signal } = new AbortController();
  const context = { runner, report: () => {}, signal, clock, environment };
  const server = await withStep(
    report,
    { step: 'server', label: 'Start a throw-away PostgreSQL server', done: 'Started a throw-away PostgreSQL server' },
    () => startThrowAwayServer(context),
  );
  return { url: server.url('postgres'), [Symbol.asyncDispose]: server.stop };
}
