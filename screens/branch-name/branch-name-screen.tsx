import type { TextEdit } from '../../components/text-edit.ts';
import { NAME_OF_BRANCH } from '../../src/operations/branch/list/text.ts';
import { FieldFrame } from '../app/frame/field-frame.tsx';
import { BACK } from '../app/keys.ts';
import type { Model, ScreenModule } from '../app/model.ts';
import { confirmCreate } from '../commands/branches.ts';

declare module '../app/route.ts' {
  interface Routes {
    'branch-name': BranchNameRoute;
  }
}

interface BranchNameRoute {
  screen: 'branch-name';
  target: string;
  typing: TextEdit;
}

export const branchNameScreen: ScreenModule<BranchNameRoute> = {
  id: 'branch-name',
  title: 'New branch',
  view: BranchNameView,
  keys: [
    {
      keys: ['enter'],
      label: 'plan',
      help: 'show the plan for a branch of this name',
      run: accept,
      stays: true,
      palette: false,
    },
    { ...BACK, keys: ['esc'], label: 'cancel', help: 'back; nothing is created' },
  ],
  onAccept: accept,
};

function accept(model: Model, { target, typing }: BranchNameRoute): void {
  const name = typing.text.trim();
  if (name === '') {
    model.navigation.notify({ tone: 'caution', text: NAME_OF_BRANCH });
    return;
  }
  model.navigation.pop();
  confirmCreate(model, { target, name });
}

function BranchNameView({ route }: { route: BranchNameRoute }) {
  const { target, typing } = route;
  const field = { about: NAME_OF_BRANCH, label: 'Name:', edit: typing, placeholder: 'login-form' };
  return <FieldFrame screen="branch-name" path={[target, 'branches', 'new']} {...field} />;
}
