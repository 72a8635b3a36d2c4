import type { TextEdit } from '../../components/text-edit.ts';
import { NAME_OF_BRANCH, nameOfBranchFrom } from '../../src/operations/branch/list/text.ts';
import { FieldFrame } from '../app/frame/field-frame.tsx';
import { BACK } from '../app/keys.ts';
import type { Model, ScreenModule } from '../app/model.ts';
import { confirmCreate } from '../commands/branches.ts';

interface BranchNameRoute {
  screen: 'branch-name';
  target: string;
  /** The branch that can be taken instead of the base copy. */
  selected: string | null;
  /** The branch that is taken; `null`: the base copy. */
  from: string | null;
  typing: TextEdit;
}

export const branchNameScreen: ScreenModule<BranchNameRoute> = {
  title: 'New branch',
  view: BranchNameView,
  keys: [
    {
      keys: ['enter'],
      label: 'plan',
      help: 'show the plan for a branch of this name',
      run: accept,
      stays: true,
    },
    {
      keys: ['tab'],
      label: 'from branch',
      help: 'take the present state of the selected branch, or the base copy again',
      when: ({ route }) => route.selected !== null,
      run: changeOrigin,
      stays: true,
    },
    { ...BACK, keys: ['esc'], label: 'cancel', help: 'back; nothing is created' },
  ],
  onAccept: accept,
  onComplete: changeOrigin,
};

function changeOrigin({ navigation }: Model, route: BranchNameRoute): void {
  navigation.replace({ ...route, from: route.from === null ? route.selected : null });
}

function accept(model: Model, { target, typing, from }: BranchNameRoute): void {
  const name = typing.text.trim();
  if (name === '') {
    model.navigation.notify({ tone: 'caution', text: NAME_OF_BRANCH });
    return;
  }
  model.navigation.pop();
  confirmCreate(model, { target, name, ...(from !== null && { from }) });
}

function BranchNameView({ route }: { route: BranchNameRoute }) {
  const { target, typing, from } = route;
  const about = from === null ? NAME_OF_BRANCH : nameOfBranchFrom(from);
  const field = { about, label: 'Name:', edit: typing, placeholder: 'login-form' };
  return <FieldFrame path={[target, 'branches', 'new']} {...field} />;
}
