import { textEdit } from '../../components/text-edit.ts';
import { saveOperation } from '../../src/operations/save/operation.ts';
import type { SaveRequest } from '../../src/operations/save/save.ts';
import type { KeyBinding, Model } from '../app/model.ts';
import { onTarget } from '../app/on-selected.ts';
import type { Routes } from '../app/route.ts';
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

export function askForName(model: Model, { target, branch }: Pick<Routes['save-name'], 'target' | 'branch'>): void {
  model.navigation.push({ screen: 'save-name', target, branch, typing: textEdit('') });
}

export function startSave(model: Model, request: SaveRequest): void {
  const after = (): void => refreshPoints(model, request.target);
  confirmOperation(model, saveOperation, { request, title: 'save', asks: false, after });
}
