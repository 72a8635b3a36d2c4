import type { KeyBinding } from '../app/model.ts';
import { onTarget } from '../app/on-selected.ts';
import { noTarget } from '../app/why-not.ts';
import { openSubset } from '../subset/actions.ts';

export const SUBSET: KeyBinding = {
  id: 'subset',
  label: 'subset',
  help: 'plan a small database of this target, and create it',
  palette: 'Plan subset',
  whyNot: noTarget,
  run: onTarget((model, target) => openSubset(model, target)),
};
