import type { ObservedLock } from '../../facets/rehearse.ts';

/** A lock that is held: its session, what is locked by its number or name, and the mode in the words of the catalog. */
export type LockRow<Key> = [pid: number, relation: Key, mode: string];

export interface LockSample<Key> {
  rows: LockRow<Key>[];
  /** Milliseconds: the statement was sent, its answer came. */
  sentAt: number;
  at: number;
}

export interface LockedRelation {
  table: string;
  index: string | null;
}

interface HeldLock extends LockedRelation {
  pid: number;
  mode: string;
  from: number;
  until: number | null;
  statement: string | null;
}

export interface LockRecordOptions<Key> {
  /** Tables with rows, and their indexes. */
  relations: ReadonlyMap<Key, LockedRelation>;
  /** The modes that are recorded, weakest first. */
  strongModes: readonly string[];
  modeText: (mode: string) => string;
  /** The statement that a process of an observed session runs. */
  runningOf: (pid: number) => { text: string; startedAt: number } | null;
  isObserved: (pid: number) => boolean;
}

export interface LockRecord<Key> {
  add: (sample: LockSample<Key>) => void;
  /** The transaction of an observed session has ended. */
  release: (pid: number, at: number) => void;
  /** Every lock, in the order of its beginning. */
  end: (at: number) => ObservedLock[];
}

/** Folds samples and ends of transactions into the times for which locks were held. */
export function createLockRecord<Key>(options: LockRecordOptions<Key>): LockRecord<Key> {
  const { relations, strongModes, modeText, runningOf, isObserved } = options;
  const held = new Map<string, HeldLock>();
  const ended: HeldLock[] = [];
  const released = new Map<number, number>();
  let lastAt = 0;

  const close = (key: string, lock: HeldLock, at: number): void => {
    held.delete(key);
    if (ended.length < MOST_LOCKS) ended.push({ ...lock, until: at });
  };
  return {
    add({ rows, sentAt, at }) {
      const seen = new Set<string>();
      for (const [pid, relation, mode] of rows) {
        const of = relations.get(relation);
        // Its answer was under way when the transaction ended.
        if (!of || (released.get(pid) ?? 0) >= sentAt) continue;
        const key = `${pid} ${relation} ${mode}`;
        seen.add(key);
        if (held.has(key)) continue;
        const running = runningOf(pid);
        const from = Math.max(lastAt, running?.startedAt ?? 0);
        held.set(key, { ...of, pid, mode, from: Math.min(from, at), until: null, statement: running?.text ?? null });
      }
      for (const [key, lock] of held) if (!seen.has(key) && lock.from < sentAt) close(key, lock, at);
      lastAt = sentAt;
    },
    release(pid, at) {
      if (!isObserved(pid)) return;
      released.set(pid, at);
      for (const [key, lock] of held) if (lock.pid === pid) close(key, lock, at);
    },
    end(at) {
      for (const [key, lock] of held) close(key, lock, at);
      return ended
        .filter((lock) => !ended.some((other) => covers(other, lock, strongModes)))
        .sort((one, other) => one.from - other.from)
        .map(({ table, index, mode, from, until, statement }) => {
          const held = { atMs: from, heldMs: (until ?? from) - from };
          return { table, index, mode: modeText(mode), ...held, statement };
        });
    },
  };
}

const MOST_LOCKS = 10_000;

/** A stronger lock of the same session on the same relation, for the whole time. */
function covers(stronger: HeldLock, lock: HeldLock, strongModes: readonly string[]): boolean {
  const isOfSame =
    stronger.pid === lock.pid &&
    stronger.table === lock.table &&
    (stronger.index === lock.index || stronger.index === null);
  const isStronger =
    strongModes.indexOf(stronger.mode) > strongModes.indexOf(lock.mode) ||
    (stronger.mode === lock.mode && stronger.index === null && lock.index !== null);
  return isOfSame && isStronger && stronger.from <= lock.from && (stronger.until ?? 0) >= (lock.until ?? 0);
}
