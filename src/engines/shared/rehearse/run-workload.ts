import { setTimeout as pause } from 'node:timers/promises';
import { UserError } from '../../../runtime/errors.ts';
import type { ObservedWorkload, WorkloadOptions, WorkloadWait } from '../../facets/rehearse.ts';
import type { ScriptPart } from '../script/split-script.ts';

const MOST_STATEMENTS = 1000;
const MOST_BYTES = 1024 * 1024;
const MOST_WAITS = 20;
/** Milliseconds between the statements of a session, and between two looks at who waits for whom. */
const PAUSE_MS = 10;
const LOOK_MS = 20;
/** A statement that runs when the workload ends is waited for so long. */
const GRACE_MS = 1000;

/** The sessions of a workload on an engine; disposing ends its sessions at once, with what they run. */
export interface WorkloadSessions extends AsyncDisposable {
  open: () => Promise<WorkloadSession>;
  /** Reads, for each session of the database that waits, those that it waits for. */
  waiting: () => Promise<ReadonlyMap<number, readonly number[]>>;
}

export interface WorkloadSession {
  pid: number;
  /** Resolves with the server's error, values masked; rejects where the session is lost. */
  run: (statement: Buffer) => Promise<string | null>;
}

interface WorkloadRunOptions extends WorkloadOptions {
  parts: AsyncIterable<ScriptPart>;
  connect: () => Promise<WorkloadSessions>;
  now: () => number;
  /** The statement of an observed session. */
  runningOf: (pid: number) => string | null;
}

export interface RunningWorkload {
  stop: () => Promise<ObservedWorkload>;
}

interface RunningSession extends WorkloadSession {
  /** The statement of the migration that its own one waits for. */
  blockedBy: string | null;
}

/** Runs the statements of a file in sessions of its own, again and again, and notes which of them wait for the migration. */
export async function startWorkload(options: WorkloadRunOptions): Promise<RunningWorkload> {
  const { file, parts, connect, sessions: count, now, runningOf } = options;
  const statements = await readStatements(file, parts);
  await using opened = new AsyncDisposableStack();
  const { open, waiting } = opened.use(await connect());
  const openRunning = async (): Promise<RunningSession> => ({ ...(await open()), blockedBy: null });
  const sessions = await Promise.all(Array.from({ length: count }, openRunning));
  const ending = new AbortController();
  const found: ObservedWorkload = { sessions: count, statements: 0, failed: 0, firstError: null, waits: [] };
  const keep = (wait: WorkloadWait): void => {
    found.waits.push(wait);
    found.waits.sort((one, other) => other.durationMs - one.durationMs).splice(MOST_WAITS);
  };
  const run = async (session: RunningSession): Promise<void> => {
    for (let next = 0; !ending.signal.aborted; next += 1) {
      const statement = statements[next % statements.length] ?? Buffer.alloc(0);
      const atMs = now();
      session.blockedBy = null;
      const error = await session.run(statement);
      found.statements += 1;
      keep({ statement: statement.toString('utf8'), atMs, durationMs: now() - atMs, blockedBy: session.blockedBy });
      if (error !== null) {
        found.failed += 1;
        found.firstError ??= error;
      }
      await pause(PAUSE_MS, undefined, { signal: ending.signal }).catch(() => {});
    }
  };
  const look = async (): Promise<void> => {
    while (!ending.signal.aborted) {
      const sample = { waiting: await waiting(), runningOf };
      for (const session of sessions) session.blockedBy ??= blockerOf(session.pid, sample);
      await pause(LOOK_MS, undefined, { signal: ending.signal }).catch(() => {});
    }
  };
  // The workload is a help only: the loss of a session fails no rehearsal.
  const running = Promise.all(sessions.map((session) => run(session).catch(() => {})));
  const looking = look().catch(() => {});
  const owned = opened.move();
  return {
    async stop() {
      ending.abort();
      await Promise.race([running, pause(GRACE_MS)]);
      await looking;
      await owned.disposeAsync();
      await running;
      return found;
    },
  };
}

async function readStatements(file: string, parts: AsyncIterable<ScriptPart>): Promise<Buffer[]> {
  const statements: Buffer[] = [];
  let total = 0;
  for await (const part of parts) {
    if (part.kind !== 'statement') continue;
    total += part.bytes.length;
    if (part.hasRows || statements.length === MOST_STATEMENTS || total > MOST_BYTES) throw notAWorkload(file);
    statements.push(part.bytes);
  }
  if (statements.length === 0) throw notAWorkload(file);
  return statements;
}

function notAWorkload(file: string): UserError {
  return new UserError('invalid_value', `${file} is no workload: it has no statement, too many, or rows of data`, {
    hint: `Use 1 to ${MOST_STATEMENTS} statements, such as the queries of the application.`,
  });
}

/** Behind another session of the workload it waits for what that one waits for. */
function blockerOf(
  pid: number,
  {
    waiting,
    runningOf,
  }: { waiting: ReadonlyMap<number, readonly number[]>; runningOf: (pid: number) => string | null },
): string | null {
  const direct = waiting.get(pid) ?? [];
  const blockers = [...direct, ...direct.flatMap((other) => waiting.get(other) ?? [])];
  return blockers.flatMap((blocker) => runningOf(blocker) ?? []).at(0) ?? null;
}
