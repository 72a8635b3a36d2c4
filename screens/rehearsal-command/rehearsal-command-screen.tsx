import type { TextEdit } from '../../components/text-edit.ts';
import { REHEARSAL_COMMAND } from '../../src/operations/rehearse/screen-text.ts';
import { fieldScreen } from '../app/frame/field-screen.tsx';
import { beginRehearsal } from '../commands/rehearse.ts';

declare module '../app/route.ts' {
  interface Routes {
    'rehearsal-command': RehearsalCommandRoute;
  }
}

interface RehearsalCommandRoute {
  screen: 'rehearsal-command';
  target: string;
  typing: TextEdit;
}

export const rehearsalCommandScreen = fieldScreen<RehearsalCommandRoute>({
  id: 'rehearsal-command',
  title: 'Command of a rehearsal',
  words: { label: 'rehearse', help: 'run the command, the file or the steps of after_load on a new branch' },
  nothing: 'run',
  field: ({ target }) => ({ path: [target, 'rehearse'], ...REHEARSAL_COMMAND }),
  accept(model, { target, typing }) {
    model.navigation.pop();
    beginRehearsal(model, target, typing.text.trim());
  },
});
