import { removeOperation } from '../../src/operations/remove/operation.ts';
import { briefName } from '../../src/presentation/snapshot.ts';
import { contextOf, type KeyBinding } from '../app/model.ts';
import { noSnapshot, notWritable } from '../app/why-not.ts';
import { confirmOperation } from './runs/confirm.ts';

export const REMOVE: KeyBinding = {
  id: 'remove',
  keys: ['d', 'delete'],
  label: 'remove',
  help: 'remove the snapshot; asks first',
  palette: 'Remove snapshot…',
  whyNot: (context) => notWritable(context) ?? noSnapshot(context),
  run: (model) => {
    const { target, snapshot } = contextOf(model);
    if (!target || !snapshot) return;
    const request = { target: target.row.name, snapshot: snapshot.id };
    confirmOperation(model, removeOperation, { request, title: `remove snapshot ${briefName(snapshot)}` });
  },
};
