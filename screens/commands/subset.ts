import { contextOf, type KeyBinding } from '../app/model.ts';
import { noTarget } from '../app/why-not.ts';
import { openSubset } from '../subset/actions.ts';

export const SUBSET: KeyBinding = {
  id: 'subset',
  label: 'subset',
  help: 'plan a small database of this target, and create it',
  palette: 'Plan subset',
  whyNot: noTarget,
  run: (model) => {
    const { target } = contextOf(model);
    if (target) openSubset(model, target.row.name);
  },
};
