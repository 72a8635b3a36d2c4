import { briefName } from '../../src/presentation/snapshot.ts';
import { formatNumberOf } from '../../src/text/format.ts';
import type { KeyBinding } from '../app/model.ts';
import { notLoadable } from '../app/why-not.ts';
import { confirmLoad } from '../commands/load.ts';
import type { TablesRoute } from './tables-route.ts';

export const LOAD_MARKED: KeyBinding<TablesRoute> = {
  id: 'load',
  keys: ['l'],
  label: 'load marked',
  help: 'restore the marked tables and the tables they require, others without rows; shows the plan and asks first',
  palette: 'Load marked tables…',
  whyNot: (context) =>
    notLoadable(context) ?? (context.route.marked.length === 0 ? 'Mark the tables to load first: press Space' : null),
  run: (model, { target, snapshot, marked: tables }) => {
    const request = { target, snapshot: snapshot.id, tables };
    confirmLoad(model, request, `${formatNumberOf(tables.length, 'table')} of ${briefName(snapshot)}`);
  },
};
