import { Box } from 'ink';
import { Line } from '../../components/line.tsx';
import type { TextEdit } from '../../components/text-edit.ts';
import { TextField } from '../../components/text-field.tsx';
import { NAME_OF_BRANCH } from '../../src/operations/branch/list/text.ts';
import { Frame, useRoom } from '../app/frame.tsx';
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
  const { columns } = useRoom();
  const { target, typing } = route;
  return (
    <Frame screen="branch-name" path={[target, 'branches', 'new']}>
      <Box flexDirection="column" paddingTop={1} paddingLeft={2}>
        <Line spans={[{ text: NAME_OF_BRANCH, tone: 'dim' }]} width={columns - 3} />
        <Line spans={[]} width={columns - 3} />
        <TextField label="Name:" edit={typing} width={columns - 4} placeholder="login-form" />
      </Box>
    </Frame>
  );
}
