import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LoadRequest } from '../../src/operations/load/planned-load.ts';
import { clientEndedText, clientName, copiedText } from '../../src/presentation/run.ts';
import type { LogLine } from '../../src/state/run.ts';
import { isLive, type Run } from '../../src/state/runs.ts';
import { printable } from '../../src/text/printable.ts';
import { clearFilter, isFiltered, startFilter } from '../app/filter.ts';
import { BACK, HELP, moving, PALETTE, TASKS } from '../app/keys.ts';
import { contextOf, type KeyBinding, type KeyContext, type Model, notifyFailure, quietly } from '../app/model.ts';
import { notWritable } from '../app/why-not.ts';
import { startBuild } from '../commands/build.ts';
import { type RunRoute, runRoute } from '../commands/run-route.ts';
import { UNDO } from '../commands/undo.ts';
import { SHOW_COVERAGE } from '../coverage/actions.ts';

/** The commands of a run, on its screen and in the list of runs. */
export const RUN_KEYS: KeyBinding[] = [
  {
    id: 'cancel',
    keys: ['c'],
    label: 'cancel',
    help: 'cancel the run, after a question; or remove it from the queue',
    palette: 'Cancel run…',
    when: ({ run }) => run !== null && isLive(run),
    whyNot: ({ run }) => (run?.cancelling ? 'It is being cancelled already' : null),
    run: cancel,
  },
  {
    id: 'refresh',
    keys: ['r'],
    label: 'retry',
    help: 'start the same run again',
    palette: 'Retry run',
    when: ({ run }) => run?.state.status === 'failed' || run?.state.status === 'cancelled',
    whyNot: (context) => {
      const overtaking = overtakenBy(context);
      return overtaking && `${overtaking.title} came after it: ask anew, from the snapshots`;
    },
    run: retry,
  },
  {
    id: 'accept',
    keys: ['a'],
    label: 'include schemas',
    help: 'build again, including the schemas that tables require',
    palette: 'Build with required schemas',
    when: ({ run }) => run?.state.error?.code === 'schema_needed',
    whyNot: notWritable,
    run: (model) => {
      const { run } = contextOf(model);
      if (run) void startBuild(model, { target: run.target, includeNeededSchemas: true });
    },
  },
  {
    id: 'accept',
    keys: ['a'],
    label: 'restore the rest',
    help: 'load again, restore what can be restored, and list what is missing; asked first',
    palette: 'Restore the rest…',
    when: ({ run }) => run?.kind === 'load' && run.state.error?.code === 'restore_failed',
    whyNot: notWritable,
    run: (model) => loadFurther(model, 'inspect'),
  },
  {
    id: 'accept',
    keys: ['a'],
    label: 'accept missing',
    help: 'load again, and replace the destination although something is missing; asked first',
    palette: 'Accept missing objects…',
    when: ({ run }) => run?.kind === 'load' && run.state.error?.code === 'restore_incomplete',
    whyNot: notWritable,
    run: (model) => loadFurther(model, 'swap'),
  },
];

export const RUN_SCREEN_KEYS: KeyBinding<RunRoute>[] = [
  ...RUN_KEYS,
  SHOW_COVERAGE,
  { ...UNDO, when: ({ run }) => (run?.summary?.undo ?? null) !== null },
  {
    id: 'client',
    keys: ['!'],
    label: 'open client',
    help: 'open psql or mysql on the destination; its end leads back here',
    palette: 'Open psql or mysql on the destination',
    when: hasClient,
    whyNot: notWritable,
    run: (model) => void openClient(model),
  },
  {
    id: 'copy',
    keys: ['y'],
    label: 'copy URL',
    help: 'copy the URL of the destination, without its password',
    palette: 'Copy URL of the destination',
    when: isReplaced,
    run: (model) => {
      const { url } = contextOf(model).run?.swaps ?? {};
      if (url === undefined) return;
      model.terminal.copy(url);
      model.navigation.notify({ tone: 'good', text: copiedText(url) });
    },
  },
  {
    id: 'log',
    keys: ['L'],
    label: 'log',
    help: 'show the log of the run, or its progress and outcome again',
    run: ({ navigation }, route) => navigation.replace({ ...route, log: !route.log, scrolledUp: 0 }),
  },
  {
    keys: ['enter'],
    label: 'commands',
    help: 'show the commands of the log in full, or folded again',
    when: ({ route }) => route.log,
    run: ({ navigation }, route) => navigation.replace({ ...route, unfolded: !route.unfolded }),
    palette: false,
  },
  {
    id: 'filter',
    keys: ['/'],
    label: 'search log',
    help: 'show only log lines that contain the typed words',
    run: (model, route) => startFilter(model, { ...route, log: true }),
    palette: false,
  },
  {
    keys: ['esc'],
    label: 'whole log',
    help: 'show the whole log again',
    when: isFiltered,
    run: clearFilter,
    stays: true,
    palette: false,
  },
  {
    id: 'write',
    keys: ['w'],
    label: 'write log',
    help: 'write the log to a file in the current folder',
    palette: 'Write log to a file',
    whyNot: (context) =>
      notWritable(context) ?? (context.run?.state.log.length === 0 ? 'The log is empty as yet' : null),
    run: saveLog,
  },
  BACK,
  moving('up', {
    keys: ['up', 'k'],
    label: 'scroll',
    help: 'scroll up, and stop following the log',
    when: ({ model }) => model.viewport.furthest > 0,
  }),
  moving('down', { keys: ['down', 'j'], help: 'scroll the log down' }),
  moving('page-up', { keys: ['pageup', 'ctrl+b'], help: 'a page up' }),
  moving('page-down', { keys: ['pagedown', 'ctrl+f'], help: 'a page down' }),
  moving('first', { keys: ['home', 'g'], help: 'to the beginning of the log' }),
  moving('last', { keys: ['end', 'G'], help: 'to the end of the log, and follow it' }),
  TASKS,
  PALETTE,
  HELP,
];

/** Whether the run has replaced a database that a client can be opened on. */
function isReplaced({ run }: KeyContext): boolean {
  return run?.state.status === 'done' && run.swaps !== undefined;
}

/** A subset and a sanitization may have another destination than that of the target, for which the client is opened. */
function hasClient(context: KeyContext): boolean {
  return isReplaced(context) && ['load', 'undo', 'reset', 'branch'].includes(context.run?.kind ?? '');
}

/** Writes the log of the run to a file. */
function saveLog(model: Model): void {
  const { run } = contextOf(model);
  if (!run) return;
  const began = new Date(run.state.startedAt).toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const file = join(model.cwd, `tool-${run.kind}-${encodeURIComponent(run.target)}-${began}.log`);
  try {
    writeFileSync(file, run.state.log.map(lineOf).join(''), { mode: 0o600 });
    model.navigation.notify({ tone: 'good', text: `Written: ${file}` });
  } catch (thrown) {
    notifyFailure(model, thrown);
  }
}

function lineOf({ at, kind, text, tookMs }: LogLine): string {
  const took = tookMs === undefined ? '' : ` (${tookMs} ms)`;
  return `${new Date(at).toISOString()} ${kind.padEnd(7)} ${printable(text)}${took}\n`;
}

/** A waiting run loses nothing: it is cancelled without a question. */
function cancel(model: Model): void {
  const { run } = contextOf(model);
  if (run?.state.status === 'waiting') model.runs.cancel(run.id);
  else if (run) model.navigation.push({ screen: 'cancel', run: run.id });
}

/** Replaces the screen of the run that failed. */
function retry(model: Model): void {
  const { navigation, runs } = model;
  const { run } = contextOf(model);
  const again = run && runs.again(run.id);
  if (!again) return;
  if (navigation.top().screen === 'run') navigation.replace(runRoute(again));
  else navigation.push(runRoute(again));
}

/** The later run that has replaced or will replace the same database: the answered question is outdated. */
function overtakenBy({ model, run }: KeyContext): Run | null {
  if (!run || run.replaces === null) return null;
  const { runs } = model.runs.store.getState();
  const later = runs.slice(runs.findIndex(({ id }) => id === run.id) + 1);
  return later.find((other) => other.replaces === run.replaces && hasOrWillReplace(other)) ?? null;
}

function hasOrWillReplace(run: Run): boolean {
  return isLive(run) || run.state.status === 'done';
}

/** Loads again after a failure, with what to do about errors. */
function loadFurther(model: Model, keepGoing: NonNullable<LoadRequest['keepGoing']>): void {
  const { run } = contextOf(model);
  const definition = run && model.runs.definitionOf(run.id);
  definition?.planAgain?.({ keepGoing }, `load ${keepGoing === 'swap' ? 'incomplete' : 'the rest'}`);
}

async function openClient(model: Model): Promise<void> {
  const { run } = contextOf(model);
  if (!run?.swaps) return;
  const { target, swaps } = run;
  const session = quietly(new AbortController().signal);
  try {
    const code = await model.operations.openClient(session, { target, url: swaps.url }, model.terminal.run);
    if (code !== 0) model.navigation.notify({ tone: 'caution', text: clientEndedText(clientName(swaps), code) });
  } catch (thrown) {
    notifyFailure(model, thrown);
  }
}
