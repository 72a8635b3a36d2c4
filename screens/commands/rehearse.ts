import { resolve } from 'node:path';
import { textEdit } from '../../components/text-edit.ts';
import { rehearseOperation } from '../../src/operations/rehearse/operation.ts';
import type { RehearseRequest } from '../../src/operations/rehearse/rehearse.ts';
import { REHEARSAL_COMMAND } from '../../src/operations/rehearse/screen-text.ts';
import { emptyList } from '../../src/state/list.ts';
import type { Navigation } from '../../src/state/navigation.ts';
import type { Run } from '../../src/state/runs.ts';
import type { KeyBinding, Model } from '../app/model.ts';
import { onRun, onTarget } from '../app/on-selected.ts';
import type { Route, Routes } from '../app/route.ts';
import { latestNotLoadable, notWritable } from '../app/why-not.ts';
import { confirmOperation } from './runs/confirm.ts';

/** On the lists of targets and of branches. */
export const REHEARSE: KeyBinding = {
  id: 'try',
  help: 'rehearse a migration on a new branch: locks, rewrites, changes; asks for the command',
  palette: 'Rehearse migration…',
  whyNot: latestNotLoadable,
  run: onTarget((model, target) => askToRehearse(model, { target })),
};

/** On the list of servers. */
export const REHEARSE_ON_SERVER: KeyBinding<Routes['servers']> = {
  id: 'try',
  label: 'rehearse',
  help: 'rehearse a migration on a server of its own: locks, rewrites, changes; asks for the command',
  palette: 'Rehearse migration on a server…',
  whyNot: notWritable,
  run: (model, { target }) => askToRehearse(model, { target, server: true }),
};

/** Begins as soon as it is planned: only a database of its own is changed. */
function askToRehearse(model: Model, { target, ...place }: Pick<RehearseRequest, 'target' | 'server'>): void {
  model.navigation.push({
    ...{ screen: 'field', path: [target, 'rehearse'], ...REHEARSAL_COMMAND, typing: textEdit() },
    accept(text) {
      model.navigation.pop();
      confirmOperation(model, rehearseOperation, {
        request: { target, ...place, cwd: model.cwd, ...workOf(model, text) },
        title: 'rehearse',
        asks: false,
      });
    },
  });
}

/** A single word that ends with `.sql` is a file, anything else a line for the shell. */
function workOf({ cwd }: Model, text: string): Pick<RehearseRequest, 'sql' | 'command'> {
  if (text === '') return {};
  return /^\S+\.sql$/i.test(text) ? { sql: resolve(cwd, text) } : { command: text };
}

export const SHOW_REHEARSAL: KeyBinding = {
  keys: ['enter', 'right'],
  label: 'report',
  help: 'the report of the rehearsal',
  palette: 'Open report of the rehearsal',
  when: ({ run }) => run?.summary?.rehearsal !== undefined,
  run: onRun(({ navigation }, run) => navigation.push(rehearsalRoute(run))),
};

/** Shows the report in place of the run that has ended, where that is shown. */
export function showEndedRehearsal(run: Run, navigation: Navigation<Route>): void {
  const route = navigation.top();
  if (run.summary?.rehearsal && route.screen === 'run' && route.run === run.id) navigation.replace(rehearsalRoute(run));
}

function rehearsalRoute({ id, target }: Run): Routes['rehearsal'] {
  return { screen: 'rehearsal', target, run: id, list: emptyList, opened: false, scrolled: 0 };
}
