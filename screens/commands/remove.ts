import { removeOperation } from '../../src/operations/remove/operation.ts';
import { briefName } from '../../src/presentation/snapshot.ts';
import type { KeyBinding } from '../app/model.ts';
import { onSnapshot } from '../app/on-selected.ts';
import { noSnapshot, notWritable } from '../app/why-not.ts';
import { confirmOperation } from './runs/confirm.ts';

export const REMOVE: KeyBinding = {
  id: 'remove',
  keys: ['d', 'delete'],
  label: 'remove',
  help: 'remove the snapshot; asks first',
  palette: 'Remove snapshot…',
  whyNot: (context) => notWritable(context) ?? noSnapshot(context),
  run: onSnapshot((model, { target, snapshot }) => {
    const request = { target, snapshot: snapshot.id };
    confirmOperation(model, removeOperation, { request, title: `remove snapshot ${briefName(snapshot)}` });
  }),
};
