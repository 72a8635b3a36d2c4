import { textEdit } from '../../components/text-edit.ts';
import { NAME_OF_SAVE } from '../../src/operations/back/text.ts';
import { saveOperation } from '../../src/operations/save/operation.ts';
import type { SaveRequest } from '../../src/operations/save/save.ts';
import type { KeyBinding, Model } from '../app/model.ts';
import { onTarget } from '../app/on-selected.ts';
import { latestNotLoadable } from '../app/why-not.ts';
import { refreshPoints } from '../points/points-route.ts';
import { confirmOperation } from './runs/confirm.ts';

export const SAVE: KeyBinding = {
  id: 'save',
  label: 'save',
  help: "store the destination's present state as a save, on this machine; asks for a name",
  palette: 'Save destination…',
  whyNot: latestNotLoadable,
  run: onTarget((model, target) => askForName(model, { target })),
};

/** Without a branch, the destination is saved. */
export function askForName(model: Model, { target, branch }: Pick<SaveRequest, 'target' | 'branch'>): void {
  const { navigation } = model;
  navigation.push({
    screen: 'field',
    path: [target, ...(branch === undefined ? [] : [branch]), 'save'],
    ...{ about: NAME_OF_SAVE, label: 'Name:', placeholder: 'before-migration', typing: textEdit('') },
    accept(name) {
      navigation.pop();
      startSave(model, { target, branch, ...(name !== '' && { name }) });
    },
  });
}

function startSave(model: Model, request: SaveRequest): void {
  const after = (): void => refreshPoints(model, request.target);
  confirmOperation(model, saveOperation, { request, title: 'save', asks: false, after });
}
