import { UserError } from '../../../runtime/errors.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { ObservedRehearsal, RehearsalObserver } from '../../facets/rehearse.ts';
import { connectionLost } from '../../shared/connection/explain-errors.ts';
import { LOOPBACK } from '../../shared/rehearse/loopback-proxy.ts';
import { createRecorder } from '../../shared/rehearse/recorder.ts';
import { type RunningWorkload, startWorkload } from '../../shared/rehearse/run-workload.ts';
import { SAMPLE_INTERVAL_MS, startSampling } from '../../shared/rehearse/sample-locks.ts';
import { readScript } from '../../shared/script/split-script.ts';
import { directAddress } from '../connection/direct-address.ts';
import { ConnectionLost, SqlError } from '../connection/session-errors.ts';
import { parsePostgresUrl, type SessionSettings, urlWithPassword } from '../connection/url.ts';
import { openWire, type Wire } from '../connection/wire.ts';
import type { WireAddress } from '../connection/wire-login.ts';
import { createSplitter } from '../restore/script/split.ts';
import { startProxy } from './proxy.ts';
import { readRehearsalFacts } from './read-facts.ts';
import { modeText, prepareLocks, readLocks, STRONG_MODES } from './read-locks.ts';
import { lockedRelations, queryRows, readFacts, rewritesBetween } from './relations.ts';
import { runSqlFile } from './run-sql-file.ts';
import { workloadSessions } from './workload-sessions.ts';

const SETTINGS = { search_path: 'pg_catalog', client_min_messages: 'warning', statement_timeout: '0' };

/** Observes the statements, locks and files of a database until it is disposed. */
export async function observe(context: EngineContext, url: DatabaseUrl): Promise<RehearsalObserver> {
  const address = await addressOf(context, url);
  await using opened = new AsyncDisposableStack();
  const wire = await openWire(address, { settings: SETTINGS, signal: context.signal });
  opened.defer(() => wire.end());
  const before = await readFacts(wire);
  const facts = await readRehearsalFacts({ query: (statement) => queryRows(wire, statement) });
  await prepareLocks(wire);
  const recorder = createRecorder({ relations: lockedRelations(before), strongModes: STRONG_MODES, modeText });
  const settings = await endingWhenLeft(wire);
  const sampler = startSampling({ read: () => readLocks(wire), now: recorder.now, add: recorder.add });
  const proxy = await startProxy({ address, recorder, settings, look: sampler.look });
  opened.use(proxy);
  let workload: RunningWorkload | null = null;
  opened.defer(async () => void (await workload?.stop()));
  const owned = opened.move();
  const own = throughProxy(url, proxy.port);
  return {
    url: own,
    runFile: (file, signal) => runSqlFile({ ...address, encryption: null }, { file, signal, stream: proxy.connect }),
    async startWorkload(options) {
      const { now, runningOf } = recorder;
      const parts = readScript(options.file, createSplitter({ asFile: true }));
      const connect = () => workloadSessions(address, options.signal);
      workload = await startWorkload({ ...options, parts, connect, now, runningOf });
    },
    finish: explainingLoss(url, async () => {
      const observedWorkload = await workload?.stop();
      workload = null;
      const { samples, longestGapMs } = await sampler.stop();
      const ended = recorder.end();
      const after = await readFacts(wire);
      return {
        ...{ ...ended, facts, ...(observedWorkload && { workload: observedWorkload }) },
        rewrites: rewritesBetween(before, after),
        walBytes: before.wal === null || after.wal === null ? null : Math.max(0, after.wal - before.wal),
        ...{ sizeBefore: before.sizeBytes, sizeAfter: after.sizeBytes },
        sampling: { intervalMs: SAMPLE_INTERVAL_MS, samples, longestGapMs },
      };
    }),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Has the server end what a killed rehearsal runs. Before version 14, and on some systems, it cannot. */
async function endingWhenLeft(wire: Wire): Promise<SessionSettings> {
  const settings = { client_connection_check_interval: '1000' };
  const isKnown = await wire.execute('SET client_connection_check_interval = 1000').then(
    () => true,
    (error) => {
      if (error instanceof SqlError) return false;
      throw error;
    },
  );
  return isKnown ? settings : {};
}

/** The server may have died in the middle. */
function explainingLoss(url: DatabaseUrl, finish: () => Promise<ObservedRehearsal>): () => Promise<ObservedRehearsal> {
  return () =>
    finish().catch((cause) => {
      throw cause instanceof ConnectionLost ? connectionLost(url, { details: [cause.message], cause }) : cause;
    });
}

/** The command connects from this machine, whatever runs the client programs; variables of libpq are not its way. */
async function addressOf({ runner, environment, signal }: EngineContext, url: DatabaseUrl): Promise<WireAddress> {
  signal.throwIfAborted();
  const { tunnel: _, options: __, application_name: ___, connect_timeout: ____, ...parameters } = url.parameters;
  const variables = Object.entries(environment).filter(([name]) => !/^PG[A-Z]+$/.test(name));
  const local = { runner: { ...runner, id: 'local' as const }, environment: Object.fromEntries(variables) };
  const address = await directAddress(local, { ...url, parameters });
  if (!address) throw notObservable(url);
  const [port] = url.localPorts ?? [];
  return port === undefined ? address : { ...address, host: LOOPBACK, port };
}

/** The same database and user; no TLS on this machine. */
function throughProxy(url: DatabaseUrl, port: number): DatabaseUrl {
  const { localPorts: _, ...direct } = url;
  const { options } = url.parameters;
  const parameters = { ...(options !== undefined && { options }), sslmode: 'disable' };
  return parsePostgresUrl(urlWithPassword({ ...direct, hosts: [{ host: LOOPBACK, port }], parameters }));
}

function notObservable({ display }: DatabaseUrl): UserError {
  return new UserError('rehearsal_unobservable', `The statements of a command on ${display} cannot be observed`, {
    hint: 'Use a URL with user, database and one host, without a service or a container: postgres://user:password@host/database',
  });
}
