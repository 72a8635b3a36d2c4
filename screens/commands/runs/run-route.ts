import { emptyList } from '../../../src/state/list.ts';
import type { RunDefinition } from '../../../src/state/runs.ts';
import type { FilterState } from '../../app/lists/filter.ts';
import type { Model } from '../../app/model.ts';

export interface RunRoute extends FilterState {
  screen: 'run';
  run: string;
  /** Lines that the log or the steps are scrolled up; 0 follows the end. */
  scrolledUp: number;
  /** The log in place of progress and outcome. */
  log: boolean;
  /** The commands of the log in full. */
  unfolded: boolean;
}

export function runRoute(run: string): RunRoute {
  return { screen: 'run', run, scrolledUp: 0, log: false, unfolded: false, list: emptyList, typing: null };
}

export function begin({ navigation, runs }: Model, definition: RunDefinition): void {
  navigation.push(runRoute(runs.begin(definition)));
}
