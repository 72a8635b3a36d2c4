import { briefName } from '../../src/presentation/snapshot.ts';
import { formatNumberOf } from '../../src/text/format.ts';
import type { KeyBinding } from '../app/model.ts';
import { notLoadable } from '../app/why-not.ts';
import { confirmLoad } from '../commands/load.ts';
import { LOAD_LINES, LOAD_WAYS } from './load-choice-text.ts';
import type { TablesRoute } from './tables-route.ts';

export const LOAD_MARKED: KeyBinding<TablesRoute> = {
  id: 'load',
  label: 'load marked',
  help: 'restore the marked tables into a new database, or only their rows into the present one; shows the plan and asks first',
  palette: 'Load marked tables…',
  whyNot: (context) =>
    notLoadable(context) ?? (context.route.marked.length === 0 ? 'Mark the tables to load first: press Space' : null),
  run: (model, { target, snapshot, marked: tables }) => {
    const request = { target, snapshot: snapshot.id, tables };
    const what = `${formatNumberOf(tables.length, 'table')} of ${briefName(snapshot)}`;
    model.navigation.push({
      screen: 'choice',
      path: [target, briefName(snapshot), 'load'],
      question: `Load ${what}`,
      lines: LOAD_LINES,
      options: LOAD_WAYS,
      answer: (way) =>
        way === 'rows'
          ? confirmLoad(model, { ...request, only: true }, `rows of ${what}`)
          : confirmLoad(model, request, what),
    });
  },
};
