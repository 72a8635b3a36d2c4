import type { HistoryEntry } from '../../../src/results/history-results.ts';
import { toUserError } from '../../../src/runtime/errors.ts';
import type { Message } from '../../../src/state/messages.ts';
import { elapsed, type RunState } from '../../../src/state/run.ts';
import type { Run } from '../../../src/state/runs.ts';
import { endedLine, outcomeTone, runningText } from '../frame/run-text.ts';
import { type Model, quietly } from '../model.ts';

/** A run of this session, an operation of an earlier one or of a script, or a notice. */
export interface ActivityEntry {
  id: string;
  at: number;
  status: RunState['status'] | 'noted';
  tone: 'good' | 'caution' | 'bad' | 'plain';
  /** `load 58f7fad5 → shop_dev` */
  name: string;
  target: string | null;
  durationMs: number | null;
  /** The result, or the progress. */
  text: string;
  /** Id of the snapshot that was made, loaded or transferred. */
  snapshot: string | null;
  run: Run | null;
  /** The entry of the history. */
  recorded: HistoryEntry | null;
}

/** The history of earlier sessions and of scripts, too; never rejects. */
export async function refreshHistory({ history, operations }: Model): Promise<void> {
  try {
    const found = await operations.listHistory(quietly(AbortSignal.timeout(READ_MS)));
    history.setState({ found, error: null });
  } catch (thrown) {
    history.setState({ error: toUserError(thrown) });
  }
}

const READ_MS = 10_000;

interface ActivitySources {
  runs: Run[];
  messages: Message[];
  recorded: HistoryEntry[];
  now: number;
}

/** Everything that was done, newest first. */
export function activityOf({ runs, messages, recorded, now }: ActivitySources): ActivityEntry[] {
  return [
    ...runs.toReversed().map((run) => ofRun(run, { runs, now })),
    ...messages.filter(({ run }) => run === null).map(ofMessage),
    ...recorded.filter((entry) => !runs.some((run) => isOfRun(entry, run))).map(ofHistory),
  ].toSorted((a, b) => b.at - a.at);
}

/** The history has the runs of this session, too; a build and its sanitization are two entries there. */
function isOfRun({ at, operation, target }: HistoryEntry, { state, ...run }: Run): boolean {
  const began = Date.parse(at);
  const isWithin = began >= state.startedAt && (state.endedAt === null || began <= state.endedAt);
  const [verb] = operation.split(' ');
  return isWithin && run.target === target && (verb === run.kind || ALSO[run.kind] === verb);
}

const ALSO: Partial<Record<Run['kind'], string>> = {
  build: 'sanitize',
  sanitize: 'build',
  load: 'back',
  remove: 'prune',
};

function ofRun(run: Run, { runs, now }: { runs: Run[]; now: number }): ActivityEntry {
  const { id, kind, title, target, state, summary } = run;
  const { status } = state;
  const made = summary?.snapshot ?? null;
  const name = made !== null && MAKES.has(kind) ? `${kind} ${made}` : title;
  const isLive = status === 'waiting' || status === 'running';
  return {
    ...{ id: `run ${id}`, at: state.startedAt, status, name, target, snapshot: made, run, recorded: null },
    tone: status === 'done' ? outcomeTone(summary) : status === 'failed' ? 'bad' : isLive ? 'plain' : 'caution',
    durationMs: status === 'waiting' ? null : elapsed(state, now),
    text: isLive
      ? runningText(run, { runs, now })
      : status === 'done'
        ? endedLine(run).text
        : (state.error?.message ?? ''),
  };
}

/** Their name is that of what they made, once it is there. */
const MAKES = new Set<Run['kind']>(['build', 'sanitize']);

function ofMessage({ id, at, tone, text }: Message): ActivityEntry {
  return {
    ...{ id: `note ${id}`, at, status: 'noted', tone, name: text, text: '' },
    ...{ target: null, durationMs: null, snapshot: null, run: null, recorded: null },
  };
}

const TONES = { done: 'good', failed: 'bad', cancelled: 'caution' } as const;

function ofHistory(entry: HistoryEntry, index: number): ActivityEntry {
  const { at, operation, target, outcome, error, duration_ms, snapshot, save, branches, to } = entry;
  const object = save ?? snapshot ?? branches.join(', ');
  const database = REPLACES.has(operation) && to !== null ? databaseOf(to) : null;
  return {
    ...{ id: `history ${index} ${at}`, at: Date.parse(at), status: outcome, tone: TONES[outcome], target, snapshot },
    name: [operation, object, database === null ? '' : `→ ${database}`].filter((part) => part !== '').join(' '),
    durationMs: duration_ms,
    text: error ?? '',
    run: null,
    recorded: entry,
  };
}

const REPLACES = new Set<HistoryEntry['operation']>(['load', 'back', 'undo', 'reset', 'subset', 'sanitize']);

function databaseOf(url: string): string {
  return /\/([^/?]+)(?:\?|$)/.exec(url)?.[1] ?? url;
}
