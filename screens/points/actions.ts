import { backOperation } from '../../src/operations/back/operation.ts';
import { NO_POINT, NO_SAVE } from '../../src/operations/back/text.ts';
import { NOT_STORED } from '../../src/operations/changes/list-text.ts';
import { saveRemovalOperation } from '../../src/operations/save/operation.ts';
import { printable } from '../../src/text/printable.ts';
import type { KeyBinding } from '../app/model.ts';
import { notWritable } from '../app/why-not.ts';
import { CHANGES, openChanges } from '../commands/changes.ts';
import { confirmOperation } from '../commands/runs/confirm.ts';
import { askForName, SAVE } from '../commands/save.ts';
import { type PointsRoute, refreshPoints, selectedPoint } from './points-route.ts';

export const RETURN: KeyBinding<PointsRoute> = {
  keys: ['enter', 'right'],
  label: 'return',
  help: 'return to the point; asks first',
  palette: 'Return to point…',
  whyNot: (context) => {
    const point = selectedPoint(context.route);
    return notWritable(context) ?? (point ? (point.unavailable ?? null) : NO_POINT);
  },
  run: (model, route) => {
    const point = selectedPoint(route);
    if (!point) return;
    const { target, branch } = route;
    confirmOperation(model, backOperation, {
      after: () => refreshPoints(model, target),
      request: { target, branch, point: point.name },
      title: `back to ${printable(point.name)}`,
    });
  },
};

export const SAVE_STATE: KeyBinding<PointsRoute> = {
  ...SAVE,
  help: 'store the present state as a save, on this machine; asks for a name',
  run: (model, { target, branch }) => askForName(model, { target, branch }),
};

export const POINT_CHANGES: KeyBinding<PointsRoute> = {
  ...CHANGES,
  help: 'rows and definitions of the destination that changed since the point',
  palette: 'Show changes since the point',
  whyNot({ route }) {
    const point = selectedPoint(route);
    if (!point) return NO_POINT;
    return point.kind === 'previous' ? NOT_STORED : null;
  },
  run(model, route) {
    const point = selectedPoint(route);
    if (!point) return;
    const { target, branch } = route;
    const since = point.kind === 'save' ? { since: point.name } : {};
    openChanges(model, { target, ...(branch !== undefined && { branch }), ...since });
  },
};

export const REMOVE_SAVE: KeyBinding<PointsRoute> = {
  id: 'remove',
  keys: ['d', 'delete'],
  label: 'remove',
  help: 'remove the save; asks first',
  palette: 'Remove save…',
  whyNot: (context) => notWritable(context) ?? (selectedPoint(context.route)?.kind === 'save' ? null : NO_SAVE),
  run: (model, route) => {
    const point = selectedPoint(route);
    if (!point) return;
    const { target, branch } = route;
    confirmOperation(model, saveRemovalOperation, {
      after: () => refreshPoints(model, target),
      request: { target, branch, name: point.name },
      title: `remove ${printable(point.name)}`,
    });
  },
};
