import { setTimeout as pause } from 'node:timers/promises';
import { UserError } from '../../../runtime/errors.ts';
import type { ObservedWorkload, WorkloadOptions, WorkloadWait } from '../../facets/rehearse.ts';
import { maskValues } from '../../shared/mask-values.ts';
import { readScript } from '../../shared/script/split-script.ts';
import { SqlError } from '../connection/session-errors.ts';
import { openWire, type Wire } from '../connection/wire.ts';
import type { WireAddress } from '../connection/wire-login.ts';
import { createSplitter } from '../restore/script/split.ts';

const MOST_STATEMENTS = 1000;
const MOST_CHARACTERS = 1024 * 1024;
const MOST_WAITS = 20;
/** Milliseconds between the statements of a session, and between two looks at who waits for whom. */
const PAUSE_MS = 10;
const LOOK_MS = 20;
/** A statement that runs when the workload ends is waited for so long. */
const GRACE_MS = 1000;

interface WorkloadRunOptions extends WorkloadOptions {
  address: WireAddress;
  now: () => number;
  /** The statement of an observed session. */
  runningOf: (pid: number) => string | null;
}

export interface RunningWorkload {
  stop: () => Promise<ObservedWorkload>;
}

/** Runs the statements of a file in sessions of its own, again and again, and notes which of them wait for the migration. */
export async function startWorkload(options: WorkloadRunOptions): Promise<RunningWorkload> {
  const { address, file, sessions: count, signal, now, runningOf } = options;
  const statements = await readStatements(file);
  await using opened = new AsyncDisposableStack();
  const open = async (): Promise<Wire> => {
    const wire = await openWire(address, { settings: {}, signal });
    opened.defer(() => wire.close());
    return wire;
  };
  const monitor = await open();
  const sessions = await Promise.all(Array.from({ length: count }, () => openSession(open)));
  const ending = new AbortController();
  const found: ObservedWorkload = { sessions: count, statements: 0, failed: 0, firstError: null, waits: [] };
  const keep = (wait: WorkloadWait): void => {
    found.waits.push(wait);
    found.waits.sort((one, other) => other.durationMs - one.durationMs).splice(MOST_WAITS);
  };
  const run = async (session: WorkloadSession): Promise<void> => {
    for (let next = 0; !ending.signal.aborted; next += 1) {
      const statement = statements[next % statements.length] ?? '';
      const atMs = now();
      session.blockedBy = null;
      const error = await session.wire.execute(statement).then(
        () => null,
        (thrown: unknown) => thrown,
      );
      found.statements += 1;
      keep({ statement, atMs, durationMs: now() - atMs, blockedBy: session.blockedBy });
      if (error instanceof SqlError) {
        found.failed += 1;
        found.firstError ??= maskValues(error.message);
      } else if (error) return;
      await pause(PAUSE_MS, undefined, { signal: ending.signal }).catch(() => {});
    }
  };
  const look = async (): Promise<void> => {
    while (!ending.signal.aborted) {
      const [text = '[]'] = await monitor.query(WAITING);
      const waiting = new Map(JSON.parse(text) as [pid: number, blockers: number[]][]);
      for (const session of sessions) session.blockedBy ??= blockerOf(session.pid, { waiting, runningOf });
      await pause(LOOK_MS, undefined, { signal: ending.signal }).catch(() => {});
    }
  };
  const running = Promise.all(sessions.map(run));
  // The workload is a help only: its loss fails no rehearsal.
  const looking = look().catch(() => {});
  const owned = opened.move();
  return {
    async stop() {
      ending.abort();
      await Promise.race([running, pause(GRACE_MS)]);
      await owned.disposeAsync();
      await Promise.all([running, looking]);
      return found;
    },
  };
}

interface WorkloadSession {
  wire: Wire;
  pid: number;
  /** The statement of the migration that its own one waits for. */
  blockedBy: string | null;
}

async function openSession(open: () => Promise<Wire>): Promise<WorkloadSession> {
  const wire = await open();
  const [pid = '0'] = await wire.query('SELECT pg_backend_pid()');
  return { wire, pid: Number(pid), blockedBy: null };
}

async function readStatements(file: string): Promise<string[]> {
  const statements: string[] = [];
  let characters = 0;
  for await (const part of readScript(file, createSplitter({ asFile: true }))) {
    if (part.kind !== 'statement') continue;
    const text = part.bytes.toString('utf8');
    characters += text.length;
    if (part.hasRows || statements.length === MOST_STATEMENTS || characters > MOST_CHARACTERS) throw notAWorkload(file);
    statements.push(text);
  }
  if (statements.length === 0) throw notAWorkload(file);
  return statements;
}

function notAWorkload(file: string): UserError {
  return new UserError('invalid_value', `${file} is no workload: it has no statement, too many, or rows of data`, {
    hint: `Use 1 to ${MOST_STATEMENTS} statements, such as the queries of the application.`,
  });
}

/** Pairs of a process of this database and those that it waits for. */
const WAITING = `SELECT coalesce(json_agg(json_build_array(pid, pg_blocking_pids(pid))), '[]') FROM pg_stat_activity
  WHERE wait_event_type = 'Lock' AND datname = current_database()`;

interface WaitSample {
  waiting: Map<number, number[]>;
  runningOf: (pid: number) => string | null;
}

/** Behind another session of the workload it waits for what that one waits for. */
function blockerOf(pid: number, { waiting, runningOf }: WaitSample): string | null {
  const direct = waiting.get(pid) ?? [];
  const blockers = [...direct, ...direct.flatMap((other) => waiting.get(other) ?? [])];
  return blockers.flatMap((blocker) => runningOf(blocker) ?? []).at(0) ?? null;
}
