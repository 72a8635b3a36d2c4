import type { ObservedLock, ObservedStatement } from '../../facets/rehearse.ts';
import { createLockRecord, type LockRecord, type LockRecordOptions } from './lock-record.ts';

/** A statement of a session that has ended. Times are milliseconds since the observation began. */
export interface SessionStatement extends Pick<ObservedStatement, 'text' | 'inTransaction' | 'error' | 'affected'> {
  startedAt: number;
  endedAt: number;
}

export type RunningStatement = Pick<SessionStatement, 'text' | 'startedAt'>;

/** Events of a session, which a proxy reports. */
export interface SessionRecord {
  /** `pid`: its process or thread of the server. */
  began: (pid: number, running: () => RunningStatement | null) => void;
  ended: (statement: SessionStatement) => void;
  /** No transaction holds locks. */
  released: () => void;
  closed: () => void;
}

export interface Recorder<Key> extends Pick<LockRecord<Key>, 'add'> {
  now: () => number;
  /** The statement that an observed session runs. */
  runningOf: (pid: number) => string | null;
  session: () => SessionRecord;
  end: () => { statements: ObservedStatement[]; leftOut: number; locks: ObservedLock[] };
}

/** Keeps the statements and locks of all sessions of an observation, which begins now. */
export function createRecorder<Key>(
  options: Pick<LockRecordOptions<Key>, 'relations' | 'strongModes' | 'modeText'>,
): Recorder<Key> {
  const beganAt = performance.now();
  const now = (): number => performance.now() - beganAt;
  const list = createStatementList();
  const running = new Map<number, () => RunningStatement | null>();
  let count = 0;
  const record = createLockRecord({
    ...options,
    runningOf: (pid) => running.get(pid)?.() ?? null,
    isObserved: (pid) => running.has(pid),
  });
  return {
    now,
    add: record.add,
    runningOf: (pid) => running.get(pid)?.()?.text ?? null,
    session() {
      count += 1;
      const session = count;
      let own: number | null = null;
      const release = (): void => {
        if (own !== null) record.release(own, now());
      };
      return {
        began(pid, runningOf) {
          own = pid;
          running.set(pid, runningOf);
        },
        ended: ({ startedAt, endedAt, ...statement }) =>
          list.add({ ...statement, atMs: startedAt, durationMs: endedAt - startedAt, session }),
        released: release,
        closed() {
          release();
          if (own !== null) running.delete(own);
        },
      };
    },
    end: () => ({ locks: record.end(now()), ...list.end() }),
  };
}

const MOST_STATEMENTS = 2000;

/** Keeps the longest statements, and those that failed. */
function createStatementList() {
  let kept: ObservedStatement[] = [];
  let leftOut = 0;
  const shrink = (): void => {
    const rank = ({ error, durationMs }: ObservedStatement): number => (error ? Number.POSITIVE_INFINITY : durationMs);
    kept = kept.sort((one, other) => rank(other) - rank(one)).slice(0, MOST_STATEMENTS);
  };
  return {
    add(statement: ObservedStatement) {
      kept.push(statement);
      if (kept.length < 2 * MOST_STATEMENTS) return;
      shrink();
      leftOut += MOST_STATEMENTS;
    },
    end() {
      leftOut += Math.max(0, kept.length - MOST_STATEMENTS);
      shrink();
      return { statements: kept.toSorted((one, other) => one.atMs - other.atMs), leftOut };
    },
  };
}
