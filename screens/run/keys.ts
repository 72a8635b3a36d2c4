import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LogLine } from '../../src/state/run.ts';
import type { Run } from '../../src/state/runs.ts';
import { printable } from '../../src/text/printable.ts';
import { ACTIVITY, BACK, HELP, moving, PALETTE } from '../app/keys.ts';
import { clearFilter, isFiltered, startFilter } from '../app/lists/filter.ts';
import { contextOf, type KeyBinding, type KeyContext, type Model, orNotify } from '../app/model.ts';
import { onRun } from '../app/on-selected.ts';
import { notWritable } from '../app/why-not.ts';
import { openClient } from '../commands/client.ts';
import { copyDatabaseUrl } from '../commands/copy.ts';
import { BACK_TO } from '../commands/points.ts';
import { SHOW_REHEARSAL } from '../commands/rehearse.ts';
import { UNDO } from '../commands/reset.ts';
import { CHANGES_SINCE, databaseUrl, LOAD_MADE, OPEN_MADE } from '../commands/runs/after-run.ts';
import { RUN_KEYS } from '../commands/runs/run-keys.ts';
import type { RunRoute } from '../commands/runs/run-route.ts';
import { SHOW_COVERAGE } from '../commands/sanitize.ts';

export const RUN_SCREEN_KEYS: KeyBinding<RunRoute>[] = [
  ...RUN_KEYS,
  { ...SHOW_REHEARSAL, when: (context) => !context.route.log && (SHOW_REHEARSAL.when?.(context) ?? true) },
  ...OPEN_MADE.map((key) => ({
    ...key,
    when: (context: KeyContext<RunRoute>) => !context.route.log && (key.when?.(context) ?? true),
  })),
  LOAD_MADE,
  SHOW_COVERAGE,
  { ...UNDO, when: hasUndo },
  { ...BACK_TO, when: isReplaced },
  CHANGES_SINCE,
  {
    id: 'client',
    label: 'open client',
    help: 'open psql or mysql on the database of the run; quit it to return here',
    palette: 'Open psql or mysql on the database of the run',
    when: hasDatabase,
    whyNot: notWritable,
    run: onRun((model, run) => {
      const url = databaseUrl(run);
      if (url !== null) void openClient(model, { target: run.target, url });
    }),
  },
  {
    id: 'copy',
    label: 'copy URL',
    help: 'copy the URL of the database of the run, without its password unless it is of a server',
    palette: 'Copy URL of the database',
    when: hasDatabase,
    run: (model) => {
      const url = databaseUrl(contextOf(model).run);
      if (url !== null) copyDatabaseUrl(model, url);
    },
  },
  {
    id: 'log',
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
  },
  {
    id: 'filter',
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
  },
  {
    id: 'write',
    keys: ['w'],
    label: 'write log',
    help: 'write the log to a file in the current folder',
    palette: 'Write log to a file',
    whyNot: (context) => notWritable(context) ?? (context.run?.state.log.length === 0 ? 'The log is empty' : null),
    run: onRun(saveLog),
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
  ACTIVITY,
  PALETTE,
  HELP,
];

function hasUndo({ run }: KeyContext): boolean {
  return (run?.summary?.undo ?? null) !== null;
}

/** Reports whether the run has replaced a database. */
function isReplaced({ run }: KeyContext): boolean {
  return run?.state.status === 'done' && run.swaps !== undefined;
}

/** Reports whether the run has made or replaced a database that a client can be opened on. */
function hasDatabase({ run }: KeyContext): boolean {
  return run?.state.status === 'done' && databaseUrl(run) !== null;
}

function saveLog(model: Model, run: Run): void {
  const began = new Date(run.state.startedAt).toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const file = join(model.cwd, `tool-${run.kind}-${encodeURIComponent(run.target)}-${began}.log`);
  void orNotify(model, () => {
    writeFileSync(file, run.state.log.map(lineOf).join(''), { mode: 0o600 });
    model.navigation.notify({ tone: 'good', text: `Written: ${file}` });
  });
}

function lineOf({ at, kind, text, tookMs }: LogLine): string {
  const took = tookMs === undefined ? '' : ` (${tookMs} ms)`;
  return `${new Date(at).toISOString()} ${kind.padEnd(7)} ${printable(text)}${took}\n`;
}
