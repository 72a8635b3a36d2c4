import type { CommandId } from '../../src/config/schema/default-keys.ts';
import type { KeyBinding } from '../app/model.ts';
import { notWritable } from '../app/why-not.ts';
import type { ConfirmRoute } from '../commands/runs/confirm-route.ts';

/** Keys of a question that has another way to the same end. */
export const ALTERNATIVES: KeyBinding<ConfirmRoute>[] = [
  alternative('reset', {
    label: 'reset instead',
    help: 'reset the destination from its base copy, which is of this snapshot and faster; asks first',
    palette: 'Reset destination instead…',
  }),
  alternative('full_load', {
    label: 'full load',
    help: 'load all tables, also those that the base copy has; asks first',
    palette: 'Load all tables instead…',
  }),
  alternative('servers', {
    label: 'leave running',
    help: 'start a server that goes on when this program ends; asks first',
    palette: 'Start server that goes on…',
  }),
  alternative('exclude', {
    label: 'without steps',
    help: 'load without the steps of after_load; asks first',
    palette: 'Load without steps…',
  }),
];

function alternative(id: CommandId, words: Pick<KeyBinding, 'label' | 'help' | 'palette'>): KeyBinding<ConfirmRoute> {
  return {
    id,
    ...words,
    when: ({ route }) => route.plan?.alternatives?.[id] !== undefined,
    whyNot: notWritable,
    run: ({ navigation }, { plan }) => {
      navigation.pop();
      plan?.alternatives?.[id]?.();
    },
  };
}
