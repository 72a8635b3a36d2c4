import { UserError } from '../../../runtime/errors.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { ObservedRehearsal, RehearsalObserver } from '../../facets/rehearse.ts';
import { connectionLost } from '../../shared/connection/explain-errors.ts';
import { LOOPBACK } from '../../shared/rehearse/loopback-proxy.ts';
import { createRecorder } from '../../shared/rehearse/recorder.ts';
import { type RunningWorkload, startWorkload } from '../../shared/rehearse/run-workload.ts';
import { SAMPLE_INTERVAL_MS, startSampling } from '../../shared/rehearse/sample-locks.ts';
import { readServer } from '../catalog/introspect.ts';
import { connect } from '../connection/connect.ts';
import { ConnectionLost } from '../connection/session-errors.ts';
import { parseMysqlUrl, urlWithPassword } from '../connection/url.ts';
import { acceptedStatements } from '../restore/script/accept-statement.ts';
import { currentDatabase } from '../restore/script/run-file.ts';
import { startProxy } from './proxy.ts';
import { readRehearsalFacts } from './read-facts.ts';
import { lockReader, modeText, STRONG_MODES } from './read-locks.ts';
import { lockedRelations, readFacts, rewritesBetween } from './relations.ts';
import { runSqlFile } from './run-sql-file.ts';
import { workloadSessions } from './workload-sessions.ts';

const NO_SAMPLES = { samples: 0, longestGapMs: 0 };

/** Observes the statements, locks and files of a database until it is disposed. */
export async function observe(context: EngineContext, url: DatabaseUrl): Promise<RehearsalObserver> {
  await using opened = new AsyncDisposableStack();
  const session = opened.use(await connect(context, url));
  const { flavour } = await readServer(session);
  const place = { flavour, database: url.database ?? '' };
  const before = await readFacts(session, place);
  if (!before.seesFiles) context.report({ event: 'warning', code: 'rewrites_unseen', message: UNSEEN });
  const facts = await readRehearsalFacts(session, before);
  const plain = await currentDatabase(opened.use(await connect(context, url, { settings: [] })));
  if (plain.hex !== (await currentDatabase(session)).hex) throw ledElsewhere();
  const { mode: sqlMode } = plain;
  const read = await lockReader(session, place);
  const recorder = createRecorder({ relations: lockedRelations(before), strongModes: STRONG_MODES, modeText });
  const sampler = read && startSampling({ read, now: recorder.now, add: recorder.add });
  const proxy = await startProxy({ url, recorder, sqlMode, look: async () => sampler?.look() });
  opened.use(proxy);
  let workload: RunningWorkload | null = null;
  opened.defer(async () => void (await workload?.stop()));
  const owned = opened.move();
  const own = throughProxy(url, proxy.port);
  return {
    url: own,
    runFile: (file, signal) => runSqlFile({ url: own, file, sqlMode, signal }),
    async startWorkload(options) {
      const { now, runningOf } = recorder;
      const parts = acceptedStatements(options.file, sqlMode);
      const connect = () => workloadSessions({ url, flavour, signal: options.signal });
      workload = await startWorkload({ ...options, parts, connect, now, runningOf });
    },
    finish: explainingLoss(url, async () => {
      const observedWorkload = await workload?.stop();
      workload = null;
      const { samples, longestGapMs } = (await sampler?.stop()) ?? NO_SAMPLES;
      const ended = recorder.end();
      const after = await readFacts(session, place);
      return {
        ...{ ...ended, facts, ...(observedWorkload && { workload: observedWorkload }) },
        rewrites: rewritesBetween(before, after),
        walBytes: before.redo === null || after.redo === null ? null : Math.max(0, after.redo - before.redo),
        ...{ sizeBefore: before.sizeBytes, sizeAfter: after.sizeBytes },
        sampling: { intervalMs: SAMPLE_INTERVAL_MS, samples, longestGapMs },
      };
    }),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** The server may have died in the middle. */
function explainingLoss(url: DatabaseUrl, finish: () => Promise<ObservedRehearsal>): () => Promise<ObservedRehearsal> {
  return () =>
    finish().catch((cause) => {
      throw cause instanceof ConnectionLost ? connectionLost(url, { details: [cause.message], cause }) : cause;
    });
}

const UNSEEN = 'Which tables are rewritten is not known: the user of the URL needs the right PROCESS';

function ledElsewhere(): UserError {
  return new UserError('rehearsal_unobservable', 'init_connect of the server leads sessions into another database', {
    hint: 'Remove USE from init_connect of the server.',
  });
}

/** The same database and user; no TLS on this machine. */
function throughProxy({ localPorts: _, ...url }: DatabaseUrl, port: number): DatabaseUrl {
  return parseMysqlUrl(
    urlWithPassword({ ...url, hosts: [{ host: LOOPBACK, port }], parameters: {}, inContainer: false }),
  );
}
